// Counting rules of accesses: cases known from theory. What was measured is replayed in
// access_replay_test.cpp.
#include "metrics/counting/counting_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace warpgauge::metrics::counting_rules_test {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint32_t kAll = 0xffffffff;
using Offsets = std::array<std::uint32_t, 32>;
using Addresses = std::array<std::uint64_t, 32>;

Addresses global_addresses(const Offsets& offsets) {
  constexpr std::uint64_t kBase = 0x7f1234567800;  // cudaMalloc's are multiples of 256
  Addresses addresses;
  for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = kBase + offsets[lane];
  return addresses;
}

// Lane l accesses l * stride.
Offsets strided(std::uint32_t stride) {
  Offsets offsets;
  for (std::uint32_t lane = 0; lane < 32; ++lane) offsets[lane] = lane * stride;
  return offsets;
}

SharedCost load(int width, const Offsets& offsets, std::uint32_t mask = kAll) {
  return shared_cost(AccessKind::shared_load, width, offsets.data(), mask);
}

SharedCost store(int width, const Offsets& offsets, std::uint32_t mask = kAll) {
  return shared_cost(AccessKind::shared_store, width, offsets.data(), mask);
}

SharedCost exactly(std::uint32_t wavefronts, std::uint32_t ideal) {
  return {wavefronts, ideal, true};
}

// The sectors of lanes `stride` bytes apart.
GlobalCost spread(int width, std::uint32_t stride, std::uint32_t mask = kAll) {
  return global_cost(width, global_addresses(strided(stride)).data(), mask);
}

TEST(SharedAccess, FloatsAtUnitStrideAndOnePerLaneCostOneWavefront) {
  EXPECT_EQ(load(4, strided(4)), exactly(1, 1));
  EXPECT_EQ(store(4, strided(4)), exactly(1, 1));
  EXPECT_EQ(load(4, strided(4), 1), exactly(1, 1));
}

TEST(SharedAccess, AStrideOfFloatsConflictsAsOftenAsItDividesTheBanks) {
  const std::map<std::uint32_t, std::uint32_t> ways = {
      {1, 1}, {2, 2}, {3, 1}, {4, 4}, {6, 2}, {8, 8}, {16, 16}, {31, 1}, {32, 32}, {33, 1}};
  for (const auto& [stride, wavefronts] : ways) {
    EXPECT_EQ(load(4, strided(4 * stride)), exactly(wavefronts, 1)) << stride;
    EXPECT_EQ(store(4, strided(4 * stride)), exactly(wavefronts, 1)) << stride;
  }
}

TEST(SharedAccess, InactiveLanesDoNotConflict) {
  EXPECT_EQ(load(4, strided(128), 0x0000ffff), exactly(16, 1));
  EXPECT_EQ(load(4, strided(128), 0x80000001), exactly(2, 1));
}

TEST(SharedAccess, OneWordIsBroadcast) {
  EXPECT_EQ(load(4, strided(0)), exactly(1, 1));
  EXPECT_EQ(store(4, strided(0)), exactly(1, 1));  // one lane wins
}

TEST(SharedAccess, CharsShareWords) {
  EXPECT_EQ(load(1, strided(1)), exactly(1, 1));
  EXPECT_EQ(load(1, strided(4)), exactly(1, 1));
  EXPECT_EQ(load(1, strided(8)), exactly(2, 1));
  EXPECT_EQ(store(1, strided(32)), exactly(8, 1));
  EXPECT_EQ(load(2, strided(2)), exactly(1, 1));
}

TEST(SharedAccess, DoublesGoByHalfWarps) {
  EXPECT_EQ(load(8, strided(8)), exactly(2, 2));
  EXPECT_EQ(store(8, strided(8)), exactly(2, 2));
  EXPECT_EQ(load(8, strided(8 * 32)), exactly(32, 2));  // the column of an unpadded tile
  EXPECT_EQ(load(8, strided(8 * 33)), exactly(2, 2));   // and of a padded one
  EXPECT_EQ(load(8, strided(8), 0xffff), exactly(1, 1));
}

TEST(SharedAccess, Float4GoByQuarterWarps) {
  EXPECT_EQ(load(16, strided(16)), exactly(4, 4));
  EXPECT_EQ(store(16, strided(16)), exactly(4, 4));
  EXPECT_EQ(store(16, strided(16 * 8)), exactly(32, 4));
  EXPECT_EQ(store(16, strided(16), 0xff), exactly(1, 1));
}

TEST(SharedAccess, WideLoadsOfPairsReturnTwoGroupsAtOnce) {
  Offsets pairs, quads;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    pairs[lane] = lane / 2 * 8;
    quads[lane] = lane / 4 * 16;
  }
  EXPECT_EQ(load(8, pairs), exactly(1, 1));
  EXPECT_EQ(store(8, pairs), exactly(2, 2));  // stores do not
  EXPECT_EQ(load(8, strided(0)), exactly(1, 1));
  EXPECT_EQ(load(16, quads), exactly(2, 2));
  EXPECT_EQ(load(16, strided(0)), exactly(2, 2));
  EXPECT_EQ(store(16, strided(0)), exactly(4, 4));
}

TEST(SharedAccess, WideLoadsOfATileRowAreExactWithATailOff) {
  for (std::uint32_t on = 1; on <= 32; ++on) {
    const std::uint32_t mask = kAll >> (32 - on);
    // Without neighbours that share an address: only lanes 0 to 15 come together, lane 31 off.
    const std::uint32_t quarters = (on + 7) / 8, joined = on > 8 && on < 32 ? 1 : 0;
    EXPECT_EQ(load(16, strided(0), mask), exactly((on + 15) / 16, (on + 15) / 16));
    EXPECT_EQ(store(16, strided(16), mask), exactly(quarters, quarters));
    // Lanes 0 to 15 of a row touch each bank twice.
    EXPECT_EQ(load(16, strided(16), mask), exactly(quarters, quarters));
    Offsets eight;  // 8 float4, each of 4 lanes, none of them neighbours
    for (std::uint32_t lane = 0; lane < 32; ++lane) eight[lane] = lane % 8 * 16;
    EXPECT_EQ(load(16, eight, mask), exactly(quarters - joined, quarters - joined)) << on;
  }
}

TEST(SharedAccess, WhatWasNotMeasuredIsNotCalledExact) {
  const auto cost = [](AccessKind kind, int width) {
    return shared_cost(kind, width, strided(16).data(), kAll);
  };
  EXPECT_TRUE(cost(AccessKind::shared_atomic, 8).exact);
  EXPECT_THAT(estimate_reason(AccessKind::shared_store, 16), IsEmpty());
  EXPECT_FALSE(cost(AccessKind::shared_popc_increment, 8).exact);
  EXPECT_THAT(estimate_reason(AccessKind::shared_popc_increment, 8), Not(IsEmpty()));
  EXPECT_FALSE(cost(AccessKind::async_copy, 16).exact);  // the global addresses are unknown
  EXPECT_THAT(estimate_reason(AccessKind::async_copy, 16), Not(IsEmpty()));
}

TEST(SharedAccess, NoLaneCostsNothing) {
  EXPECT_EQ(load(4, strided(4), 0), exactly(0, 0));
  EXPECT_EQ(spread(4, 4, 0), GlobalCost{});
}

TEST(SharedAccess, AtomicsOfOneWordTakeTurnsExceptIncrements) {
  const auto cost = [](AccessKind kind, std::uint32_t stride, std::uint32_t mask = kAll) {
    return shared_cost(kind, 4, strided(stride).data(), mask);
  };
  EXPECT_EQ(cost(AccessKind::shared_atomic, 4), exactly(1, 1));
  EXPECT_EQ(cost(AccessKind::shared_atomic, 0), exactly(32, 1));
  EXPECT_EQ(cost(AccessKind::shared_atomic, 0, 0xff), exactly(8, 1));
  EXPECT_EQ(cost(AccessKind::shared_popc_increment, 0), exactly(1, 1));
  EXPECT_EQ(cost(AccessKind::shared_popc_increment, 128), exactly(32, 1));
  EXPECT_EQ(cost(AccessKind::shared_cas, 4), exactly(2, 2));
  EXPECT_EQ(cost(AccessKind::shared_cas, 0), exactly(64, 2));
}

TEST(SharedAccess, MatricesCostAWavefrontForEightRows) {
  const auto cost = [](std::uint32_t pitch, std::uint32_t row_lanes) {
    return shared_cost(AccessKind::ldmatrix, 16, strided(pitch).data(), row_lanes);
  };
  EXPECT_EQ(cost(16, 0xff), exactly(1, 1));
  EXPECT_EQ(cost(16, 0xffff), exactly(2, 2));
  EXPECT_EQ(cost(16, kAll), exactly(4, 4));
  EXPECT_EQ(cost(128, 0xff), exactly(8, 1));       // rows of a tile of 64 halves
  EXPECT_EQ(cost(128 + 16, kAll), exactly(4, 4));  // the same, padded
}

TEST(GlobalAccess, SectorsOfStrides) {
  EXPECT_EQ(spread(4, 4), (GlobalCost{4, 4, 1}));
  EXPECT_EQ(spread(4, 8), (GlobalCost{8, 4, 2}));
  EXPECT_EQ(spread(4, 32), (GlobalCost{32, 4, 8}));
  EXPECT_EQ(spread(4, 4096), (GlobalCost{32, 4, 32}));
  EXPECT_EQ(spread(4, 0), (GlobalCost{1, 1, 1}));
  EXPECT_EQ(spread(1, 1), (GlobalCost{1, 1, 1}));
  EXPECT_EQ(spread(8, 8), (GlobalCost{8, 8, 2}));
  EXPECT_EQ(spread(16, 16), (GlobalCost{16, 16, 4}));
  EXPECT_EQ(spread(32, 32), (GlobalCost{32, 32, 8}));
  EXPECT_EQ(spread(4, 4, 0x000000ff), (GlobalCost{1, 1, 1}));
  EXPECT_EQ(spread(4, 4, 0x80000001), (GlobalCost{2, 1, 1}));
}

TEST(GlobalAccess, TheOrderOfTheLanesDoesNotMatter) {
  Addresses addresses = global_addresses(strided(36));
  const GlobalCost ascending = global_cost(4, addresses.data(), kAll);
  EXPECT_EQ(ascending, (GlobalCost{32, 4, 9}));
  std::ranges::reverse(addresses);
  EXPECT_EQ(global_cost(4, addresses.data(), kAll), ascending);
  std::swap(addresses[3], addresses[29]);
  EXPECT_EQ(global_cost(4, addresses.data(), kAll), ascending);
}

TEST(GlobalAccess, UnalignedRowsTouchOneSectorMore) {
  Addresses addresses = global_addresses(strided(4));
  for (std::uint64_t& address : addresses) address += 4;
  EXPECT_EQ(global_cost(4, addresses.data(), kAll), (GlobalCost{5, 4, 2}));
}

AsyncCost copy(AccessKind kind, int width, const Offsets& to, const Offsets& from,
               std::uint32_t mask = kAll) {
  return async_cost(kind, width, to.data(), global_addresses(from).data(), mask);
}

TEST(AsyncCopy, OfARowCostsWhatItsBytesNeed) {
  const auto row = [](AccessKind kind, std::uint32_t width) {
    return copy(kind, static_cast<int>(width), strided(width), strided(width));
  };
  for (const std::uint32_t width : {4u, 8u, 16u}) {
    const AsyncCost cost = row(AccessKind::async_copy, width);
    EXPECT_EQ(cost.shared, exactly(width / 4, width / 4)) << width;
    EXPECT_EQ(cost.global, (GlobalCost{width, width, width / 4})) << width;
  }
  EXPECT_EQ(row(AccessKind::async_copy_bypass, 16).shared, exactly(4, 4));
  EXPECT_EQ(row(AccessKind::async_copy_bypass, 16).global, (GlobalCost{16, 16, 4}));
}

TEST(AsyncCopy, WaitsForBanksOfBothSides) {
  using enum AccessKind;
  // A column of a matrix of 32 floats a row into a row, and back.
  EXPECT_EQ(copy(async_copy, 4, strided(4), strided(128)).shared, exactly(32, 1));
  EXPECT_EQ(copy(async_copy, 4, strided(4), strided(128)).global, (GlobalCost{32, 4, 32}));
  EXPECT_EQ(copy(async_copy, 4, strided(128), strided(4)).shared, exactly(32, 1));
  EXPECT_EQ(copy(async_copy, 4, strided(132), strided(4)).shared, exactly(1, 1));
  // Lane 0 shares a bank with lane 1 where they write, with lane 2 where they read.
  Offsets to = strided(4), from = strided(4);
  to[1] = 128;
  from[2] = 128;
  EXPECT_EQ(copy(async_copy, 4, to, from, 0x7).shared, exactly(3, 1));
  EXPECT_EQ(copy(async_copy, 4, to, from, 0x6).shared, exactly(1, 1));
}

TEST(AsyncCopy, OfTilesWithoutL1) {
  const auto tile = [](std::uint32_t lanes_a_row, std::uint32_t pitch, std::uint32_t source_pitch) {
    Offsets to, from;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t row = lane / lanes_a_row, piece = lane % lanes_a_row;
      to[lane] = row * pitch + 16 * piece;
      from[lane] = row * source_pitch + 16 * piece;
    }
    return copy(AccessKind::async_copy_bypass, 16, to, from);
  };
  EXPECT_EQ(tile(8, 128, 4096).shared, exactly(4, 4));  // a row of 128 bytes at once
  EXPECT_EQ(tile(8, 128, 4096).global, (GlobalCost{16, 16, 4}));
  EXPECT_EQ(tile(4, 64, 4096).shared, exactly(8, 4));  // two lines into each row
  EXPECT_EQ(tile(4, 64, 4096).global, (GlobalCost{16, 16, 8}));
  EXPECT_EQ(tile(2, 32, 4096).global, (GlobalCost{16, 16, 16}));
  // Rows of 144 bytes start in the middle of a sector: half a sector is written per request.
  EXPECT_GT(tile(8, 144, 4096).global.sectors, 16u);
}

TEST(AsyncCopy, WithoutL1OnlyTheFirstOfEqualDestinationsCounts) {
  const AsyncCost cost = copy(AccessKind::async_copy_bypass, 16, strided(0), strided(512));
  EXPECT_EQ(cost.shared, exactly(1, 1));
  EXPECT_EQ(cost.global.sectors, 1u);
  // One piece into two sectors of a row: in turns.
  EXPECT_EQ(copy(AccessKind::async_copy_bypass, 16, strided(32), strided(0), 0x3).shared,
            exactly(2, 1));
}

TEST(LocalAccess, EqualOffsetsCoalesce) {
  EXPECT_EQ(local_sectors(4, strided(0).data(), kAll), 4u);
  EXPECT_EQ(local_sectors(8, strided(0).data(), kAll), 8u);
  EXPECT_EQ(local_sectors(16, strided(0).data(), kAll), 16u);
  EXPECT_EQ(local_sectors(1, strided(0).data(), kAll), 4u);
  EXPECT_EQ(local_sectors(1, strided(1).data(), kAll), 8u);  // 8 lanes, 2 words
  EXPECT_EQ(local_sectors(4, strided(4).data(), kAll), 32u);
  EXPECT_EQ(local_sectors(4, strided(0).data(), 0x000000ff), 1u);
  EXPECT_EQ(local_sectors(4, strided(0).data(), 0), 0u);
}

/// The widths of the rows that the table of shared_cost() names.
const std::map<AccessKind, std::set<int>> kMeasuredWidths = {
    {AccessKind::shared_load, {1, 2, 4, 8, 16}},
    {AccessKind::shared_store, {1, 2, 4, 8, 16}},
    {AccessKind::shared_atomic, {4, 8}},
    {AccessKind::shared_popc_increment, {4}},
    {AccessKind::shared_cas, {4, 8}},
    {AccessKind::ldmatrix, {16}},
    {AccessKind::stmatrix, {16}},
    {AccessKind::async_copy, {4, 8, 16}},
    {AccessKind::async_copy_bypass, {16}}};

TEST(SharedAccess, IsExactForTheWidthsThatWereMeasuredAlone) {
  for (const auto& [kind, widths] : kMeasuredWidths) {
    const bool is_copy = kind == AccessKind::async_copy || kind == AccessKind::async_copy_bypass;
    for (const int width : {1, 2, 4, 8, 16}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " of " + std::to_string(width));
      const bool measured = widths.contains(width);
      const Offsets offsets = strided(static_cast<std::uint32_t>(width));
      if (is_copy) {
        const Addresses from = global_addresses(offsets);
        const AsyncCost cost = async_cost(kind, width, offsets.data(), from.data(), kAll);
        EXPECT_EQ(cost.shared.exact, measured);
        EXPECT_EQ(cost.global.exact, measured);
      } else {
        EXPECT_EQ(shared_cost(kind, width, offsets.data(), kAll).exact, measured);
      }
      EXPECT_EQ(estimate_reason(kind, width),
                !measured ? "accesses of this kind and width were never measured"
                : is_copy ? "copies that read nothing were never measured"
                          : "");
    }
  }
}

}  // namespace
}  // namespace warpgauge::metrics::counting_rules_test
