// wgmma: products of all types, shapes and layouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/wgmma_product.h"

namespace warpgauge::emulator::machine::wgmma_test {
namespace {

struct Types {
  const TileElement* a;
  const TileElement* b;
  const char* sum;
};
const Types kTypes[] = {{&kTileF16, &kTileF16, "f16"},   {&kTileF16, &kTileF16, "f32"},
                        {&kTileBF16, &kTileBF16, "f32"}, {&kTileTF32, &kTileTF32, "f32"},
                        {&kTileE4M3, &kTileE4M3, "f32"}, {&kTileE4M3, &kTileE5M2, "f32"},
                        {&kTileE5M2, &kTileE4M3, "f16"}, {&kTileE5M2, &kTileE5M2, "f16"},
                        {&kTileS8, &kTileS8, "s32"},     {&kTileS8, &kTileU8, "s32"},
                        {&kTileU8, &kTileS8, "s32"},     {&kTileU8, &kTileU8, "s32"}};

TileProduct product_of(const Types& types, int n) {
  TileProduct product;
  product.a = types.a;
  product.b = types.b;
  product.sum = types.sum;
  product.n = n;
  return product;
}

TEST(Wgmma, AllTypesAndWidths) {
  for (const Types& types : kTypes) {
    for (const int n : {8, 24, 64, 128, 256}) expect_tile_product(product_of(types, n));
  }
  for (const int n : {8, 24, 256}) expect_tile_product(product_of({&kTileB1, &kTileB1, "s32"}, n));
}

TEST(Wgmma, AllLayoutsAlongK) {
  for (const Types& types : kTypes) {
    for (const int swizzle : {32, 64, 128}) {
      TileProduct product = product_of(types, 40);
      if (product.is_integer()) product.n = 48;
      product.a_place = {.swizzle_bytes = swizzle};
      product.b_place = {.swizzle_bytes = 160 - swizzle == 96 ? 64 : 160 - swizzle};
      expect_tile_product(product);
      product.a_place.padding = product.b_place.padding = 1024;
      expect_tile_product(product);
    }
  }
}

TEST(Wgmma, HalvesMayLieTheOtherWay) {
  for (const TileElement* const element : {&kTileF16, &kTileBF16}) {
    for (const int swizzle : {0, 32, 64, 128}) {
      for (const bool a_is_m_major : {false, true}) {
        for (const bool b_is_n_major : {false, true}) {
          TileProduct product = product_of({element, element, "f32"}, 136);
          product.a_place = {.swizzle_bytes = swizzle, .is_mn_major = a_is_m_major};
          product.b_place = {.swizzle_bytes = swizzle, .is_mn_major = b_is_n_major};
          SCOPED_TRACE("swizzle " + std::to_string(swizzle) + (a_is_m_major ? " M" : " K") +
                       (b_is_n_major ? " N" : " K"));
          expect_tile_product(product);
          product.a_place.padding = product.b_place.padding = swizzle == 0 ? 16 : 1024;
          expect_tile_product(product);
        }
      }
    }
  }
}

TEST(Wgmma, ABaseOffsetMovesThePatternOfSwizzling) {
  for (const int swizzle : {32, 64, 128}) {
    for (int base = 1; base < 8; ++base) {
      TileProduct product = product_of(kTypes[1], 64);
      product.a_place = {.swizzle_bytes = swizzle, .base_offset = base};
      product.b_place = {.swizzle_bytes = swizzle, .is_mn_major = true, .base_offset = base};
      expect_tile_product(product);
    }
  }
}

TEST(Wgmma, AMayBeInRegisters) {
  for (const Types& types : kTypes) {
    TileProduct product = product_of(types, 32);
    product.a_is_in_registers = true;
    product.b_place = {.swizzle_bytes = 128};
    expect_tile_product(product);
  }
  TileProduct bits = product_of({&kTileB1, &kTileB1, "s32"}, 16);
  bits.a_is_in_registers = true;
  expect_tile_product(bits);
}

TEST(Wgmma, SumsBeginWithZeroAndProductsAreNegated) {
  for (const Types& types : kTypes) {
    TileProduct product = product_of(types, 16);
    product.adds = false;
    expect_tile_product(product);
    if (product.is_integer()) continue;
    product.negates_a = true;
    expect_tile_product(product);
    product.adds = true;
    expect_tile_product(product);
    product.negates_b = true;
    expect_tile_product(product);
    product.negates_a = false;
    expect_tile_product(product);
  }
}

TEST(Wgmma, IntegersWrapAroundOrSaturate) {
  for (const Types& types : kTypes) {
    TileProduct product = product_of(types, 16);
    if (!product.is_integer()) continue;
    expect_tile_product(product, true);
    product.saturates = true;
    expect_tile_product(product, true);
  }
}

TEST(Wgmma, SparseMatrices) {
  for (const Types& types : kTypes) {
    for (const bool in_registers : {false, true}) {
      TileProduct product = product_of(types, 24);
      product.sparse = true;
      product.a_is_in_registers = in_registers;
      expect_tile_product(product);
      product.a_place.swizzle_bytes = product.b_place.swizzle_bytes = 128;
      product.selector = product.a->bits == 8 ? 0 : 1;
      expect_tile_product(product);
    }
  }
  TileProduct product = product_of(kTypes[1], 256);
  product.sparse = true;
  for (const int swizzle : {0, 32, 64, 128}) {
    for (const bool is_mn_major : {false, true}) {
      product.a_place = product.b_place = {.swizzle_bytes = swizzle, .is_mn_major = is_mn_major};
      expect_tile_product(product);
    }
  }
}

// 0 times infinity is not a number: what A does not have is not multiplied.
TEST(Wgmma, SparseMatricesDoNotMultiplyWhatTheyLack) {
  TileElement infinite = kTileF16;
  TileProduct product = product_of(kTypes[1], 8);
  product.sparse = true;
  static int drawn = 0;
  drawn = 0;
  infinite.make = [](std::mt19937_64&) -> std::uint64_t {
    return drawn++ % 32 == 31 ? 0x7c00 : 0x3c00;
  };
  product.b = &infinite;
  const TileElement ones{"f16", 16, [](std::mt19937_64&) -> std::uint64_t { return 0x3c00; },
                         kTileF16.value};
  product.a = &ones;
  expect_tile_product(product);
}

/// All finite values of a format of kBits bits, in turn.
template <int kBits, std::uint64_t kBeyond>
std::uint64_t next_finite(std::mt19937_64&) {
  static std::uint64_t next = 0;
  constexpr std::uint64_t kSign = std::uint64_t{1} << (kBits - 1);
  do {
    next = (next + (kBits == 8 ? 1 : 37)) & (2 * kSign - 1);
  } while ((next & (kSign - 1)) >= kBeyond);
  return next;
}

// Each element of B is alone in its sum.
TEST(Wgmma, AllValuesOfElements) {
  static std::size_t drawn;
  static std::size_t depth;
  const auto expect = [&](const TileElement& all, std::uint64_t (*make)(std::mt19937_64&),
                          std::uint64_t (*make_one)(std::mt19937_64&)) {
    TileElement a = all, b = all;
    a.make = make_one;
    b.make = make;
    TileProduct product = product_of({&a, &b, "f32"}, 256);
    product.adds = false;
    depth = static_cast<std::size_t>(product.k());
    drawn = 0;
    expect_tile_product(product);
  };
  using Make = std::uint64_t (*)(std::mt19937_64&);
  const auto make_one = [&]<std::uint64_t kOne>() -> Make {
    return [](std::mt19937_64&) -> std::uint64_t {
      const std::size_t n = drawn++;
      return n % depth == n / depth % depth ? kOne : 0;
    };
  };
  expect(kTileF16, next_finite<16, 0x7c00>, make_one.operator()<0x3c00>());
  expect(kTileBF16, next_finite<16, 0x7f80>, make_one.operator()<0x3f80>());
  expect(kTileE4M3, next_finite<8, 0x7f>, make_one.operator()<0x38>());
  expect(kTileE5M2, next_finite<8, 0x7c>, make_one.operator()<0x3c>());
}

/// Zeros go over the tiles as soon as a warp has waited for its products. `left`: groups that the
/// first wait leaves in flight. The sums are of 16 ones.
Words sums_of_overwritten_tiles(int left) {
  constexpr std::uint32_t kShared = 4096, kOnes = 0x3c003c00;
  const std::uint64_t a = tile_descriptor(0, 128, 256, 0), b = tile_descriptor(2048, 128, 256, 0);
  const std::string product = "mov.u64 %rd5, " + std::to_string(a) + ";\nmov.u64 %rd6, " +
                              std::to_string(b) +
                              ";\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                              "{%d0, %d1, %d2, %d3}, %rd5, %rd6, %none, 1, 1, 0, 0;\n"
                              "wgmma.commit_group.sync.aligned;\n";
  const std::string body = R"(
.reg .f32 %d<4>; .reg .pred %none, %more; .reg .b32 %at, %ones, %zero, %n;
setp.ne.s32 %none, %r0, %r0;
mov.b32 %ones, )" + std::to_string(kOnes) +
                           R"(;
mov.b32 %zero, 0;
mov.u32 %at, tiles;
mad.lo.u32 %at, %r0, 32, %at;
mov.b32 %n, 8;
fill:
st.shared.b32 [%at], %ones;
add.u32 %at, %at, 4;
sub.u32 %n, %n, 1;
setp.ne.u32 %more, %n, 0;
@%more bra fill;
fence.proxy.async.shared::cta;
bar.sync 0;
wgmma.fence.sync.aligned;
)" + product + (left > 0 ? "wgmma.commit_group.sync.aligned;\n" : "") +
                           "wgmma.wait_group.sync.aligned " + std::to_string(left) + R"(;
mov.u32 %at, tiles;
mad.lo.u32 %at, %r0, 4, %at;
st.shared.b32 [%at + 0], %zero;
st.shared.b32 [%at + 512], %zero;
st.shared.b32 [%at + 1024], %zero;
st.shared.b32 [%at + 1536], %zero;
st.shared.b32 [%at + 2048], %zero;
wgmma.wait_group.sync.aligned 0;
st.global.f32 [%rd1], %d0;
)";
  Shape shape;
  shape.block = {128, 1, 1};
  shape.dynamic_shared_bytes = kShared;
  return run_kernel(kernel_text(body, ".extern .shared .align 1024 .b8 tiles[];\n"), shape).output;
}

/// A warp may store over the tiles when its wait is over: all four have read them.
TEST(Wgmma, AWaitIsOverWhenAllWarpsOfTheWarpgroupHaveReadTheTiles) {
  constexpr std::uint32_t kSixteen = 0x41800000;
  for (const int left : {0, 1}) {
    EXPECT_EQ(sums_of_overwritten_tiles(left), Words(128, kSixteen)) << left;
  }
}

/// No barrier says that the warps wait for each other; the wait does.
TEST(Wgmma, WarpsThatOnlyWaitForProductsHaveRegistersOfTheirOwn) {
  Shape shape;
  shape.block = {128, 1, 1};
  const auto result = run_kernel(
      kernel_text("mov.b32 %r5, 0;\nagain:\nwgmma.commit_group.sync.aligned;\n"
                  "wgmma.wait_group.sync.aligned 0;\nadd.u32 %r5, %r5, 1;\n"
                  "setp.lt.u32 %p3, %r5, 10;\n@%p3 bra again;\nst.global.u32 [%rd1], %r5;\n"),
      shape);
  EXPECT_EQ(result.output, Words(128, 10));
}

TEST(Wgmma, AWarpThatMakesNoProductsKeepsTheOthersWaiting) {
  const auto fault = fault_of(
      kernel_text("setp.lt.u32 %p3, %r0, 32;\n@%p3 bra behind;\nwgmma.commit_group.sync.aligned;\n"
                  "wgmma.wait_group.sync.aligned 0;\nbehind:\nbar.sync 0;\n"),
      [] {
        Shape shape;
        shape.block = {128, 1, 1};
        return shape;
      }());
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->what(), testing::HasSubstr("waiting for groups of wgmma of the other warps"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::wgmma_test
