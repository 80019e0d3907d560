#include "harness/archs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/static_facts.h"
#include "metrics/architectures.h"

namespace warpgauge {

std::vector<std::string> chosen_archs(const std::vector<std::string>& wanted) {
  const std::vector<std::string>& built = PtxasTexts::of_this_build().archs();
  std::vector<std::string> chosen;
  for (const std::string& arch : wanted) {
    if (std::ranges::find(chosen, arch) != chosen.end()) continue;
    if (std::ranges::find(built, arch) != built.end()) {
      chosen.push_back(arch);
      continue;
    }
    throw std::invalid_argument(
        fmt::format("--arch {}: the kernels were not compiled for it{}; this build has {}", arch,
                    metrics::meant_architecture(arch, built), fmt::join(built, " ")));
  }
  return wanted.empty() ? built : chosen;
}

std::string default_emulated_arch() {
  const std::vector<std::string>& built = PtxasTexts::of_this_build().archs();
  return std::ranges::find(built, "sm_90") != built.end() ? "sm_90" : built.back();
}

}  // namespace warpgauge
