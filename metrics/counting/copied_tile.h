// A tile in shared memory as a tensor copy wrote it, and as it would lie with another swizzle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "metrics/counting/swizzle.h"

namespace warpgauge::metrics {

/// Sizes in bytes.
struct CopiedTile {
  /// A byte of the tile, whatever the swizzle.
  struct Place {
    std::uint32_t row = 0, column = 0;
  };

  std::uint32_t address = 0;  ///< in the shared memory of the block
  std::uint32_t rows = 0, row_bytes = 0;
  Swizzle swizzle = Swizzle::none;

  /// From row to row: swizzling fills its span.
  std::uint32_t pitch() const { return std::max(row_bytes, swizzle_span(swizzle)); }
  std::uint32_t bytes() const { return rows * pitch(); }
  bool has(std::uint64_t at) const { return at >= address && at - address < bytes(); }
  /// Of an address that it has.
  Place place_of(std::uint32_t at) const {
    const std::uint32_t offset = swizzled(swizzle, at) - address;
    return {offset / pitch(), offset % pitch()};
  }

  /// The tile if the tensor map had another swizzle; nothing where it cannot. Rows that are longer
  /// than the widest span take several boxes, one behind the other: see address_of().
  std::optional<CopiedTile> with(Swizzle other) const {
    const std::uint32_t span = swizzle_span(other);
    const bool is_cut = span == kSwizzleLine && row_bytes % span == 0;
    if (span == 0 || (row_bytes > span && !is_cut)) return std::nullopt;
    const std::uint32_t boxes = row_bytes <= span ? 1 : row_bytes / span;
    return CopiedTile{0, rows * boxes, row_bytes / boxes, other};
  }
  /// Where a byte of `of` lies in this tile, which of.with() gave.
  std::uint32_t address_of(const CopiedTile& of, const Place& place) const {
    const std::uint32_t row = place.column / row_bytes * of.rows + place.row;
    return swizzled(swizzle, address + row * pitch() + place.column % row_bytes);
  }
};

}  // namespace warpgauge::metrics
