// The work of launches that ought to do the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "metrics/facts/fact.h"

namespace warpgauge::emulator::counting {

/// The fewest and the most sectors of global memory that launches of one kernel, of one shape and
/// with equal arguments moved.
class EqualLaunches {
 public:
  using Sectors = std::array<std::uint64_t, 2>;

  /// Adds a launch. Nothing while all that are like it have moved as many sectors.
  std::optional<Sectors> add(const std::string& kernel, const metrics::Launch& launch,
                             std::span<const std::byte> arguments, std::uint64_t sectors);
  /// The same of each kernel that did unequal work, over all its shapes and arguments.
  const std::map<std::string, Sectors>& unequal() const { return unequal_; }

 private:
  /// What is new after so many is not kept.
  static constexpr std::size_t kMost = 10'000;
  std::map<std::string, Sectors> sectors_, unequal_;
};

}  // namespace warpgauge::emulator::counting
