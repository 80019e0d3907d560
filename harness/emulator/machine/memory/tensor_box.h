// The box that a tensor copy moves: which stretches of global memory, and where each goes in shared
// memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/emulator/machine/memory/tensor_map.h"

namespace warpgauge::emulator::machine::memory {

/// Where a box lies: the operands of cp.async.bulk.tensor.
struct BoxPlace {
  static constexpr std::size_t kRows = 4;

  std::array<std::int32_t, 5> coordinates{};  ///< elements; dimension 0 first
  std::array<std::uint16_t, 3> offsets{};     ///< for im2col loads: the filter's, W first
  /// .tile::gather4 and .tile::scatter4: the coordinates 1 of the four rows of the box.
  std::optional<std::array<std::int32_t, kRows>> rows;
};

/// Bytes next to each other in both memories.
struct BoxRun {
  std::uint64_t address = 0;  ///< in global memory; means nothing beside the tensor
  std::uint32_t offset = 0;   ///< bytes from the start of the box in shared memory, not swizzled
  std::uint32_t bytes = 0;
  bool inside = false;  ///< false: beside the tensor; a load fills it, a store leaves it out
};

/// Bytes from the start of a row of the box (of im2col: of a pixel) to the next one in shared
/// memory. Swizzling fills its span: shorter rows leave a gap. So does an H200.
std::uint32_t row_pitch(const TensorMap& map);

/// Bytes that a copy moves and signals to its mbarrier, those beside the tensor too. The map keeps
/// the rules.
std::uint32_t box_bytes(const TensorMap& map);

enum class BoxDirection : std::uint8_t { load, store /* and reductions */ };

/// Why an H200 refuses the place as an illegal instruction, as a sentence: a row that begins at no
/// multiple of 16 bytes, an im2col base outside of the pixel box; in stores also negative
/// coordinates, and pixel boxes with negative lower corners. Prefetches are loads. Chosen rows,
/// which an H200 does not have, are held to the same.
std::optional<std::string> broken_place(const TensorMap& map, const BoxPlace& place,
                                        BoxDirection direction);

/// Makes one element of bytes of each two of u4x16, for what follows here; else it changes nothing.
/// The map and the place keep the rules.
void unpack(TensorMap& map, BoxPlace& place);

/// The part of global memory that a box takes.
struct BoxUse {
  std::uint64_t bytes = 0;    ///< inside of the tensor
  std::uint64_t sectors = 0;  ///< have 32 bytes; each is counted once
};
BoxUse use_of(const TensorMap& map, const BoxPlace& place);

/// Loads the box to `address` of shared memory; `shared` points to the memory at address 0. Fills
/// what lies beside the tensor, swizzles, and rounds as the type says. Checks nothing: global
/// memory is read at the addresses of the runs.
void load_box(const TensorMap& map, const BoxPlace& place, std::byte* shared,
              std::uint32_t address);

/// The map whose runs a store or a reduction writes: an H200 writes chunks of 16 bytes, so that
/// rows end at the next multiple of 16 bytes, in what should be padding.
TensorMap as_stored(const TensorMap& map);

/// Stores the box at `address` of shared memory; leaves out what lies beside the tensor.
void store_box(const TensorMap& map, const BoxPlace& place, const std::byte* shared,
               std::uint32_t address);

namespace boxes {

/// One dimension of a walk.
struct Line {
  std::int64_t start = 0;
  std::uint32_t count = 1, step = 1;
  std::int64_t size = 1;
  std::uint64_t stride = 0;  ///< bytes

  bool has(std::int64_t at) const { return at >= 0 && at < size; }
  std::uint64_t bytes_to(std::int64_t at) const { return static_cast<std::uint64_t>(at) * stride; }
};

using Lines = std::array<Line, TensorMap::kMostDimensions>;

/// The lines of each dimension; counts are those of a tiled box.
Lines lines_of(const TensorMap& map, const BoxPlace& place);

/// A row along dimension 0, the same for all rows of a box.
struct Row {
  Line line;
  std::uint32_t unit = 0;             ///< bytes of an element
  std::uint32_t first = 0, last = 0;  ///< the elements inside, where they follow each other
  std::uint32_t pitch = 0;            ///< bytes to the next row in shared memory
};
Row row_of(const Line& line, std::uint32_t pitch);

/// The runs of one row. `address` is that of its coordinate 0.
template <typename Run>
void for_row(const Row& row, std::uint64_t address, bool inside, std::uint32_t offset, Run& run) {
  const auto part = [&](std::uint32_t from, std::uint32_t to, bool is_inside) {
    if (from == to) return;
    const std::int64_t at = row.line.start + static_cast<std::int64_t>(from) * row.line.step;
    run(BoxRun{address + row.line.bytes_to(at), offset + from * row.unit, (to - from) * row.unit,
               is_inside});
  };
  if (!inside) return part(0, row.line.count, false);
  if (row.line.step == 1) {
    part(0, row.first, false);
    part(row.first, row.last, true);
    return part(row.last, row.line.count, false);
  }
  for (std::uint32_t i = 0; i < row.line.count; ++i) {
    part(i, i + 1, row.line.has(row.line.start + static_cast<std::int64_t>(i) * row.line.step));
  }
}

/// The rows of the dimensions from `dimension` inwards; returns the offset behind them.
template <typename Run>
std::uint32_t for_rows(const Lines& lines, const Row& row, int dimension, std::uint64_t address,
                       bool inside, std::uint32_t offset, Run& run) {
  if (dimension == 0) {
    for_row(row, address, inside, offset, run);
    return offset + row.pitch;
  }
  const Line line = lines[dimension];
  std::int64_t at = line.start;
  for (std::uint32_t i = 0; i < line.count; ++i, at += line.step) {
    const std::uint64_t there = address + line.bytes_to(at);
    const bool is_inside = inside && line.has(at);
    if (dimension == 1) {
      for_row(row, there, is_inside, offset, run);
      offset += row.pitch;
    } else {
      offset = for_rows(lines, row, dimension - 1, there, is_inside, offset, run);
    }
  }
  return offset;
}

/// Four rows of a tensor of two dimensions.
template <typename Run>
void for_chosen_rows(const TensorMap& map, const BoxPlace& place, Run& run) {
  const Lines lines = lines_of(map, place);
  const Row row = row_of(lines[0], row_pitch(map));
  std::uint32_t offset = 0;
  for (const std::int32_t at : *place.rows) {
    for_row(row, map.address + lines[1].bytes_to(at), lines[1].has(at), offset, run);
    offset += row.pitch;
  }
}

/// The pixels of an im2col copy: the filter's base walks through the pixel box, W first, and then
/// into the next image.
template <typename Run>
void for_pixels(const TensorMap& map, const BoxPlace& place, Run& run) {
  const Lines lines = lines_of(map, place);
  const int first = map.first_spatial(), spatial = map.spatial_dimensions();
  const bool slices = map.interleave != TensorMap::Interleave::none;
  const Line& images = lines[map.rank - 1];
  Line channels = lines[slices ? map.rank - 2 : 0];
  channels.count = slices ? 1 : map.channels;
  channels.step = 1;
  const std::uint32_t pitch = row_pitch(map);
  const Row row = row_of(channels, pitch);

  std::array<std::int64_t, 3> base{};
  for (int i = 0; i < spatial; ++i) base[i] = lines[first + i].start;
  std::int64_t image = images.start;
  for (std::uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    bool inside = images.has(image);
    std::uint64_t address = map.address + images.bytes_to(image);
    for (int i = 0; i < spatial; ++i) {
      const std::int64_t at = base[i] + place.offsets[i];
      inside = inside && lines[first + i].has(at);
      address += lines[first + i].bytes_to(at);
    }
    if (slices) {
      inside = inside && channels.has(channels.start);
      run(BoxRun{address + channels.bytes_to(channels.start), pixel * pitch, map.unit_bytes(),
                 inside});
    } else {
      for_row(row, address, inside, pixel * pitch, run);
    }
    int i = 0;
    for (; i < spatial; ++i) {
      const Line& line = lines[first + i];
      base[i] += line.step;
      if (base[i] <= line.size - 1 + map.upper[i]) break;
      base[i] = map.lower[i];
    }
    if (i == spatial) image += images.step;
  }
}

}  // namespace boxes

/// Calls run(const BoxRun&) for all bytes of the box, by ascending offset. Map and place keep their
/// rules.
template <typename Run>
void for_each_run(const TensorMap& map, const BoxPlace& place, Run run) {
  if (map.mode == TensorMap::Mode::im2col) return boxes::for_pixels(map, place, run);
  if (place.rows) return boxes::for_chosen_rows(map, place, run);
  const boxes::Lines lines = boxes::lines_of(map, place);
  boxes::for_rows(lines, boxes::row_of(lines[0], row_pitch(map)), map.rank - 1, map.address, true,
                  0, run);
}

}  // namespace warpgauge::emulator::machine::memory
