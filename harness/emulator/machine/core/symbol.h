// A variable of a module as the runtime sees it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpgauge::emulator::machine {

/// A variable of .global or .const.
struct Symbol {
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;
  bool constant = false;
};

}  // namespace warpgauge::emulator::machine
