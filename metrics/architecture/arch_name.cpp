// Parses the names of architectures, and decides which code a GPU runs.
#include "metrics/architecture/arch_name.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace warpgauge::metrics {

std::optional<ArchName> ArchName::parse(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  ArchName arch;
  if (name.ends_with('a') || name.ends_with('f')) {
    arch.suffix = name.back();
    name.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), arch.number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  if (!whole || name.size() < 2 || name.size() > 3 || arch.number < 10 || name.front() == '0') {
    return std::nullopt;
  }
  return arch;
}

std::string ArchName::str() const {
  std::string name = "sm_" + std::to_string(number);
  if (suffix != 0) name += suffix;
  return name;
}

bool ArchName::machine_code_runs_on(int gpu) const {
  if (suffix == 'a') return number == gpu;
  return number / 10 == gpu / 10 && number <= gpu;
}

bool ArchName::ptx_compiles_for(int gpu) const {
  return suffix == 0 ? number <= gpu : machine_code_runs_on(gpu);
}

bool ArchName::goes_before(const ArchName& other) const {
  const auto rank = [](const ArchName& arch) {
    return std::tuple(arch.number, arch.suffix == 'a', arch.suffix == 'f');
  };
  return rank(*this) > rank(other);
}

std::pair<std::optional<ArchName>, std::string_view> arch_order(std::string_view name) {
  return {ArchName::parse(name), name};
}

std::string running_code(std::span<const std::string> built, int gpu) {
  std::optional<ArchName> best;
  for (const std::string& name : built) {
    const auto arch = ArchName::parse(name);
    if (!arch || !arch->machine_code_runs_on(gpu)) continue;
    if (!best || arch->goes_before(*best)) best = arch;
  }
  return best ? best->str() : "";
}

}  // namespace warpgauge::metrics
