// mma with a .kind, of numbers of 4, 6 and 8 bits, against products of matrices that were written
// down as such. Layouts of elements and of scales come from the PTX ISA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/kernel_run.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::mma_narrow_test {
namespace {

using ::testing::HasSubstr;

constexpr int kRows = 16, kColumns = 8;

/// A type of elements, by its definition. Random ones are small enough for sums to be exact.
struct Format {
  std::string name;
  std::uint32_t (*make)(std::mt19937_64&);
  double (*value)(std::uint32_t);
};
double value_of_e2m1(std::uint32_t bits) {
  constexpr std::array<double, 8> kValues = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (bits & 8) != 0 ? -kValues[bits & 7] : kValues[bits & 7];
}
double value_of_six_bits(std::uint32_t bits, int fraction_bits, int bias) {
  const int field = static_cast<int>(bits & 31) >> fraction_bits;
  const double fraction = std::ldexp(bits & ((1u << fraction_bits) - 1), -fraction_bits);
  const double size =
      field == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, field - bias);
  return (bits & 32) != 0 ? -size : size;
}
const Format kE4M3Format{"e4m3", [](auto& random) { return std::uint32_t(random() & 0x8f) | 0x30; },
                         [](std::uint32_t bits) { return value_of(kE4M3, bits); }};
const Format kE5M2Format{"e5m2", [](auto& random) { return std::uint32_t(random() & 0x87) | 0x38; },
                         [](std::uint32_t bits) { return value_of(kE5M2, bits); }};
const Format kE2M3Format{"e2m3", [](auto& random) { return std::uint32_t(random() & 0x3f); },
                         [](std::uint32_t bits) { return value_of_six_bits(bits, 3, 1); }};
const Format kE3M2Format{"e3m2", [](auto& random) { return std::uint32_t(random() & 0x3f); },
                         [](std::uint32_t bits) { return value_of_six_bits(bits, 2, 3); }};
const Format kE2M1Format{"e2m1", [](auto& random) { return std::uint32_t(random() & 0xf); },
                         value_of_e2m1};
/// A format in the middle of a byte, between bits that are ignored.
const Format kE2M1InByte{"e2m1", [](auto& random) { return std::uint32_t(random() & 0xff); },
                         [](std::uint32_t bits) { return value_of_e2m1(bits >> 2 & 0xf); }};

/// The bytes of a lane that are scales, and the lanes of four that have them.
struct Selector {
  int byte = 0, thread = 0;
  std::string text() const {
    return "{" + std::to_string(byte) + ", " + std::to_string(thread) + "}";
  }
};
struct Narrow {
  std::string kind;
  Format a, b;
  int k = 32;
  int blocks = 0;  ///< with scales of their own
  std::string scale = "ue8m0";
  Selector of_a, of_b;

  int bits() const { return k == 64 ? 4 : 8; }
  std::string text() const {
    const std::string types = ".f32." + a.name + "." + b.name + ".f32";
    return "mma.sync.aligned." + kind + ".m16n8k" + std::to_string(k) + ".row.col" + types +
           (blocks == 0 ? "" : "." + scale) +
           " {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}" +
           (blocks == 0 ? "" : ", %s, " + of_a.text() + ", %t, " + of_b.text()) + ";";
  }
  double scale_of(std::uint64_t word, int byte) const {
    const auto bits = static_cast<std::uint32_t>(word >> 8 * byte & 0xff);
    return scale == "ue8m0" ? std::ldexp(1.0, static_cast<int>(bits) - 127) : value_of(kE4M3, bits);
  }
};

const std::string kRegisters =
    ".reg .b32 %a<4>; .reg .b32 %b<2>; .reg .f32 %c<4>; .reg .f32 %d<4>; .reg .b32 %s, %t;";

/// Fills the registers of one operand and says which elements lie there: element i of a register,
/// by the PTX ISA, is next to element i + 1; `group` and `thread` are lane / 4 and lane % 4.
template <typename Visit>
void fill(AluBench& bench, const std::string& prefix, int registers, const Format& format, int bits,
          std::mt19937_64& random, const Visit& visit) {
  const int count = 32 / bits;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int r = 0; r < registers; ++r) {
      std::uint64_t word = 0;
      for (int i = 0; i < count; ++i) {
        const std::uint32_t element = format.make(random);
        word |= std::uint64_t{element} << i * bits;
        visit(lane / 4, lane % 4 * count + i, r, format.value(element));
      }
      bench.set(prefix + std::to_string(r), lane, word);
    }
  }
}

void expect_product(const Narrow& narrow) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(narrow.text() + " on " + isa->name);
    AluBench bench(*isa, kRegisters, narrow.text());
    std::mt19937_64 random(5);
    const int half = narrow.k / 2;
    std::array<std::array<double, 64>, kRows> a{};
    std::array<std::array<double, 64>, kColumns> b{};
    fill(bench, "%a", 4, narrow.a, narrow.bits(), random, [&](int group, int k, int r, double x) {
      a[group + (r % 2 == 0 ? 0 : 8)][k + (r < 2 ? 0 : half)] = x;
    });
    fill(bench, "%b", 2, narrow.b, narrow.bits(), random,
         [&](int group, int k, int r, double x) { b[group][k + r * half] = x; });
    for (int lane = 0; lane < kLanes; ++lane) {
      std::uint64_t s = 0, t = 0;
      for (int byte = 0; byte < 4; ++byte) {
        const std::uint64_t one = narrow.scale == "ue8m0" ? 127 : 0x38;
        s |= (one + random() % 6) << 8 * byte;
        t |= (one + random() % 6) << 8 * byte;
      }
      bench.set("%s", lane, s);
      bench.set("%t", lane, t);
      for (int i = 0; i < 4; ++i) {
        bench.set("%c" + std::to_string(i), lane, to_bits(static_cast<float>(random() % 17)));
      }
    }
    bench.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2;
        const std::string number = std::to_string(i);
        double exact = bits_to<float>(bench.get("%c" + number, lane));
        for (int k = 0; k < narrow.k; ++k) {
          double product = a[row][k] * b[column][k];
          if (narrow.blocks > 0) {
            const int block = k * narrow.blocks / narrow.k;
            const int a_lane = row % 8 * 4 + 2 * narrow.of_a.thread + row / 8;
            const int b_lane = column * 4 + narrow.of_b.thread;
            product *= narrow.scale_of(bench.get("%s", a_lane), narrow.of_a.byte + block) *
                       narrow.scale_of(bench.get("%t", b_lane), narrow.of_b.byte + block);
          }
          exact += product;
        }
        ASSERT_EQ(bits_to<float>(bench.get("%d" + number, lane)), static_cast<float>(exact))
            << "lane " << lane << ", element " << i;
      }
    }
  }
}

TEST(NarrowMma, WithoutScales) {
  const std::string kind = "kind::f8f6f4";
  for (const Format& a : {kE4M3Format, kE5M2Format, kE2M3Format, kE3M2Format, kE2M1InByte}) {
    expect_product({kind, a, kE2M3Format});
    expect_product({kind, kE2M1InByte, a});
  }
}

TEST(NarrowMma, OneScaleForEachRow) {
  const std::string kind = "kind::mxf8f6f4.block_scale";
  expect_product({kind, kE4M3Format, kE5M2Format, 32, 1});
  expect_product({kind + ".scale_vec::1X", kE3M2Format, kE2M1InByte, 32, 1});
  for (int byte = 0; byte < 4; ++byte) {
    expect_product({kind, kE2M3Format, kE4M3Format, 32, 1, "ue8m0", {byte, byte % 2}, {3, byte}});
  }
}

TEST(NarrowMma, SeveralScalesForEachRow) {
  const auto expect = [](const std::string& kind, int blocks, const std::string& scale, Selector a,
                         Selector b) {
    expect_product({kind, kE2M1Format, kE2M1Format, 64, blocks, scale, a, b});
  };
  expect("kind::mxf4.block_scale", 2, "ue8m0", {0, 1}, {2, 3});
  expect("kind::mxf4.block_scale.scale_vec::2X", 2, "ue8m0", {2, 0}, {0, 2});
  expect("kind::mxf4nvf4.block_scale.scale_vec::2X", 2, "ue8m0", {2, 1}, {2, 0});
  expect("kind::mxf4nvf4.block_scale.scale_vec::4X", 4, "ue8m0", {0, 0}, {0, 1});
  expect("kind::mxf4nvf4.block_scale.scale_vec::4X", 4, "ue4m3", {0, 1}, {0, 3});
}

TEST(NarrowMma, ScalesThatAreNoNumbers) {
  const Narrow narrow{"kind::mxf8f6f4.block_scale", kE4M3Format, kE4M3Format, 32, 1};
  AluBench bench(*arithmetic_instruction_sets()[0], kRegisters, narrow.text());
  for (int lane = 0; lane < kLanes; ++lane) {
    bench.set("%s", lane, lane == 4 ? 0xff : 127);  // of row 1
    bench.set("%t", lane, 127);
  }
  bench.run();
  for (int lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(std::isnan(bits_to<float>(bench.get("%d0", lane))), lane / 4 == 1) << lane;
    EXPECT_FALSE(std::isnan(bits_to<float>(bench.get("%d2", lane)))) << lane;
  }
}

TEST(NarrowMma, FormsThatDoNotExist) {
  const auto why = [](const std::string& form, const std::string& scales) {
    return refusal(kRegisters, "mma.sync.aligned." + form +
                                   " {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, "
                                   "{%c0, %c1, %c2, %c3}" +
                                   scales + ";");
  };
  const std::string scales = ", %s, {0, 0}, %t, {0, 0}";
  const std::string four = ".m16n8k64.row.col.f32.e2m1.e2m1.f32";
  EXPECT_EQ(why("kind::mxf4.block_scale" + four + ".ue8m0", scales), "");
  EXPECT_THAT(why("kind::i8" + four, ""), HasSubstr("kind"));
  EXPECT_THAT(why("kind::mxf4" + four + ".ue8m0", scales), HasSubstr("without .block_scale"));
  EXPECT_THAT(why("kind::mxf4.block_scale" + four, scales), HasSubstr("scales of this type"));
  EXPECT_THAT(why("kind::mxf4.block_scale" + four + ".ue4m3", scales),
              HasSubstr("number of scales"));
  EXPECT_THAT(why("kind::mxf4.block_scale" + four + ".ue8m0", ""), HasSubstr("number of operands"));
  EXPECT_THAT(why("kind::mxf4.block_scale.scale_vec::4X" + four + ".ue8m0", scales),
              HasSubstr("number of scales"));
  EXPECT_THAT(why("kind::mxf4nvf4.block_scale" + four + ".ue8m0", scales),
              HasSubstr("number of scales"));
  EXPECT_THAT(why("kind::mxf4nvf4.block_scale.scale_vec::2X" + four + ".ue4m3", scales),
              HasSubstr("number of scales"));
  EXPECT_THAT(why("kind::mxf4.block_scale.m16n8k64.row.col.f32.e4m3.e4m3.f32.ue8m0", scales),
              HasSubstr("types"));
  EXPECT_THAT(why("kind::mxf4.block_scale.m16n8k32.row.col.f32.e2m1.e2m1.f32.ue8m0", scales),
              HasSubstr("shape"));
  EXPECT_THAT(why("kind::f8f6f4.m16n8k32.row.col.f32.s8.s8.f32", ""), HasSubstr("types"));
}

TEST(NarrowMma, SelectorsThatPointNowhere) {
  const auto message = [](const std::string& kind, const std::string& of_a,
                          const std::string& of_b) {
    const std::string types = kind == "mxf8f6f4" ? ".m16n8k32.row.col.f32.e4m3.e4m3.f32"
                                                 : ".m16n8k64.row.col.f32.e2m1.e2m1.f32";
    const auto fault = fault_of(kernel_text(
        kRegisters + "mov.b16 %h1, 1; mma.sync.aligned.kind::" + kind + ".block_scale" + types +
        ".ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, "
        "{%b0, %b1}, {%c0, %c1, %c2, %c3}, %s, " +
        of_a + ", %t, " + of_b + ";"));
    return fault ? std::string(fault->what()) : "";
  };
  EXPECT_EQ(message("mxf8f6f4", "{3, %h1}", "{%h1, 3}"), "");
  EXPECT_THAT(message("mxf8f6f4", "{4, 0}", "{0, 0}"), HasSubstr("no byte or no thread"));
  EXPECT_THAT(message("mxf8f6f4", "{0, 2}", "{0, 0}"), HasSubstr("no byte or no thread"));
  EXPECT_THAT(message("mxf8f6f4", "{0, 0}", "{0, 4}"), HasSubstr("no byte or no thread"));
  EXPECT_THAT(message("mxf4", "{%h1, 0}", "{0, 0}"), HasSubstr("no byte or no thread"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::mma_narrow_test
