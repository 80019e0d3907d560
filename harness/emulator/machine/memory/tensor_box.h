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
  std::array<std::int32_t, 5> coordinates{};  ///< elements; dimension 0 first
  std::array<std::uint16_t, 3> offsets{};     ///< of im2col loads: of the filter, W first
};

/// Bytes next to each other in both memories.
struct BoxRun {
  std::uint64_t address = 0;  ///< of global memory; means nothing beside the tensor
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
/// coordinates, and pixel boxes with negative lower corners. Prefetches are loads.
std::optional<std::string> broken_place(const TensorMap& map, const BoxPlace& place,
                                        BoxDirection direction);

/// What a box takes of global memory.
struct BoxUse {
  std::uint64_t bytes = 0;    ///< inside of the tensor
  std::uint64_t sectors = 0;  ///< of 32 bytes, each counted once
};
BoxUse use_of(const TensorMap& map, const BoxPlace& place);

/// Loads the box to `address` of shared memory; `shared` points to the memory at address 0. Fills
/// what lies beside the tensor, swizzles, and rounds as the type says. Checks nothing: global
/// memory is read at the addresses of the runs.
void load_box(const TensorMap& map, const BoxPlace& place, std::byte* shared,
              std::uint32_t address);

/// The map whose runs a store writes: an H200 writes chunks of 16 bytes, so that rows end at the
/// next multiple of 16 bytes, in what should be padding.
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

/// Of each dimension; counts are those of a tiled box.
Lines lines_of(const TensorMap& map, const BoxPlace& place);

/// The runs of one row along `line`. `address` is that of element 0.
template <typename Run>
void for_row(const Line& line, std::uint64_t address, bool inside, std::uint32_t offset, Run& run) {
  const auto unit = static_cast<std::uint32_t>(line.stride);
  const auto part = [&](std::uint32_t from, std::uint32_t to, bool is_inside) {
    if (from == to) return;
    const std::int64_t at = line.start + static_cast<std::int64_t>(from) * line.step;
    run(BoxRun{address + line.bytes_to(at), offset + from * unit, (to - from) * unit, is_inside});
  };
  if (!inside) return part(0, line.count, false);
  if (line.step != 1) {
    for (std::uint32_t i = 0; i < line.count; ++i) {
      part(i, i + 1, line.has(line.start + static_cast<std::int64_t>(i) * line.step));
    }
    return;
  }
  const std::int64_t count = line.count;
  const std::int64_t first = std::clamp<std::int64_t>(-line.start, 0, count);
  const std::int64_t last = std::clamp<std::int64_t>(line.size - line.start, first, count);
  part(0, static_cast<std::uint32_t>(first), false);
  part(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last), true);
  part(static_cast<std::uint32_t>(last), line.count, false);
}

/// The rows of the dimensions from `dimension` inwards; returns the offset behind them.
template <typename Run>
std::uint32_t for_rows(const Lines& lines, std::uint32_t pitch, int dimension,
                       std::uint64_t address, bool inside, std::uint32_t offset, Run& run) {
  const Line& line = lines[dimension];
  if (dimension == 0) {
    for_row(line, address, inside, offset, run);
    return offset + pitch;
  }
  std::int64_t at = line.start;
  for (std::uint32_t i = 0; i < line.count; ++i, at += line.step) {
    offset = for_rows(lines, pitch, dimension - 1, address + line.bytes_to(at),
                      inside && line.has(at), offset, run);
  }
  return offset;
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
      for_row(channels, address, inside, pixel * pitch, run);
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
  const boxes::Lines lines = boxes::lines_of(map, place);
  boxes::for_rows(lines, row_pitch(map), map.rank - 1, map.address, true, 0, run);
}

}  // namespace warpgauge::emulator::machine::memory
