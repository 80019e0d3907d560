// Finds the architectures of the kernels in this program, and chooses among them.
#include "harness/cases/built_architectures.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/cases/device_code.h"
#include "harness/cases/registry.h"
#include "harness/devices.h"
#include "harness/runtime.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/architecture/architectures.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge {

const std::vector<std::string>& built_archs() {
  static const std::vector<std::string> archs = [] {
    std::vector<std::string> found;
    for (const EmbeddedCubin& cubin : embedded_cubins()) {
      if (std::ranges::count(found, cubin.arch) > 0) continue;
      const metrics::Cubin code(cubin.image);
      if (metrics::has_source_lines(code) && !code.kernels().empty()) found.push_back(cubin.arch);
    }
    if (found.empty()) {
      throw NoMachineCode(
          "this program has no machine code of kernels with line tables: call "
          "warpgauge_watch(TARGET) for the target that has the kernels, and build it for an "
          "architecture (90, not 90-virtual, which is PTX alone)");
    }
    std::ranges::sort(found, {}, metrics::arch_order);
    return found;
  }();
  return archs;
}

std::vector<std::string> chosen_archs(const std::vector<std::string>& wanted) {
  const std::vector<std::string>& built = built_archs();
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

std::string default_emulated_arch() { return default_emulated_arch(built_archs()); }

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

bool exists_on(const Case& test_case, std::string_view arch) {
  const auto needed = metrics::ArchName::parse(test_case.needs);
  const auto here = metrics::ArchName::parse(arch);
  if (!needed) return true;
  if (!here) return false;
  return needed->suffix == 0 ? here->number >= needed->number : here == needed;
}

std::string needs_text(const Case& test_case) {
  const auto needed = metrics::ArchName::parse(test_case.needs);
  return needed && needed->suffix == 0 ? test_case.needs + " or later" : test_case.needs;
}

std::string running_arch(const metrics::Device& device) {
  if (is_emulated()) return emulated_arch();
  const std::string own = arch_of(device);
  const auto gpu = metrics::ArchName::parse(own);
  if (!gpu) return own;
  const std::string code = metrics::running_code(built_archs(), gpu->number);
  return code.empty() ? own : code;
}

}  // namespace warpgauge
