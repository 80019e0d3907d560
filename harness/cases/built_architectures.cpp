#include "harness/cases/built_architectures.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/cases/registry.h"
#include "harness/devices.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/runtime.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/architecture/architectures.h"

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
  return default_emulated_arch(PtxasTexts::of_this_build().archs());
}

std::string default_emulated_arch(const std::vector<std::string>& built) {
  constexpr int kPreferred = 90;
  const auto number = [](const std::string& name) {
    const auto arch = metrics::ArchName::parse(name);
    return arch ? arch->number : 0;
  };
  const auto preferred = std::ranges::find(built, kPreferred, number);
  if (preferred != built.end()) return *preferred;
  return *std::ranges::find(built, number(built.back()), number);
}

bool exists_on(const Case& one, std::string_view arch) {
  const auto needed = metrics::ArchName::parse(one.needs), here = metrics::ArchName::parse(arch);
  if (!needed) return true;
  if (!here) return false;
  return needed->suffix == 0 ? here->number >= needed->number : here == needed;
}

std::string needs_text(const Case& one) {
  const auto needed = metrics::ArchName::parse(one.needs);
  return needed && needed->suffix == 0 ? one.needs + " or later" : one.needs;
}

std::string running_arch(const metrics::Device& device) {
  if (is_emulated()) return emulated_arch();
  const std::string own = arch_of(device);
  const auto gpu = metrics::ArchName::parse(own);
  if (!gpu) return own;
  const std::string code = metrics::running_code(PtxasTexts::of_this_build().archs(), gpu->number);
  return code.empty() ? own : code;
}

}  // namespace warpgauge
