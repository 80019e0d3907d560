// Compares launches with those before that had the same arguments.
#include "harness/emulator/counting/equal_launches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace warpgauge::emulator::counting {

std::optional<EqualLaunches::Sectors> EqualLaunches::add(const std::string& kernel,
                                                         const metrics::Launch& launch,
                                                         std::span<const std::byte> arguments,
                                                         std::uint64_t sectors) {
  std::string key = fmt::format("{} {} {} {} {} ", kernel, launch.grid, launch.block,
                                launch.dynamic_shared_bytes, launch.cluster);
  key.append(reinterpret_cast<const char*>(arguments.data()), arguments.size());
  if (sectors_.size() >= kMost && !sectors_.contains(key)) return std::nullopt;
  Sectors& known = sectors_.try_emplace(key, Sectors{sectors, sectors}).first->second;
  known = {std::min(known[0], sectors), std::max(known[1], sectors)};
  if (known[0] == known[1]) return std::nullopt;
  Sectors& of_kernel = unequal_.try_emplace(kernel, known).first->second;
  of_kernel = {std::min(of_kernel[0], known[0]), std::max(of_kernel[1], known[1])};
  return known;
}

}  // namespace warpgauge::emulator::counting
