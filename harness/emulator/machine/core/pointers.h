// What the addresses of a kernel's accesses to global memory are made from.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpgauge::emulator::machine {

/// A set of the places that an address is made from: bits.
using PointerRoots = std::uint64_t;
inline constexpr PointerRoots kUnknownRoot = 1;    ///< another place than those below
inline constexpr PointerRoots kNotGlobalRoot = 2;  ///< shared or local memory, or memory that
                                                   ///< no thread writes while the kernel runs
inline constexpr int kFirstRoot = 2;               ///< the bit of Pointers::roots[0]

struct Pointers {
  struct Root {
    bool is_parameter = false;
    std::uint64_t at = 0;  ///< offset in the kernel's parameters, else an address
  };
  std::vector<Root> roots;
  /// Of loads, by their positions in the kernel's body. Loads of other functions are not there.
  std::unordered_map<std::uint32_t, PointerRoots> loads;
  std::vector<PointerRoots> stores;  ///< of all that writes, each once
};

}  // namespace warpgauge::emulator::machine
