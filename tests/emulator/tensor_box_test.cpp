// Boxes of tensors against loops over single elements.
#include "harness/emulator/machine/memory/tensor_box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "harness/emulator/machine/memory/tensor_values.h"

namespace warpgauge::emulator::machine::memory::tensor_box_test {
namespace {

constexpr std::uint32_t kSharedBytes = 1 << 16;

/// Memory in which each byte tells where it lies, more or less.
std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  std::uint32_t state = 1;
  for (std::byte& byte : out) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return out;
}

/// An element of a box as a loop finds it.
struct Element {
  std::uint64_t address = 0;
  bool inside = false;
};

/// Checks the load of a box, and its use, against its elements in order; rows of `row` elements are
/// `pitch` bytes apart.
void expect_loaded(const TensorMap& map, const BoxPlace& place,
                   const std::vector<Element>& elements, std::uint32_t row, std::uint32_t pitch) {
  const std::uint32_t address = 384, unit = map.unit_bytes();
  ASSERT_EQ(broken_rule(map, 100), std::nullopt);
  ASSERT_EQ(broken_place(map, place, BoxDirection::load), std::nullopt);
  std::vector<std::byte> shared(kSharedBytes, std::byte{0xee}), wanted = shared;
  std::set<std::uint64_t> sectors;
  std::uint64_t inside = 0;
  for (std::uint32_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    const std::uint32_t offset = i / row * pitch + i % row * unit;
    for (std::uint32_t byte = 0; byte < unit; ++byte) {
      const int filler = map.fill == TensorMap::Fill::zero ? 0 : (byte % 2 == 0 ? 0xf7 : 0x7f);
      auto value = static_cast<std::byte>(filler);
      if (element.inside) {
        value = reinterpret_cast<const std::byte*>(element.address)[byte];
        sectors.insert((element.address + byte) / 32);
        ++inside;
      }
      wanted[swizzled(map.swizzle, address + offset + byte)] = value;
    }
  }
  load_box(map, place, shared.data(), address);
  EXPECT_TRUE(shared == wanted);
  EXPECT_EQ(box_bytes(map), elements.size() * unit);
  EXPECT_EQ(row_pitch(map), pitch);
  const BoxUse use = use_of(map, place);
  EXPECT_EQ(use.bytes, inside);
  EXPECT_EQ(use.sectors, sectors.size());
}

/// The elements of a tiled box; dimension `skipped` has one.
std::vector<Element> tiled_elements(const TensorMap& map, const BoxPlace& place, int skipped) {
  std::vector<Element> out;
  std::array<std::uint32_t, 5> ends{1, 1, 1, 1, 1}, steps{1, 1, 1, 1, 1}, at{};
  for (int i = 0; i < map.rank; ++i) {
    ends[i] = i == skipped ? 1 : map.box[i];
    steps[i] = i == 0 && map.interleave == TensorMap::Interleave::none ? 1 : map.step[i];
  }
  for (at[4] = 0; at[4] < ends[4]; at[4] += steps[4]) {
    for (at[3] = 0; at[3] < ends[3]; at[3] += steps[3]) {
      for (at[2] = 0; at[2] < ends[2]; at[2] += steps[2]) {
        for (at[1] = 0; at[1] < ends[1]; at[1] += steps[1]) {
          for (at[0] = 0; at[0] < ends[0]; at[0] += steps[0]) {
            Element element{map.address, true};
            for (int i = 0; i < map.rank; ++i) {
              const std::int64_t where = std::int64_t{place.coordinates[i]} + at[i];
              element.inside =
                  element.inside && where >= 0 && where < static_cast<std::int64_t>(map.size[i]);
              const std::uint64_t stride = i == 0 ? map.unit_bytes() : map.stride[i - 1];
              element.address += static_cast<std::uint64_t>(where) * stride;
            }
            out.push_back(element);
          }
        }
      }
    }
  }
  return out;
}

std::uint32_t row_of(const TensorMap& map) {
  if (map.interleave == TensorMap::Interleave::none) return map.box[0];
  return (map.box[0] + map.step[0] - 1) / map.step[0];
}

class TensorBoxTest : public testing::Test {
 protected:
  int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

  /// A tensor in memory of this test, with padding.
  TensorMap tensor(TensorMap::Type type, int rank, int alignment) {
    TensorMap map;
    map.type = type;
    map.rank = rank;
    map.address = (reinterpret_cast<std::uint64_t>(memory_.data()) + 63) / 64 * 64;
    map.size[0] = static_cast<std::uint64_t>(1 + below(60));
    std::uint64_t stride = map.size[0] * std::max(map.unit_bytes(), 32u);
    for (int i = 1; i < rank; ++i) {
      map.size[i] = static_cast<std::uint64_t>(1 + below(4));
      stride = (stride / alignment + 1 + below(3)) * alignment;
      map.stride[i - 1] = stride;
      stride *= map.size[i];
    }
    return map;
  }

  std::mt19937 random_{7};
  const std::vector<std::byte> memory_ = numbered(std::size_t{2} << 20);
};

TEST_F(TensorBoxTest, TiledBoxesOfEachRankTypeAndSwizzling) {
  using enum TensorMap::Type;
  for (int rank = 1; rank <= 5; ++rank) {
    for (const auto type : {u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz}) {
      for (int swizzle = 0; swizzle < kSwizzles; ++swizzle) {
        TensorMap map = tensor(type, rank, 16);
        map.swizzle = static_cast<Swizzle>(swizzle);
        const std::uint32_t span = swizzle_span(map.swizzle);
        const std::uint32_t bytes = 16 * (1 + below(static_cast<int>(span == 0 ? 8 : span / 16)));
        const int chunk = 16 / static_cast<int>(map.unit_bytes());
        map.box[0] = bytes / map.unit_bytes();
        if (is_floating(type) && below(2) == 0) map.fill = TensorMap::Fill::nan;
        BoxPlace place;
        place.coordinates[0] = (below(8) - 3) * chunk;
        for (int i = 1; i < rank; ++i) {
          map.box[i] = static_cast<std::uint32_t>(1 + below(4));
          map.step[i] = static_cast<std::uint32_t>(1 + below(3));
          place.coordinates[i] = below(9) - 2;
        }
        expect_loaded(map, place, tiled_elements(map, place, -1), row_of(map),
                      std::max(bytes, span));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(TensorBoxTest, InterleavedBoxesTakeOneSliceOfChannels) {
  for (int round = 0; round < 60; ++round) {
    const bool wide = round % 2 == 0;
    TensorMap map = tensor(TensorMap::Type::f16, 3 + below(3), 32);
    map.interleave = wide ? TensorMap::Interleave::slices_32 : TensorMap::Interleave::slices_16;
    map.swizzle = wide ? Swizzle::span_32 : static_cast<Swizzle>(below(4));
    map.box[0] = static_cast<std::uint32_t>(8 * (1 + below(3)));
    map.step[0] = static_cast<std::uint32_t>(1 + below(3));
    BoxPlace place;
    place.coordinates[0] = below(20) - 5;
    for (int i = 1; i < map.rank; ++i) {
      map.box[i] = static_cast<std::uint32_t>(1 + below(4));
      map.step[i] = static_cast<std::uint32_t>(1 + below(3));
      place.coordinates[i] = below(8) - 1;
    }
    expect_loaded(map, place, tiled_elements(map, place, map.rank - 2), row_of(map),
                  row_of(map) * map.unit_bytes());
  }
}

/// The pixels of an im2col copy of a tensor NDHWC, found by a search: bases are numbered through
/// all images, in the order of the loops.
std::vector<Element> im2col_elements(const TensorMap& map, const BoxPlace& place) {
  struct Range {
    int first, last, step, start;
  };
  std::array<Range, 3> ranges{{{0, 0, 1, 0}, {0, 0, 1, 0}, {0, 0, 1, 0}}};  // W, H, D
  for (int i = 0; i < map.rank - 2; ++i) {
    ranges[i] = {map.lower[i], static_cast<int>(map.size[1 + i]) - 1 + map.upper[i],
                 static_cast<int>(map.step[1 + i]), place.coordinates[1 + i]};
  }
  std::vector<Element> out;
  std::uint32_t pixels = 0;
  bool first = true;
  for (int n = place.coordinates[map.rank - 1];; n += static_cast<int>(map.step[map.rank - 1])) {
    for (int d = first ? ranges[2].start : ranges[2].first; d <= ranges[2].last;
         d += ranges[2].step) {
      for (int h = first ? ranges[1].start : ranges[1].first; h <= ranges[1].last;
           h += ranges[1].step) {
        for (int w = first ? ranges[0].start : ranges[0].first; w <= ranges[0].last;
             w += ranges[0].step) {
          first = false;
          if (pixels++ == map.pixels) return out;
          const std::array<int, 3> base{w, h, d};
          for (std::uint32_t c = 0; c < map.channels; ++c) {
            const std::int64_t channel = std::int64_t{place.coordinates[0]} + c;
            Element element{map.address + static_cast<std::uint64_t>(channel) * map.unit_bytes(),
                            channel >= 0 && channel < static_cast<std::int64_t>(map.size[0])};
            for (int i = 1; i < map.rank; ++i) {
              const int at = i == map.rank - 1 ? n : base[i - 1] + place.offsets[i - 1];
              element.inside = element.inside && at >= 0 && at < static_cast<int>(map.size[i]);
              element.address += static_cast<std::uint64_t>(at) * map.stride[i - 1];
            }
            out.push_back(element);
          }
        }
      }
    }
  }
}

TEST_F(TensorBoxTest, Im2colWalksThroughThePixelBox) {
  for (int round = 0; round < 300; ++round) {
    TensorMap map = tensor(TensorMap::Type::f16, 3 + round % 3, 16);
    map.mode = TensorMap::Mode::im2col;
    map.swizzle = static_cast<Swizzle>(below(4));
    const std::uint32_t span = swizzle_span(map.swizzle);
    map.channels =
        static_cast<std::uint32_t>(8 * (1 + below(static_cast<int>(span == 0 ? 8 : span / 16))));
    map.pixels = static_cast<std::uint32_t>(1 + below(60));
    map.fill = below(2) == 0 ? TensorMap::Fill::zero : TensorMap::Fill::nan;
    BoxPlace place;
    place.coordinates[0] = (below(5) - 1) * 8;
    for (int i = 0; i < map.spatial_dimensions(); ++i) {
      const int size = static_cast<int>(map.size[1 + i]);
      map.lower[i] = below(4) - 2;
      map.upper[i] = std::max(below(4) - 2, map.lower[i] - size + 1);
      map.step[1 + i] = static_cast<std::uint32_t>(1 + below(3));
      place.coordinates[1 + i] = map.lower[i] + below(size + map.upper[i] - map.lower[i]);
      place.offsets[i] = static_cast<std::uint16_t>(below(3));
    }
    place.coordinates[map.rank - 1] = below(5) - 1;
    expect_loaded(map, place, im2col_elements(map, place), map.channels,
                  std::max(map.channels * 2, span));
    if (HasFailure()) return;
  }
}

TEST_F(TensorBoxTest, FillsBesideTheTensor) {
  struct Row {
    TensorMap::Type type;
    std::uint64_t nan;
  };
  using enum TensorMap::Type;
  for (const auto& [type, nan] : {Row{f16, 0x7ff7}, Row{bf16, 0x7ff7}, Row{f32, 0x7ff77ff7},
                                  Row{tf32, 0x7ff77ff7}, Row{f64, 0x7ff77ff77ff77ff7}}) {
    for (const auto fill : {TensorMap::Fill::zero, TensorMap::Fill::nan}) {
      TensorMap map = tensor(type, 1, 16);
      map.fill = fill;
      map.box[0] = 16 / map.unit_bytes();
      BoxPlace place;
      place.coordinates[0] = -static_cast<int>(map.box[0]);
      std::array<std::byte, 16> shared;
      load_box(map, place, shared.data(), 0);
      std::uint64_t value = 0;
      std::memcpy(&value, shared.data(), map.unit_bytes());
      EXPECT_EQ(value, fill == TensorMap::Fill::nan ? nan : 0);
    }
  }
}

TEST_F(TensorBoxTest, Tf32IsRounded) {
  EXPECT_EQ(rounded_to_tf32(0x3f800fff), 0x3f800000u);
  EXPECT_EQ(rounded_to_tf32(0x3f801000), 0x3f800000u) << "a tie, to even";
  EXPECT_EQ(rounded_to_tf32(0x3f803000), 0x3f804000u) << "a tie, to even";
  EXPECT_EQ(rounded_to_tf32(0x3f801001), 0x3f802000u);
  EXPECT_EQ(rounded_to_tf32(0xff800000), 0xff800000u) << "infinity";
  EXPECT_EQ(rounded_to_tf32(0xff800001), 0x7fffe000u) << "NaN";
  EXPECT_EQ(rounded_to_tf32(0x00003001), 0x00004000u) << "subnormal";
}

TEST_F(TensorBoxTest, StoresWhatItLoads) {
  for (int round = 0; round < 60; ++round) {
    TensorMap map = tensor(TensorMap::Type::u32, 3, 16);
    map.swizzle = static_cast<Swizzle>(below(kSwizzles));
    map.size[0] = static_cast<std::uint64_t>(4 * (1 + below(10)));
    map.box = {8, 4, 3, 1, 1};
    map.step = {1, static_cast<std::uint32_t>(1 + below(2)), 1, 1, 1};
    BoxPlace place;
    place.coordinates = {4 * below(4), below(4), below(4)};
    std::vector<std::byte> shared(kSharedBytes), copy(memory_.size());
    load_box(map, place, shared.data(), 256);
    TensorMap other = map;
    other.address = (reinterpret_cast<std::uint64_t>(copy.data()) + 63) / 64 * 64;
    store_box(other, place, shared.data(), 256);
    std::set<std::uint64_t> stored;
    for (const Element& element : tiled_elements(map, place, -1)) {
      if (!element.inside) continue;
      stored.insert(element.address - map.address);
      const auto* const to =
          reinterpret_cast<const std::byte*>(element.address - map.address + other.address);
      EXPECT_EQ(std::memcmp(to, reinterpret_cast<const void*>(element.address), 4), 0);
    }
    // No other byte is stored.
    const auto* const origin = reinterpret_cast<const std::byte*>(other.address);
    for (std::uint64_t offset = 0; offset < 1 << 16; offset += 4) {
      std::uint32_t word;
      std::memcpy(&word, origin + offset, sizeof word);
      EXPECT_TRUE(word == 0 || stored.contains(offset)) << offset;
    }
  }
}

TEST_F(TensorBoxTest, StoresEndRowsAtAMultipleOf16Bytes) {
  TensorMap map;
  map.type = TensorMap::Type::u16;
  map.size[0] = 14;
  EXPECT_EQ(as_stored(map).size[0], 16u);
  map.size[0] = 16;
  EXPECT_EQ(as_stored(map), map);
}

TEST_F(TensorBoxTest, PlacesThatNoInstructionTakesAreNamed) {
  TensorMap map = tensor(TensorMap::Type::u16, 3, 16);
  map.size = {64, 8, 4, 1, 1};
  map.box = {8, 1, 1, 1, 1};
  BoxPlace place;
  const auto broken = [&](BoxDirection direction) { return broken_place(map, place, direction); };
  EXPECT_EQ(broken(BoxDirection::load), std::nullopt);
  place.coordinates[0] = 4;
  EXPECT_EQ(broken(BoxDirection::load),
            "the box begins at element 4 of a row, at no multiple of 16 bytes");
  place.coordinates = {0, -1, 0};
  EXPECT_EQ(broken(BoxDirection::load), std::nullopt);
  EXPECT_EQ(broken(BoxDirection::store), "coordinate -1 of dimension 1 is negative, in a store");
  map.mode = TensorMap::Mode::im2col;
  map.channels = 8;
  map.pixels = 1;
  map.lower[0] = -1;
  map.upper[0] = -2;
  EXPECT_EQ(broken(BoxDirection::load), std::nullopt);
  place.coordinates[1] = 6;
  EXPECT_EQ(broken(BoxDirection::load),
            "coordinate 6 of dimension 1 lies outside of the pixel box (-1 to 5)");
  place.coordinates[1] = 5;
  EXPECT_EQ(broken(BoxDirection::load), std::nullopt);
  EXPECT_EQ(broken(BoxDirection::store), "the pixel box of a store begins at -1 of dimension 1");
}

TEST_F(TensorBoxTest, TwoPackedElementsAreAByte) {
  TensorMap map;
  map.type = TensorMap::Type::u4x16;
  map.rank = 2;
  map.size = {96, 10, 1, 1, 1};
  map.stride = {48};
  map.box = {64, 4, 1, 1, 1};
  BoxPlace place{{32, 3, 0, 0, 0}, {}};
  EXPECT_EQ(broken_place(map, place, BoxDirection::load), std::nullopt);
  place.coordinates[0] = 16;
  EXPECT_EQ(broken_place(map, place, BoxDirection::load),
            "the box begins at element 16 of a row, at no multiple of 16 bytes");
  place.coordinates[0] = 32;
  unpack(map, place);
  TensorMap bytes = map;
  bytes.type = TensorMap::Type::u8;
  bytes.size[0] = 48;
  bytes.box[0] = 32;
  EXPECT_EQ(map, bytes);
  EXPECT_EQ(place.coordinates[0], 16);
  EXPECT_EQ(place.coordinates[1], 3);
  EXPECT_EQ(box_bytes(map), 4u * 32);
  unpack(map, place);
  EXPECT_EQ(map, bytes);
}

TEST_F(TensorBoxTest, ChosenRowsLieBehindEachOther) {
  TensorMap map;
  map.type = TensorMap::Type::u8;
  map.rank = 2;
  map.address = 4096;
  map.size = {40, 10, 1, 1, 1};
  map.stride = {48, 0, 0, 0};
  map.box = {32, BoxPlace::kRows, 1, 1, 1};
  BoxPlace place;
  place.coordinates[0] = 16;
  place.rows = {{7, -1, 7, 10}};
  struct Run {
    std::uint64_t address;
    std::uint32_t offset, bytes;
    bool inside;
    bool operator==(const Run&) const = default;
  };
  std::vector<Run> runs;
  for_each_run(map, place, [&](const BoxRun& run) {
    runs.push_back({run.inside ? run.address - map.address : 0, run.offset, run.bytes, run.inside});
  });
  const std::vector<Run> expected = {{7 * 48 + 16, 0, 24, true}, {0, 24, 8, false},
                                     {0, 32, 32, false},         {7 * 48 + 16, 64, 24, true},
                                     {0, 88, 8, false},          {0, 96, 32, false}};
  EXPECT_EQ(runs, expected);
  EXPECT_EQ(box_bytes(map), 128u);
  EXPECT_EQ(use_of(map, place).bytes, 48u);
  EXPECT_EQ(broken_place(map, place, BoxDirection::load), std::nullopt);
  EXPECT_EQ(broken_place(map, place, BoxDirection::store), "row -1 is negative, in a store");
}

TEST_F(TensorBoxTest, RunsGoByOffset) {
  TensorMap map = tensor(TensorMap::Type::u8, 2, 16);
  map.size = {40, 2, 1, 1, 1};
  map.box = {32, 2, 1, 1, 1};
  BoxPlace place;
  place.coordinates = {16, 1};
  std::vector<BoxRun> runs;
  for_each_run(map, place, [&](const BoxRun& run) { runs.push_back(run); });
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].address, map.address + map.stride[0] + 16);
  EXPECT_EQ(runs[0].bytes, 24u);
  EXPECT_TRUE(runs[0].inside);
  EXPECT_EQ(runs[1].offset, 24u);
  EXPECT_EQ(runs[1].bytes, 8u);
  EXPECT_FALSE(runs[1].inside);
  EXPECT_EQ(runs[2].offset, 32u);
  EXPECT_EQ(runs[2].bytes, 32u);
  EXPECT_FALSE(runs[2].inside);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::memory::tensor_box_test
