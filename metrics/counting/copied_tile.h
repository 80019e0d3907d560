// The layout of a tile in shared memory, as a tensor copy wrote it or as another swizzle would.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "metrics/counting/swizzle.h"

namespace warpgauge::metrics {

/// A tile; sizes in bytes.
struct CopiedTile {
  /// The logical position of a byte, which does not depend on the swizzle.
  struct Place {
    std::uint32_t row = 0, column = 0;
  };

  std::uint32_t address = 0;  ///< in the shared memory of the block
  std::uint32_t rows = 0, row_bytes = 0;
  Swizzle swizzle = Swizzle::none;

  /// Bytes from row to row. A swizzled row takes at least a whole span.
  std::uint32_t pitch() const { return std::max(row_bytes, swizzle_span(swizzle)); }
  std::uint32_t bytes() const { return rows * pitch(); }
  bool has(std::uint64_t at) const { return at >= address && at - address < bytes(); }
  /// The position of the byte at an address for which has() is true.
  Place place_of(std::uint32_t at) const {
    const std::uint32_t offset = swizzled(swizzle, at) - address;
    return {offset / pitch(), offset % pitch()};
  }

  /// This tile with another swizzle; nullopt where its rows do not fit into the span. Rows longer
  /// than the widest span are split over several boxes, one behind the other: see address_of().
  std::optional<CopiedTile> with(Swizzle other) const {
    const std::uint32_t span = swizzle_span(other);
    const bool is_cut = span == kSwizzleLine && row_bytes % span == 0;
    if (span == 0 || (row_bytes > span && !is_cut)) return std::nullopt;
    const std::uint32_t boxes = row_bytes <= span ? 1 : row_bytes / span;
    return CopiedTile{0, rows * boxes, row_bytes / boxes, other};
  }
  /// The address in this tile, which of.with() returned, of the byte of `of` at `place`.
  std::uint32_t address_of(const CopiedTile& of, const Place& place) const {
    const std::uint32_t row = place.column / row_bytes * of.rows + place.row;
    return swizzled(swizzle, address + row * pitch() + place.column % row_bytes);
  }
};

}  // namespace warpgauge::metrics
