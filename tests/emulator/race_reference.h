// Races by the book: a clock for each warp, and all accesses of each word, of which none is
// forgotten.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/emulator/race_program.h"

namespace warpgauge::emulator::machine {

/// An access of one lane, as a finding names it.
struct NamedAccess {
  int line = 0;
  std::uint32_t block = 0, thread = 0;
  auto operator<=>(const NamedAccess&) const = default;
};

/// What the checks may say of a program, and what they must say.
struct Verdicts {
  struct Race {
    NamedAccess later, earlier;
    bool is_global = false, wrote = false;
    std::uint32_t offset = 0;  ///< at which the later one accesses the region
    auto operator<=>(const Race&) const = default;
  };
  /// One of the pairs of lines, the earlier one first.
  struct Promise {
    std::set<int> earlier;
    int later = 0;
    auto operator<=>(const Promise&) const = default;
  };
  std::set<Race> races;
  std::set<Promise> promises;
  std::set<int> unwritten;                 ///< lines that read what nothing has written
  std::set<std::array<int, 2>> read_only;  ///< lines: a store, and ld.global.nc of its bytes
  std::set<int> promised_read_only;        ///< lines of ld.global.nc of which one must be found
  std::vector<std::uint8_t> memory;        ///< the global region in the end
};

Verdicts verdicts_on(const RaceProgram& program);

}  // namespace warpgauge::emulator::machine
