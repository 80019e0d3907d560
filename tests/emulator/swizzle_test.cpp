// Swizzling against the tables of the PTX ISA, "Swizzling Modes".
#include "harness/emulator/machine/memory/swizzle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace warpgauge::emulator::machine::memory::swizzle_test {
namespace {

constexpr std::array kAll = {Swizzle::none,
                             Swizzle::span_32,
                             Swizzle::span_64,
                             Swizzle::span_128,
                             Swizzle::span_128_atom_32,
                             Swizzle::span_128_atom_32_flip_8,
                             Swizzle::span_128_atom_64};

/// The table of the documentation: which 16 bytes lie in column `column` of line `line`.
std::uint32_t chunk_in_table(Swizzle swizzle, std::uint32_t line, std::uint32_t column) {
  switch (swizzle) {
    case Swizzle::none:
      return column;
    case Swizzle::span_32:  // 0 1 2 3 .., 1 0 3 2 ..
      return line % 2 == 0 ? column : (column % 2 == 0 ? column + 1 : column - 1);
    case Swizzle::span_64: {
      constexpr std::uint32_t kTable[4][4] = {
          {0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
      return column / 4 * 4 + kTable[line % 4][column % 4];
    }
    case Swizzle::span_128: {
      constexpr std::uint32_t kTable[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
                                              {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
                                              {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                              {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
      return kTable[line % 8][column];
    }
    case Swizzle::span_128_atom_32:
    case Swizzle::span_128_atom_32_flip_8: {
      constexpr std::uint32_t kTable[4][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                              {2, 3, 0, 1, 6, 7, 4, 5},
                                              {4, 5, 6, 7, 0, 1, 2, 3},
                                              {6, 7, 4, 5, 2, 3, 0, 1}};
      return kTable[line % 4][column];
    }
    case Swizzle::span_128_atom_64:
      return line % 2 == 0 ? column : (column + 4) % 8;
  }
  return 0;
}

/// The place of a byte by the table.
std::uint32_t place_in_table(Swizzle swizzle, std::uint32_t address) {
  const std::uint32_t line = address / 128;
  std::uint32_t column = 0;
  while (chunk_in_table(swizzle, line, column) != address / 16 % 8) ++column;
  std::uint32_t byte = address % 16;
  if (swizzle == Swizzle::span_128_atom_32_flip_8 && line % 2 == 1) byte = (byte + 8) % 16;
  return line * 128 + column * 16 + byte;
}

TEST(SwizzleTest, FollowsTheTables) {
  for (const Swizzle swizzle : kAll) {
    for (std::uint32_t address = 0; address < 4096; ++address) {
      ASSERT_EQ(swizzled(swizzle, address), place_in_table(swizzle, address))
          << static_cast<int>(swizzle) << " at " << address;
    }
  }
}

TEST(SwizzleTest, IsItsOwnInverseAndRepeats) {
  for (const Swizzle swizzle : kAll) {
    const std::uint32_t period = swizzle_period(swizzle);
    for (std::uint32_t address = 0; address < 2048; ++address) {
      EXPECT_EQ(swizzled(swizzle, swizzled(swizzle, address)), address);
      EXPECT_EQ(swizzled(swizzle, address + period), swizzled(swizzle, address) + period);
    }
  }
}

TEST(SwizzleTest, SpreadsColumnsOverTheBanks) {
  // The first 16 bytes of 8 rows of 128 bytes lie in different banks.
  std::set<std::uint32_t> columns;
  for (std::uint32_t row = 0; row < 8; ++row) {
    columns.insert(swizzled(Swizzle::span_128, row * 128) % 128);
  }
  EXPECT_EQ(columns.size(), 8u);
}

std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + i / 251 + 1);
  return out;
}

TEST(SwizzleTest, CopiesThereAndBackAtAnyPlaceAndLength) {
  const std::vector<std::byte> from = counted(700);
  for (const Swizzle swizzle : kAll) {
    for (const std::uint32_t address : {0u, 128u, 896u, 16u, 200u, 1029u}) {
      for (const std::uint32_t bytes : {0u, 1u, 5u, 8u, 16u, 17u, 128u, 130u, 256u, 700u}) {
        std::vector<std::byte> shared(2048, std::byte{0xee});
        copy_to_swizzled(swizzle, shared.data(), address, from.data(), bytes);
        for (std::uint32_t i = 0; i < bytes; ++i) {
          ASSERT_EQ(shared[place_in_table(swizzle, address + i)], from[i])
              << static_cast<int>(swizzle) << " " << address << " " << bytes << " " << i;
        }
        const auto untouched = std::ranges::count(shared, std::byte{0xee});
        const auto used = std::ranges::count(from.begin(), from.begin() + bytes, std::byte{0xee});
        ASSERT_EQ(untouched, static_cast<std::ptrdiff_t>(shared.size()) - bytes + used);
        std::vector<std::byte> back(from.size());
        copy_from_swizzled(swizzle, back.data(), shared.data(), address, bytes);
        ASSERT_TRUE(std::equal(back.begin(), back.begin() + bytes, from.begin()));
      }
    }
  }
}

TEST(SwizzleTest, FillsWithAPattern) {
  std::vector<std::byte> shared(2048);
  fill_swizzled(Swizzle::span_128, shared.data(), 128, 130, 0x7ff7);
  for (std::uint32_t i = 0; i < 130; ++i) {
    EXPECT_EQ(shared[swizzled(Swizzle::span_128, 128 + i)], std::byte(i % 2 == 0 ? 0xf7 : 0x7f));
  }
  EXPECT_EQ(std::ranges::count(shared, std::byte{0}), 2048 - 130);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::memory::swizzle_test
