// The ends and the extent of a copy.
#pragma once

#include <cstddef>

namespace warpgauge::emulator::runtime {

/// Where rows lie: row y of slice z begins at begin + z x slice + y x pitch.
struct Box {
  std::byte* begin = nullptr;
  std::size_t pitch = 0, slice = 0;  ///< bytes
};

/// The extent of a copy: rows of `width` bytes.
struct Size {
  std::size_t width = 0, height = 1, depth = 1;
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// The memory that an end of a copy must be in; `any`: the pointer decides.
enum class Side { host, device, any };

/// One end of a copy, with where it must be.
struct End {
  Box box;
  Side side = Side::any;
};

}  // namespace warpgauge::emulator::runtime
