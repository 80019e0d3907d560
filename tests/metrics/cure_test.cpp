// Cures of accesses: what they say of how lanes lie, and that they take as few as they promise.
#include "metrics/counting/cure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <regex>
#include <set>
#include <string>

namespace warpgauge::metrics::cure_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using enum AccessKind;
using Space = WarpAccess::Space;

constexpr std::uint32_t kAll = 0xffffffff;

/// An access to shared memory with its counted cost.
template <typename Address>
WarpAccess shared(AccessKind kind, int width, Address address, std::uint32_t mask = kAll) {
  WarpAccess access{.kind = kind, .width = width, .mask = mask};
  std::array<std::uint32_t, 32> addresses{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    addresses[lane] = static_cast<std::uint32_t>(address(lane));
    access.addresses[lane] = addresses[lane];
  }
  const SharedCost cost = shared_cost(kind, width, addresses.data(), mask);
  access.taken = cost.wavefronts;
  access.ideal = cost.ideal;
  return access;
}

WarpAccess columns(int width, std::uint32_t distance, std::uint32_t mask = kAll) {
  return shared(shared_load, width, [=](std::uint32_t lane) { return lane * distance; }, mask);
}

template <typename Address>
WarpAccess global(int width, Address address, std::uint32_t mask = kAll) {
  WarpAccess access{.space = Space::global_load, .width = width, .mask = mask};
  for (std::uint64_t lane = 0; lane < 32; ++lane) access.addresses[lane] = address(lane);
  const GlobalCost cost = global_cost(width, access.addresses.data(), mask);
  access.taken = cost.sectors;
  access.ideal = cost.ideal;
  return access;
}

std::string cure(const WarpAccess& access) { return cure_of(access, access.width); }

TEST(Cure, IsNothingForAnAccessAtItsIdeal) {
  EXPECT_THAT(cure(columns(4, 4)), IsEmpty());
  EXPECT_THAT(cure(columns(4, 4 * 33)), IsEmpty());
  EXPECT_THAT(cure(columns(16, 16)), IsEmpty());
  EXPECT_THAT(cure(WarpAccess{}), IsEmpty());
  EXPECT_THAT(cure(global(4, [](auto lane) { return 4 * lane; })), IsEmpty());
}

TEST(Cure, PadsAColumnByTheWidthOfTheAccess) {
  EXPECT_EQ(cure(columns(4, 4 * 32)),
            "Rows are 32 words apart: pad by 1 word; this access then takes 1 wavefront instead of "
            "32, ideal 1.");
  EXPECT_EQ(cure(columns(8, 4 * 32)),
            "Rows are 32 words apart: pad by 2 words, which keeps 8-byte alignment; this access "
            "then takes 2 wavefronts instead of 32, ideal 2.");
  EXPECT_EQ(cure(columns(16, 4 * 512)),
            "Rows are 512 words apart: pad by 4 words, which keeps 16-byte alignment; this access "
            "then takes 4 wavefronts instead of 32, ideal 4.");
  EXPECT_EQ(cure(columns(1, 128)),
            "Rows are 32 words apart: pad by 1 word; this access then takes 1 wavefront instead of "
            "32, ideal 1.");
}

TEST(Cure, LanesCloserThanALineAreNoRows) {
  EXPECT_EQ(
      cure(columns(4, 8)),
      "Neighbouring lanes are 2 words apart: put them side by side, or pad by 1 word more; this "
      "access then takes 1 wavefront instead of 2, ideal 1.");
}

TEST(Cure, FindsTheRowsOfABlockOfLanes) {
  const auto block = [](std::uint32_t words) {
    return shared(shared_store, 4,
                  [=](std::uint32_t lane) { return 4 * (lane / 8 * words + lane % 8); });
  };
  EXPECT_EQ(cure(block(64)),
            "Rows are 64 words apart: pad by 8 words; this access then takes 1 wavefront instead "
            "of 4, ideal 1.");
  EXPECT_THAT(cure(block(72)), IsEmpty());
  // Lanes in another order, and rows of ldmatrix.
  EXPECT_THAT(cure(shared(shared_load, 4,
                          [](std::uint32_t lane) { return 4 * (lane % 4 * 64 + lane / 4); })),
              HasSubstr("pad by 8 words;"));
  EXPECT_THAT(cure(shared(ldmatrix, 16, [](std::uint32_t lane) { return lane * 64; })),
              HasSubstr("pad by 4 words more, which keeps 16-byte alignment; this access then "
                        "takes 4 wavefronts instead of 16, ideal 4."));
}

TEST(Cure, APaddedKernelIsNotToldToPadByTheSame) {
  // Padded by 1 for columns, and read in blocks of 8 columns.
  EXPECT_EQ(cure(shared(shared_load, 4,
                        [](std::uint32_t lane) { return 4 * (lane / 8 * 33 + lane % 8); })),
            "Rows are 33 words apart: pad by 7 words more; this access then takes 1 wavefront "
            "instead of 4, ideal 1.");
  EXPECT_THAT(cure(columns(4, 4 * 34)), HasSubstr("Rows are 34 words apart: pad by 1 word more;"));
}

TEST(Cure, TellsWhatKeepsTheAlignmentOfWiderAccesses) {
  EXPECT_EQ(cure_of(columns(4, 4 * 32), 16),
            "Rows are 32 words apart: pad by 1 word; this access then takes 1 wavefront instead of "
            "32, ideal 1. Where the same rows are also accessed 16 bytes at a time, pad by 4 "
            "words, which keeps 16-byte alignment: 4 wavefronts.");
  EXPECT_THAT(cure_of(columns(4, 4 * 33 * 2), 16), Not(HasSubstr("at a time")))
      << "these rows are not aligned to 16 bytes";
}

TEST(Cure, SwizzlesWhereNoPaddingReachesTheIdeal) {
  // Two rows of 16 lanes that are 4 words apart: each row alone wants 8 banks twice.
  const WarpAccess access = shared(
      shared_load, 4, [](std::uint32_t lane) { return 4 * (lane / 16 * 192 + lane % 16 * 4); });
  EXPECT_EQ(access.taken, 4u);
  EXPECT_EQ(cure(access),
            "Rows are 192 words apart: swizzle elements of 4 bytes: i ^ (i / 32 % 32) for index i; "
            "this access then takes 1 wavefront instead of 4, ideal 1.");
  const WarpAccess swizzled = shared(shared_load, 4, [&](std::uint32_t lane) {
    const std::uint64_t i = access.addresses[lane] / 4;
    return 4 * (i ^ (i / 32 % 32));
  });
  EXPECT_EQ(swizzled.taken, 1u);
}

TEST(Cure, OfUpdatesOfOneAddressIsToCombineThem) {
  EXPECT_EQ(cure(shared(shared_atomic, 4, [](std::uint32_t lane) { return lane % 2 * 4; })),
            "32 lanes update 2 addresses: combine those of one address first; this access then "
            "takes 1 wavefront instead of 16, ideal 1.");
  EXPECT_THAT(cure(shared(shared_atomic, 4, [](std::uint32_t lane) { return lane * 128; })),
              HasSubstr("pad by 1 word;"));
}

TEST(Cure, ClaimsNothingWhereNothingHelps) {
  std::mt19937 random(1);
  const WarpAccess scattered =
      shared(shared_load, 4, [&](std::uint32_t) { return random() % 4096 * 4; });
  ASSERT_GT(scattered.taken, 1u);
  EXPECT_EQ(cure(scattered),
            "Lanes are at no constant distance, 4 bytes a lane: no padding or swizzle of those "
            "tried takes fewer than " +
                std::to_string(scattered.taken) + " wavefronts, ideal 1.");
}

TEST(Cure, ClaimsNothingWhereTheRuleNeedsMoreThanTheAddresses) {
  WarpAccess copy = shared(async_copy, 16, [](std::uint32_t lane) { return lane * 256; });
  EXPECT_EQ(cure(copy),
            "Rows are 64 words apart, 16 bytes a lane: the counting rule of this instruction does "
            "not say what other addresses would take.");
  WarpAccess loop = shared(shared_atomic, 4, [](std::uint32_t lane) { return lane * 128; });
  loop.cas_loop = true;
  EXPECT_THAT(cure(loop), HasSubstr("does not say"));
}

TEST(Cure, OfGlobalMemoryIsLanesSideBySide) {
  EXPECT_EQ(cure(global(4, [](auto lane) { return 4096 * lane; })),
            "Neighbouring lanes are 4096 bytes apart: side by side from a multiple of 32 this "
            "access takes 4 sectors instead of 32, ideal 4.");
  EXPECT_EQ(cure(global(4, [](auto lane) { return 4 * lane + 12; })),
            "Neighbouring lanes begin 12 bytes beyond a multiple of 32: from a multiple this "
            "access takes 4 sectors instead of 5, ideal 4.");
  EXPECT_EQ(cure(global(8, [](auto lane) { return lane * lane * 256; })),
            "Lanes are at no constant distance: side by side from a multiple of 32 this access "
            "takes 8 sectors instead of 32, ideal 8.");
}

TEST(Cure, KeepsItsPromiseForAnyRows) {
  std::mt19937 random(2);
  const std::regex promise(
      "pad by (\\d+) (word|byte)s?.* then takes (\\d+) wavefronts? instead of "
      "(\\d+)");
  int promised = 0;
  for (int round = 0; round < 2000; ++round) {
    const int width = 1 << random() % 5;
    const auto w = static_cast<std::uint32_t>(width);
    const std::uint32_t in_row = 1u << random() % 6, distance = (1 + random() % 64) * 16;
    const AccessKind kind = random() % 2 == 0 ? shared_load : shared_store;
    const std::uint32_t first = random() % 64 * w;
    const auto access = [&](std::uint32_t more) {
      return shared(kind, width, [&](std::uint32_t lane) {
        return first + lane / in_row * (distance + more) + lane % in_row * w;
      });
    };
    if (in_row * w > distance) continue;
    const WarpAccess before = access(0);
    const std::string text = cure(before);
    EXPECT_EQ(text.empty(), before.taken == before.ideal);
    std::smatch found;
    if (!std::regex_search(text, found, promise)) continue;
    ++promised;
    const auto more =
        static_cast<std::uint32_t>(std::stoul(found[1])) * (found[2] == "word" ? 4 : 1);
    EXPECT_EQ(more % w, 0u) << text;
    EXPECT_EQ(access(more).taken, std::stoul(found[3])) << text;
    EXPECT_EQ(before.taken, std::stoul(found[4])) << text;
    EXPECT_LT(access(more).taken, before.taken) << text;
  }
  EXPECT_GT(promised, 500);
}

/// 8 lanes read 16 bytes each of one column of a tile, 16 times over: ideally a wavefront for 8.
WarpAccess column_of(const CopiedTile& tile) {
  WarpAccess access = shared(shared_load, 16, [&](std::uint32_t lane) {
    return swizzled(tile.swizzle, tile.address + lane * tile.pitch());
  });
  access.tile = tile;
  return access;
}

TEST(CureOfACopiedTile, IsTheSwizzleThatMakesTheReaderFree) {
  EXPECT_EQ(cure(column_of({1024, 64, 128, Swizzle::none})),
            "A tensor copy wrote rows of 128 bytes, CU_TENSOR_MAP_SWIZZLE_NONE: encode the tensor "
            "map with CU_TENSOR_MAP_SWIZZLE_128B and read 16-byte chunk c of row r at c ^ (r % 8); "
            "this access then takes 4 wavefronts instead of 32, ideal 4.");
  EXPECT_THAT(cure(column_of({1024, 64, 64, Swizzle::none})),
              HasSubstr("CU_TENSOR_MAP_SWIZZLE_64B and read 16-byte chunk c of row r at c ^ (r / 2 "
                        "% 4); this access then takes 4 wavefronts instead of 16"));
  EXPECT_THAT(cure(column_of({1024, 64, 32, Swizzle::none})),
              HasSubstr("CU_TENSOR_MAP_SWIZZLE_32B and read 16-byte chunk c of row r at c ^ (r / 4 "
                        "% 2); this access then takes 4 wavefronts instead of 8"));
}

TEST(CureOfACopiedTile, SaysWhatElseHasToChange) {
  EXPECT_THAT(cure(column_of({1024 + 128, 64, 128, Swizzle::none})),
              HasSubstr("c ^ (r % 8), in a tile aligned to 1024 bytes; this access then takes 4"));
  EXPECT_THAT(cure(column_of({1024, 64, 256, Swizzle::none})),
              HasSubstr("CU_TENSOR_MAP_SWIZZLE_128B and boxes of 128 bytes a row and read"));
}

TEST(CureOfACopiedTile, IsNoneWhereNoSwizzleHelps) {
  EXPECT_THAT(cure(column_of({1024, 64, 128, Swizzle::span_128})), IsEmpty());
  // All lanes want other words of one bank, 8 rows apart: rows alike in all swizzles.
  const CopiedTile tile{0, 256, 128, Swizzle::none};
  WarpAccess access = columns(4, 8 * 128);
  access.tile = tile;
  EXPECT_EQ(cure(access),
            "A tensor copy wrote rows of 128 bytes, CU_TENSOR_MAP_SWIZZLE_NONE: no other swizzle "
            "takes fewer than 32 wavefronts, ideal 1.");
}

// The same bytes, where the copy with that swizzle puts them, take the promised wavefronts.
TEST(CureOfACopiedTile, MovesEachByteToAPlaceOfItsOwn) {
  for (const std::uint32_t row_bytes : {16u, 32u, 64u, 96u, 128u, 256u}) {
    for (const Swizzle from : {Swizzle::none, Swizzle::span_32, Swizzle::span_128}) {
      if (from != Swizzle::none && row_bytes > swizzle_span(from)) continue;
      const CopiedTile tile{2048, 16, row_bytes, from};
      for (const Swizzle to : {Swizzle::span_32, Swizzle::span_64, Swizzle::span_128}) {
        const auto other = tile.with(to);
        ASSERT_EQ(other.has_value(),
                  row_bytes <= swizzle_span(to) || (to == Swizzle::span_128 && row_bytes == 256));
        if (!other) continue;
        std::set<std::uint32_t> places;
        for (std::uint32_t n = 0; n < 16 * row_bytes; ++n) {
          const std::uint32_t at = tile.address + n / row_bytes * tile.pitch() + n % row_bytes;
          const auto place = tile.place_of(swizzled(from, at));
          EXPECT_EQ(place.row, n / row_bytes);
          EXPECT_EQ(place.column, n % row_bytes);
          const std::uint32_t there = other->address_of(tile, place);
          EXPECT_TRUE(other->has(there));
          places.insert(there);
        }
        EXPECT_EQ(places.size(), 16 * row_bytes);
      }
    }
  }
}

TEST(AddCure, OfTwoAccessesTheFirstStays) {
  Cures cures;
  add_cure(cures, Space::global_store, "a");
  add_cure(cures, Space::global_load, "b");
  add_cure(cures, Space::shared, "");
  EXPECT_EQ(cures, (Cures{{"global.excess_sectors", "a"},
                          {"global.load.sectors", "b"},
                          {"global.load.sectors_per_request", "b"},
                          {"global.store.sectors", "a"},
                          {"global.store.sectors_per_request", "a"}}));
}

TEST(Cure, OfGlobalMemoryPromisesNothingWhereTheRuleGivesAnotherNumber) {
  WarpAccess access = global(4, [](auto lane) { return 8 * lane; });
  ++access.taken;
  EXPECT_EQ(cure(access), "Neighbouring lanes are 8 bytes apart.");
}

}  // namespace
}  // namespace warpgauge::metrics::cure_test
