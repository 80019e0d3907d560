// Tensor maps: their bytes, the rules of cuTensorMapEncode*, and the fields of tensormap.replace.
#include "harness/emulator/machine/memory/tensor_map.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warpgauge::emulator::machine::memory::tensor_map_test {
namespace {

using testing::HasSubstr;

/// 4 dimensions of f16, a box of 64 elements and swizzling of 128 bytes.
TensorMap tiled() {
  TensorMap map;
  map.type = TensorMap::Type::f16;
  map.rank = 4;
  map.address = 0x7f0000001000;
  map.size = {100, std::uint64_t{1} << 32, 30, 7, 1};
  map.stride = {208, (std::uint64_t{1} << 40) - 16, 64, 0};
  map.box = {64, 256, 3, 4, 1};
  map.step = {1, 2, 8, 1, 1};
  map.swizzle = Swizzle::span_128;
  map.l2_promotion = 2;
  map.fill = TensorMap::Fill::nan;
  return map;
}

TensorMap im2col() {
  TensorMap map = tiled();
  map.mode = TensorMap::Mode::im2col;
  map.size = {64, 20, 30, 8, 1};
  map.lower = {-1, -128, 0};
  map.upper = {127, -1, 0};
  map.channels = 64;
  map.pixels = 1024;
  return map;
}

TEST(TensorMapTest, IsReadAsItWasWritten) {
  alignas(64) std::array<std::byte, kTensorMapBytes> bytes;
  for (const TensorMap& map : {TensorMap{}, tiled(), im2col()}) {
    write_tensor_map(map, bytes.data());
    EXPECT_EQ(read_tensor_map(bytes.data()), map);
  }
}

TEST(TensorMapTest, OtherBytesAreNoTensorMap) {
  std::array<std::byte, kTensorMapBytes> bytes{};
  const auto reading = [&] { read_tensor_map(bytes.data()); };
  EXPECT_THAT(reading, testing::ThrowsMessage<BadTensorMap>(HasSubstr("no tensor map is there")));
  write_tensor_map(tiled(), bytes.data());
  bytes[1] ^= std::byte{1};
  EXPECT_THROW(reading(), BadTensorMap);
}

TEST(TensorMapTest, KeepsAllRules) {
  EXPECT_EQ(broken_rule(TensorMap{.box = {16, 1, 1, 1, 1}}, 90), std::nullopt);
  EXPECT_EQ(broken_rule(tiled(), 90), std::nullopt);
  EXPECT_EQ(broken_rule(im2col(), 90), std::nullopt);
}

TEST(TensorMapTest, TakesWhatTheDriverTakes) {
  TensorMap map = tiled();
  map.stride = {0, 16, 64, 1};  // the last one is past the rank
  map.size[4] = 0;
  map.address = 0;
  EXPECT_EQ(broken_rule(map, 90), std::nullopt);
  map.interleave = TensorMap::Interleave::slices_16;
  EXPECT_EQ(broken_rule(map, 90), std::nullopt);
}

struct Breach {
  std::function<void(TensorMap&)> breaks;
  std::string message;
};

void expect_broken(const TensorMap& good, const std::vector<Breach>& breaches) {
  for (const auto& [breaks, message] : breaches) {
    TensorMap map = good;
    breaks(map);
    EXPECT_EQ(broken_rule(map, 90), message);
  }
}

constexpr auto kNoType = static_cast<TensorMap::Type>(16);

TEST(TensorMapTest, PackedTypesHaveRulesOfTheirOwn) {
  TensorMap packed = tiled();
  packed.type = TensorMap::Type::u4x16;
  packed.fill = TensorMap::Fill::zero;
  packed.box[0] = 256;  // 128 bytes
  EXPECT_EQ(broken_rule(packed, 120), std::nullopt);
  const auto broken = [&](const std::function<void(TensorMap&)>& breaks) {
    TensorMap map = packed;
    breaks(map);
    return broken_rule(map, 120).value_or("");
  };
  EXPECT_EQ(broken([](auto& m) { m.size[0] = 99; }),
            "the size of dimension 0 is 99; it has to be even for a packed type");
  EXPECT_EQ(broken([](auto& m) { m.box[0] = 33; }),
            "a row of the box (16 bytes) is not a multiple of 16 bytes");
  EXPECT_EQ(broken([](auto& m) { m.swizzle = Swizzle::span_64; }),
            "a row of the box (128 bytes) is longer than the 64 bytes of the swizzling");
  EXPECT_THAT(broken([](auto& m) { m.mode = TensorMap::Mode::im2col; }), HasSubstr("im2col"));
}

TEST(TensorMapTest, NamesTheBrokenRuleOfItsForm) {
  expect_broken(
      tiled(),
      {{[](auto& m) { m.type = kNoType; }, "the data type is 16, which is none"},
       {[](auto& m) { m.type = TensorMap::Type::u4x16_p64; },
        "packed types of 4 and 6 bits with gaps are not emulated"},
       {[](auto& m) { m.type = TensorMap::Type::u4x16; },
        "packed types need compute capability 10.0"},
       {[](auto& m) { m.interleave = static_cast<TensorMap::Interleave>(3); },
        "the interleaved layout is 3, which is none"},
       {[](auto& m) { m.swizzle = static_cast<Swizzle>(7); }, "the swizzling is 7, which is none"},
       {[](auto& m) { m.swizzle = Swizzle::span_128_atom_32; },
        "swizzling with atoms of 32 or 64 bytes needs compute capability 10.0"},
       {[](auto& m) { m.l2_promotion = 4; }, "the L2 promotion is 4, which is none"},
       {[](auto& m) { m.fill = static_cast<TensorMap::Fill>(2); }, "the fill is 2, which is none"},
       {[](auto& m) { m.type = TensorMap::Type::u16; },
        "only elements of a floating-point type are filled with NaN"},
       {[](auto& m) { m.rank = 0; }, "the rank is 0; it has to be 1 to 5"},
       {[](auto& m) { m.rank = 6; }, "the rank is 6; it has to be 1 to 5"},
       {[](auto& m) {
          m.rank = 2;
          m.interleave = TensorMap::Interleave::slices_16;
        },
        "the rank is 2; it has to be 3 to 5 for im2col and interleaved layouts"},
       {[](auto& m) { m.interleave = TensorMap::Interleave::slices_32; },
        "the interleaved layout of 32 bytes needs swizzling of 32 bytes"}});
  TensorMap atoms = tiled();
  atoms.swizzle = Swizzle::span_128_atom_64;
  EXPECT_EQ(broken_rule(atoms, 100), std::nullopt);
}

void interleave_32(TensorMap& map) {
  map.interleave = TensorMap::Interleave::slices_32;
  map.swizzle = Swizzle::span_32;
  map.stride = {224, 256, 64, 0};
}

TEST(TensorMapTest, NamesTheBrokenRuleOfTheTensor) {
  expect_broken(
      tiled(),
      {{[](auto& m) { m.address += 8; },
        "the address of the tensor (0x7f0000001008) is not a multiple of 16"},
       {[](auto& m) {
          interleave_32(m);
          m.address += 16;
        },
        "the address of the tensor (0x7f0000001010) is not a multiple of 32"},
       {[](auto& m) { m.size[3] = 0; }, "the size of dimension 3 is 0; it has to be 1 to 2^32"},
       {[](auto& m) { ++m.size[1]; },
        "the size of dimension 1 is 4294967297; it has to be 1 to 2^32"},
       {[](auto& m) { m.stride[0] = 200; },
        "the stride of dimension 1 (200 bytes) is not a multiple of 16"},
       {[](auto& m) {
          interleave_32(m);
          m.stride[0] = 208;
        },
        "the stride of dimension 1 (208 bytes) is not a multiple of 32"},
       {[](auto& m) { m.stride[1] += 16; },
        "the stride of dimension 2 (1099511627776 bytes) is not less than 2^40"}});
}

TEST(TensorMapTest, NamesTheBrokenRuleOfTheBox) {
  expect_broken(
      tiled(),
      {{[](auto& m) { m.box[2] = 0; }, "the box of dimension 2 is 0; it has to be 1 to 256"},
       {[](auto& m) { m.box[1] = 257; }, "the box of dimension 1 is 257; it has to be 1 to 256"},
       {[](auto& m) { m.box[0] = 60; },
        "a row of the box (120 bytes) is not a multiple of 16 bytes"},
       {[](auto& m) { m.box[0] = 72; },
        "a row of the box (144 bytes) is longer than the 128 bytes of the swizzling"},
       {[](auto& m) { m.swizzle = Swizzle::span_64; },
        "a row of the box (128 bytes) is longer than the 64 bytes of the swizzling"},
       {[](auto& m) { m.swizzle = Swizzle::span_32; },
        "a row of the box (128 bytes) is longer than the 32 bytes of the swizzling"},
       {[](auto& m) { m.step[1] = 0; },
        "the element stride of dimension 1 is 0; it has to be 1 to 8"},
       {[](auto& m) { m.step[3] = 9; },
        "the element stride of dimension 3 is 9; it has to be 1 to 8"},
       {[](auto& m) { m.step[0] = 9; },
        "the element stride of dimension 0 is 9; it has to be 1 to 8"}});
}

TEST(TensorMapTest, NamesTheBrokenRuleOfIm2col) {
  expect_broken(
      im2col(),
      {{[](auto& m) { m.rank = 2; },
        "the rank is 2; it has to be 3 to 5 for im2col and interleaved layouts"},
       {[](auto& m) { m.channels = 0; },
        "the number of channels per pixel is 0; it has to be 1 to 256"},
       {[](auto& m) { m.channels = 257; },
        "the number of channels per pixel is 257; it has to be 1 to 256"},
       {[](auto& m) { m.pixels = 0; },
        "the number of pixels per column is 0; it has to be 1 to 1024"},
       {[](auto& m) { m.pixels = 1025; },
        "the number of pixels per column is 1025; it has to be 1 to 1024"},
       {[](auto& m) { m.lower[1] = -129; },
        "a corner of the pixel box is -129; it has to be -128 to 127"},
       {[](auto& m) { m.upper[0] = 128; },
        "a corner of the pixel box is 128; it has to be -128 to 127"},
       {[](auto& m) {
          m.rank = 3;
          m.lower[0] = 32768;
        },
        "a corner of the pixel box is 32768; it has to be -32768 to 32767"},
       {[](auto& m) {
          m.rank = 5;
          m.upper = {0, 0, -17};
          m.lower = {0, 0, 0};
        },
        "a corner of the pixel box is -17; it has to be -16 to 15"},
       {[](auto& m) {
          m.lower[0] = 0;
          m.upper[0] = -20;
        },
        "the pixel box of dimension 1 is empty"},
       {[](auto& m) { m.channels = 60; }, "a pixel (120 bytes) is not a multiple of 16 bytes"},
       {[](auto& m) { m.channels = 128; },
        "a pixel (256 bytes) is longer than the 128 bytes of the swizzling"}});
}

TEST(TensorMapTest, ReplacesFields) {
  TensorMap map = tiled(), wanted = map;
  replace_field(map, TensorMapField::global_address, 0, 0x1230);
  wanted.address = 0x1230;
  replace_field(map, TensorMapField::rank, 0, 4);
  wanted.rank = 5;
  replace_field(map, TensorMapField::box_dim, 3, 9);
  wanted.box[3] = 9;
  replace_field(map, TensorMapField::global_dim, 4, 77);
  wanted.size[4] = 77;
  replace_field(map, TensorMapField::global_dim, 0, 0);
  wanted.size[0] = std::uint64_t{1} << 32;
  replace_field(map, TensorMapField::global_stride, 3, 4096);
  wanted.stride[3] = 4096;
  replace_field(map, TensorMapField::element_stride, 2, 3);
  wanted.step[2] = 3;
  replace_field(map, TensorMapField::interleave_layout, 0, 1);
  wanted.interleave = TensorMap::Interleave::slices_16;
  replace_field(map, TensorMapField::swizzle_mode, 0, 3);
  replace_field(map, TensorMapField::swizzle_atomicity, 0, 2);
  wanted.swizzle = Swizzle::span_128_atom_32_flip_8;
  replace_field(map, TensorMapField::fill_mode, 0, 0);
  wanted.fill = TensorMap::Fill::zero;
  EXPECT_EQ(map, wanted);
}

TEST(TensorMapTest, ZerosAreAMapToChange) {
  std::array<std::byte, kTensorMapBytes> bytes{};
  EXPECT_EQ(read_map_to_change(bytes.data()), TensorMap{});
  write_tensor_map(tiled(), bytes.data());
  EXPECT_EQ(read_map_to_change(bytes.data()), tiled());
  bytes = {};
  bytes.back() = std::byte{1};
  EXPECT_THROW(read_map_to_change(bytes.data()), BadTensorMap);
}

TEST(TensorMapTest, ReplacesTypesByTheNumbersOfPtx) {
  using enum TensorMap::Type;
  const std::array kTypes = {u8,      u16, u32,  s32,  u64,      s64,   f16,       f32,
                             f32_ftz, f64, bf16, tf32, tf32_ftz, u4x16, u4x16_p64, u6x16_p32};
  TensorMap map = tiled();
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    replace_field(map, TensorMapField::elemtype, 0, i);
    EXPECT_EQ(map.type, kTypes[i]);
  }
}

TEST(TensorMapTest, ReplacesAtoms) {
  TensorMap map = tiled();
  const std::array kAtoms = {Swizzle::span_128, Swizzle::span_128_atom_32,
                             Swizzle::span_128_atom_32_flip_8, Swizzle::span_128_atom_64};
  for (std::size_t i = 0; i < kAtoms.size(); ++i) {
    replace_field(map, TensorMapField::swizzle_atomicity, 0, i);
    EXPECT_EQ(map.swizzle, kAtoms[i]);
  }
  map.swizzle = Swizzle::span_64;
  replace_field(map, TensorMapField::swizzle_atomicity, 0, 0);
  EXPECT_EQ(map.swizzle, Swizzle::span_64);
}

TEST(TensorMapTest, RefusesValuesWithoutMeaning) {
  struct Row {
    TensorMapField field;
    int ordinal;
    std::uint64_t value;
    const char* message;
  };
  const Row rows[] = {
      {TensorMapField::rank, 0, 5, "gives rank the value 5, which has no meaning"},
      {TensorMapField::elemtype, 0, 16, "gives elemtype the value 16"},
      {TensorMapField::interleave_layout, 0, 3, "gives interleave_layout the value 3"},
      {TensorMapField::swizzle_mode, 0, 5, "gives swizzle_mode the value 5"},
      {TensorMapField::swizzle_mode, 0, 4, "swizzling of 96 bytes is not emulated"},
      {TensorMapField::swizzle_atomicity, 0, 4, "gives swizzle_atomicity the value 4"},
      {TensorMapField::fill_mode, 0, 2, "gives fill_mode the value 2"},
      {TensorMapField::element_stride, 0, 65536, "gives element_stride the value 65536"},
      {TensorMapField::box_dim, 5, 1, "names dimension 5 of box_dim, which has 5"},
      {TensorMapField::global_dim, -1, 1, "names dimension -1 of global_dim"},
      {TensorMapField::global_stride, 4, 16, "names dimension 4 of global_stride, which has 4"},
  };
  for (const Row& row : rows) {
    TensorMap map = tiled();
    const auto replacing = [&] { replace_field(map, row.field, row.ordinal, row.value); };
    EXPECT_THAT(replacing, testing::ThrowsMessage<BadTensorMap>(HasSubstr(row.message)));
  }
  TensorMap map = tiled();
  map.swizzle = Swizzle::span_64;
  EXPECT_THROW(replace_field(map, TensorMapField::swizzle_atomicity, 0, 1), BadTensorMap);
}

class DriverTensorMapTest : public testing::Test {
 protected:
  CUresult tiled_of(cuuint32_t rank) {
    return cuTensorMapEncodeTiled(&map_, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, address_, sizes_,
                                  strides_, box_, steps_, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  }
  CUresult im2col_of(cuuint32_t rank) {
    return cuTensorMapEncodeIm2col(
        &map_, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, address_, sizes_, strides_, lower_, upper_,
        16, 32, steps_, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  TensorMap written() const { return read_tensor_map(reinterpret_cast<const std::byte*>(&map_)); }

  alignas(64) CUtensorMap map_{};
  void* address_ = reinterpret_cast<void*>(0x7f0000000000);
  cuuint64_t sizes_[5] = {40, 20, 10, 5, 3};
  cuuint64_t strides_[4] = {160, 3200, 32000, 160000};
  cuuint32_t box_[5] = {16, 8, 4, 2, 1};
  cuuint32_t steps_[5] = {1, 2, 1, 1, 1};
  int lower_[3] = {-1, -2, -3}, upper_[3] = {1, 2, 3};
};

TEST_F(DriverTensorMapTest, TiledIsWritten) {
  for (cuuint32_t rank = 1; rank <= 5; ++rank) {
    ASSERT_EQ(tiled_of(rank), CUDA_SUCCESS);
    const TensorMap map = written();
    EXPECT_EQ(map.rank, static_cast<int>(rank));
    EXPECT_EQ(map.type, TensorMap::Type::f32);
    EXPECT_EQ(map.size[rank - 1], sizes_[rank - 1]);
    EXPECT_EQ(map.box[rank - 1], box_[rank - 1]);
    for (cuuint32_t beyond = rank; beyond < 5; ++beyond) EXPECT_EQ(map.box[beyond], 1u) << rank;
    EXPECT_EQ(map.swizzle, Swizzle::span_64);
    EXPECT_EQ(map.fill, TensorMap::Fill::nan);
    EXPECT_EQ(map.l2_promotion, 2);
  }
}

TEST_F(DriverTensorMapTest, Im2colIsWritten) {
  ASSERT_EQ(im2col_of(5), CUDA_SUCCESS);
  const TensorMap map = written();
  EXPECT_EQ(map.mode, TensorMap::Mode::im2col);
  EXPECT_EQ(map.lower, (std::array{-1, -2, -3}));
  EXPECT_EQ(map.upper, (std::array{1, 2, 3}));
  EXPECT_EQ(map.channels, 16u);
  EXPECT_EQ(map.pixels, 32u);
}

TEST_F(DriverTensorMapTest, TheReasonIsSaid) {
  box_[0] = 15;
  testing::internal::CaptureStderr();
  EXPECT_EQ(tiled_of(2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warpgauge emulator: cuTensorMapEncodeTiled: a row of the box (60 bytes) is not a "
            "multiple of 16 bytes\n");
  EXPECT_EQ(tiled_of(0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(tiled_of(1000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(im2col_of(2), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTensorMapTest, TheAddressIsReplaced) {
  EXPECT_EQ(cuTensorMapReplaceAddress(&map_, address_), CUDA_ERROR_INVALID_VALUE)
      << "nothing was encoded";
  ASSERT_EQ(tiled_of(3), CUDA_SUCCESS);
  EXPECT_EQ(cuTensorMapReplaceAddress(&map_, reinterpret_cast<void*>(0x4000)), CUDA_SUCCESS);
  EXPECT_EQ(written().address, 0x4000u);
  EXPECT_EQ(cuTensorMapReplaceAddress(&map_, reinterpret_cast<void*>(0x4008)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(written().address, 0x4000u);
}

TEST_F(DriverTensorMapTest, PointersAreChecked) {
  EXPECT_EQ(cuTensorMapReplaceAddress(nullptr, address_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTensorMapEncodeTiled(nullptr, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, address_, sizes_,
                                   strides_, box_, steps_, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_ERROR_INVALID_VALUE);
  alignas(64) std::array<std::byte, 256> bytes{};
  EXPECT_EQ(
      cuTensorMapEncodeTiled(reinterpret_cast<CUtensorMap*>(bytes.data() + 8),
                             CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, address_, sizes_, nullptr, box_,
                             steps_, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTensorMapTest, Im2colWideIsRefused) {
  EXPECT_EQ(cuTensorMapEncodeIm2colWide(
                &map_, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, address_, sizes_, strides_, 0, 0, 16, 32,
                steps_, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::memory::tensor_map_test
