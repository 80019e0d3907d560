// Loads and stores boxes of tensors.
#include "harness/emulator/machine/memory/tensor_box.h"

#include <vector>

#include "harness/emulator/machine/memory/tensor_values.h"

namespace warpgauge::emulator::machine::memory {
namespace {

constexpr std::uint64_t kSectorBytes = 32;
constexpr std::uint32_t kRowAlignment = 16;

std::string text_of(std::int64_t value) { return std::to_string(value); }

/// Elements of a tiled box along a dimension.
std::uint32_t count_of(const TensorMap& map, int dimension) {
  if (map.interleave == TensorMap::Interleave::none) {
    if (dimension == 0) return map.box[0];
  } else if (dimension == map.rank - 2) {
    return 1;
  }
  return (map.box[dimension] + map.step[dimension] - 1) / map.step[dimension];
}

}  // namespace

boxes::Lines boxes::lines_of(const TensorMap& map, const BoxPlace& place) {
  Lines lines;
  for (int i = 0; i < map.rank; ++i) {
    const bool strided = i > 0 || map.interleave != TensorMap::Interleave::none;
    lines[i] = {.start = place.coordinates[i],
                .count = count_of(map, i),
                .step = strided ? map.step[i] : 1,
                .size = static_cast<std::int64_t>(map.size[i]),
                .stride = i == 0 ? map.unit_bytes() : map.stride[i - 1]};
  }
  return lines;
}

boxes::Row boxes::row_of(const Line& line, std::uint32_t pitch) {
  const std::int64_t count = line.count;
  const std::int64_t first = std::clamp<std::int64_t>(-line.start, 0, count);
  const std::int64_t last = std::clamp<std::int64_t>(line.size - line.start, first, count);
  return {.line = line,
          .unit = static_cast<std::uint32_t>(line.stride),
          .first = static_cast<std::uint32_t>(first),
          .last = static_cast<std::uint32_t>(last),
          .pitch = pitch};
}

std::uint32_t row_pitch(const TensorMap& map) {
  if (map.interleave != TensorMap::Interleave::none) {
    return map.unit_bytes() * (map.mode == TensorMap::Mode::im2col ? 1 : count_of(map, 0));
  }
  const std::uint32_t elements = map.mode == TensorMap::Mode::im2col ? map.channels : map.box[0];
  return std::max(elements * map.unit_bytes(), swizzle_span(map.swizzle));
}

std::uint32_t box_bytes(const TensorMap& map) {
  if (map.mode == TensorMap::Mode::im2col) {
    const bool slices = map.interleave != TensorMap::Interleave::none;
    return map.pixels * map.unit_bytes() * (slices ? 1 : map.channels);
  }
  std::uint32_t bytes = map.unit_bytes();
  for (int i = 0; i < map.rank; ++i) bytes *= count_of(map, i);
  return bytes;
}

std::optional<std::string> broken_place(const TensorMap& map, const BoxPlace& place,
                                        BoxDirection direction) {
  const bool stores = direction == BoxDirection::store;
  if (map.interleave == TensorMap::Interleave::none) {
    const std::int64_t bits = std::int64_t{place.coordinates[0]} * element_bits(map.type);
    if (bits % (8 * kRowAlignment) != 0) {
      return "the box begins at element " + text_of(place.coordinates[0]) +
             " of a row, at no multiple of 16 bytes";
    }
  }
  for (int i = 0; i < map.rank && stores; ++i) {
    if (place.coordinates[i] < 0) {
      return "coordinate " + text_of(place.coordinates[i]) + " of dimension " + text_of(i) +
             " is negative, in a store";
    }
  }
  for (std::size_t n = 0; place.rows && stores && n < BoxPlace::kRows; ++n) {
    if ((*place.rows)[n] < 0) {
      return "row " + text_of((*place.rows)[n]) + " is negative, in a store";
    }
  }
  if (map.mode != TensorMap::Mode::im2col) return std::nullopt;
  for (int i = 0; i < map.spatial_dimensions(); ++i) {
    const int dimension = map.first_spatial() + i;
    const std::int64_t at = place.coordinates[dimension];
    const auto last = static_cast<std::int64_t>(map.size[dimension]) - 1 + map.upper[i];
    if (at < map.lower[i] || at > last) {
      return "coordinate " + text_of(at) + " of dimension " + text_of(dimension) +
             " lies outside of the pixel box (" + text_of(map.lower[i]) + " to " + text_of(last) +
             ")";
    }
    if (stores && map.lower[i] < 0) {
      return "the pixel box of a store begins at " + text_of(map.lower[i]) + " of dimension " +
             text_of(dimension);
    }
  }
  return std::nullopt;
}

void unpack(TensorMap& map, BoxPlace& place) {
  if (map.type != TensorMap::Type::u4x16) return;
  map.type = TensorMap::Type::u8;
  map.size[0] /= 2;
  map.box[0] /= 2;
  place.coordinates[0] /= 2;
}

BoxUse use_of(const TensorMap& map, const BoxPlace& place) {
  struct Sectors {
    std::uint64_t begin, end;
  };
  BoxUse use;
  std::vector<Sectors> runs;
  for_each_run(map, place, [&](const BoxRun& run) {
    if (!run.inside) return;
    use.bytes += run.bytes;
    const Sectors now{run.address / kSectorBytes, (run.address + run.bytes - 1) / kSectorBytes + 1};
    if (!runs.empty() && now.begin >= runs.back().begin && now.begin <= runs.back().end) {
      runs.back().end = std::max(runs.back().end, now.end);
    } else {
      runs.push_back(now);
    }
  });
  const auto by_begin = [](const Sectors& a, const Sectors& b) { return a.begin < b.begin; };
  if (!std::is_sorted(runs.begin(), runs.end(), by_begin)) {
    std::sort(runs.begin(), runs.end(), by_begin);
  }
  std::uint64_t counted = 0;  // all sectors below it
  for (const Sectors& run : runs) {
    if (run.end <= counted) continue;
    use.sectors += run.end - std::max(counted, run.begin);
    counted = run.end;
  }
  return use;
}

void load_box(const TensorMap& map, const BoxPlace& place, std::byte* shared,
              std::uint32_t address) {
  const std::uint16_t filler = fill_pattern(map.fill);
  const bool rounds = changes_when_loaded(map.type);
  with_constant(map.swizzle, [&](auto swizzle) {
    for_each_run(map, place, [=](const BoxRun& run) {
      const std::uint32_t to = address + run.offset;
      const auto* const from = reinterpret_cast<const std::byte*>(run.address);
      if (!run.inside) {
        fill_swizzled(swizzle, shared, to, run.bytes, filler);
      } else if (!rounds) {
        copy_to_swizzled(swizzle, shared, to, from, run.bytes);
      } else {
        for_each_swizzled_piece(swizzle, to, run.bytes,
                                [&](std::uint32_t at, std::uint32_t offset, std::uint32_t bytes) {
                                  copy_rounded_to_tf32(shared + at, from + offset, bytes);
                                });
      }
    });
  });
}

TensorMap as_stored(const TensorMap& map) {
  TensorMap stored = map;
  if (map.interleave == TensorMap::Interleave::none) {
    const std::uint64_t elements = kRowAlignment / map.unit_bytes();
    stored.size[0] = (map.size[0] + elements - 1) / elements * elements;
  }
  return stored;
}

void store_box(const TensorMap& map, const BoxPlace& place, const std::byte* shared,
               std::uint32_t address) {
  with_constant(map.swizzle, [&](auto swizzle) {
    for_each_run(as_stored(map), place, [=](const BoxRun& run) {
      if (!run.inside) return;
      copy_from_swizzled(swizzle, reinterpret_cast<std::byte*>(run.address), shared,
                         address + run.offset, run.bytes);
    });
  });
}

}  // namespace warpgauge::emulator::machine::memory
