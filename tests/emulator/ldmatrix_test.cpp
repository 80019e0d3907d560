// ldmatrix and stmatrix: which lane gets which elements (PTX ISA, "ldmatrix": lane l has row l/4,
// columns 2 (l mod 4) and the next), and what they count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "harness/emulator/machine/core/window.h"
#include "tests/emulator/memory_bench.h"

namespace warpgauge::emulator::machine::ldmatrix_test {
namespace {

using ::testing::HasSubstr;

class MatrixMoves : public MemoryInstructions {
 protected:
  void SetUp() override {
    MemoryInstructions::SetUp();
    if (!IsSkipped()) halves_ = reinterpret_cast<std::uint16_t*>(bench().shared);
  }
  /// Row r of matrix m begins at (8 m + r) * stride bytes; its element c is number_of(m, r, c).
  void lay_out(std::uint32_t stride) {
    bench().fill<std::uint32_t>("%r9", [&](int lane) { return stride * lane; });
    for (int m = 0; m < 4; ++m) {
      for (int r = 0; r < 8; ++r) {
        for (int c = 0; c < 8; ++c) halves_[stride / 2 * (8 * m + r) + c] = number_of(m, r, c);
      }
    }
  }
  static std::uint16_t number_of(int matrix, int row, int column) {
    return static_cast<std::uint16_t>(1000 * (matrix + 1) + 10 * row + column);
  }
  std::uint32_t loaded(int matrix, int lane) {
    return bench().reg<std::uint32_t>("%r" + std::to_string(matrix + 1))[lane];
  }
  std::uint16_t* halves_ = nullptr;
};
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(MatrixMoves);

constexpr const char* kLoad[] = {
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r9];",
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r9];",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r9];"};
constexpr const char* kLoadTransposed =
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r9];";
constexpr const char* kStore =
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r9], {%r1, %r2, %r3, %r4};";
constexpr const char* kStoreTransposed =
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r9], {%r1, %r2, %r3, %r4};";

TEST_P(MatrixMoves, LanesGetTwoNeighboursOfARow) {
  lay_out(48);
  for (const char* const text : kLoad) {
    for (int m = 0; m < 4; ++m) {
      bench().fill<std::uint32_t>("%r" + std::to_string(m + 1), [](int) { return 0; });
    }
    bench().run(text);
    const int matrices = text == kLoad[0] ? 1 : text == kLoad[1] ? 2 : 4;
    for (int m = 0; m < 4; ++m) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const int row = lane / 4, column = lane % 4 * 2;
        const std::uint32_t expected =
            number_of(m, row, column) | std::uint32_t{number_of(m, row, column + 1)} << 16;
        ASSERT_EQ(loaded(m, lane), m < matrices ? expected : 0u) << text << m << " " << lane;
      }
    }
  }
}

TEST_P(MatrixMoves, TransposedLanesGetTwoNeighboursOfAColumn) {
  lay_out(16);
  bench().run(kLoadTransposed);
  for (int m = 0; m < 4; ++m) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = lane % 4 * 2, column = lane / 4;
      ASSERT_EQ(loaded(m, lane),
                number_of(m, row, column) | std::uint32_t{number_of(m, row + 1, column)} << 16);
    }
  }
}

TEST_P(MatrixMoves, StoresPutBackWhatLoadsGot) {
  for (const auto& [load, store] :
       {std::pair{kLoad[2], kStore}, std::pair{kLoadTransposed, kStoreTransposed}}) {
    lay_out(80);
    bench().run(load);
    std::fill(halves_, halves_ + MemoryBench::kSharedBytes / 2, 0);
    bench().run(store);
    for (int m = 0; m < 4; ++m) {
      for (int r = 0; r < 8; ++r) {
        for (int c = 0; c < 8; ++c) ASSERT_EQ(halves_[40 * (8 * m + r) + c], number_of(m, r, c));
      }
    }
  }
}

TEST_P(MatrixMoves, AddressesMayBeGeneric) {
  lay_out(16);
  bench().fill<std::uint64_t>("%rd9", [](int lane) {
    return window_base(Window::shared) + 16 * static_cast<std::uint64_t>(lane);
  });
  bench().run("ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%rd9+128];");
  EXPECT_EQ(loaded(0, 5), number_of(1, 1, 2) | std::uint32_t{number_of(1, 1, 3)} << 16);
}

TEST_P(MatrixMoves, TheDestinationMayBeTheAddress) {
  lay_out(16);
  bench().run("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r9, %r2}, [%r9];");
  EXPECT_EQ(bench().reg<std::uint32_t>("%r2")[0],
            number_of(1, 0, 0) | std::uint32_t{number_of(1, 0, 1)} << 16);
}

TEST_P(MatrixMoves, OnlyTheRowsThatCountAreLookedAt) {
  lay_out(16);
  bench().fill<std::uint32_t>("%r9", [](int lane) { return lane < 8 ? 16 * lane : 0x7fffff01; });
  bench().run(kLoad[0]);
  EXPECT_EQ(bench().fault_of(kLoad[1]).kind(), Fault::Kind::misaligned_address);
  bench().fill<std::uint32_t>("%r9", [](int lane) { return lane == 9 ? 8192 : 0; });
  EXPECT_THAT(bench().fault_of(kLoad[1]).what(),
              HasSubstr("invalid shared read of 16 bytes at 0x2000"));
}

TEST_P(MatrixMoves, CountsOneWavefrontForAMatrixWithoutConflicts) {
  lay_out(16);
  for (const char* const text : kLoad) bench().run(text);
  lay_out(128);  // all rows in the same banks
  for (const char* const text : kLoad) bench().run(text);
  bench().run(kStore);
  for (int n = 0; n < 3; ++n) {
    const AccessTotals totals = bench().totals(kLoad[n]);
    EXPECT_EQ(totals.requests, 2u);
    EXPECT_EQ(totals.wavefronts, (1u << n) + 8 * (1u << n)) << kLoad[n];
    EXPECT_EQ(totals.wavefronts_ideal, 2 * (1u << n)) << kLoad[n];
  }
  EXPECT_EQ(bench().totals(kStore).wavefronts, 32u);
}

TEST_P(MatrixMoves, OtherShapesAreRefused) {
  for (const char* const text :
       {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r9];",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [%r9];",
        "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r1}, [%rd9];"}) {
    EXPECT_THROW(bench().run(text), decode::Unsupported) << text;
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::ldmatrix_test
