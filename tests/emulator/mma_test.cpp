// Matrix products in registers, against products of matrices that were written down as such. The
// layouts come from the tables of the PTX ISA, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::mma_test {
namespace {

using ::testing::HasSubstr;

/// The place of element i of a lane's fragment, by the PTX ISA: g = lane / 4, t = lane % 4.
struct Place {
  int row, column;
};
using Layout = Place (*)(int g, int t, int i);

struct Shape {
  const char* name;
  int m, k;
  Layout a, b;  ///< b: row is along k
};
constexpr int kColumns = 8;

Place accumulator(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }

// Half precision, PTX ISA "Matrix Fragments for mma.m16n8k8" and "... m16n8k16".
constexpr Shape kHalf8{
    "m16n8k8", 16, 8, [](int g, int t, int i) { return Place{i < 2 ? g : g + 8, t * 2 + (i & 1)}; },
    [](int g, int t, int i) { return Place{t * 2 + i, g}; }};
constexpr Shape kHalf16{
    "m16n8k16", 16, 16,
    [](int g, int t, int i) {
      const bool upper = (i >= 0 && i < 2) || (i >= 4 && i < 6);
      return Place{upper ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
    },
    [](int g, int t, int i) { return Place{i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g}; }};
constexpr Shape kTf32At4{"m16n8k4", 16, 4,
                         [](int g, int t, int i) { return Place{i == 0 ? g : g + 8, t}; },
                         [](int g, int t, int) { return Place{t, g}; }};
constexpr Shape kTf32At8{
    "m16n8k8", 16, 8,
    [](int g, int t, int i) { return Place{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4}; },
    [](int g, int t, int i) { return Place{i == 0 ? t : t + 4, g}; }};
constexpr Shape kByte16Small{"m8n8k16", 8, 16,
                             [](int g, int t, int i) { return Place{g, t * 4 + i}; },
                             [](int g, int t, int i) { return Place{t * 4 + i, g}; }};
constexpr Shape kByte16{
    "m16n8k16", 16, 16,
    [](int g, int t, int i) { return Place{i < 4 ? g : g + 8, t * 4 + (i & 3)}; },
    [](int g, int t, int i) { return Place{t * 4 + i, g}; }};
constexpr Shape kByte32{
    "m16n8k32", 16, 32,
    [](int g, int t, int i) {
      const bool upper = (i >= 0 && i < 4) || (i >= 8 && i < 12);
      return Place{upper ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
    },
    [](int g, int t, int i) { return Place{i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g}; }};
constexpr Shape kDouble4{"m8n8k4", 8, 4, [](int g, int t, int) { return Place{g, t}; },
                         [](int g, int t, int) { return Place{t, g}; }};
constexpr Shape kDouble8{
    "m16n8k8", 16, 8,
    [](int g, int t, int i) { return Place{i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4}; },
    [](int g, int t, int i) { return Place{i == 0 ? t : t + 4, g}; }};
constexpr Shape kDouble16{
    "m16n8k16", 16, 16,
    [](int g, int t, int i) { return Place{i % 2 == 0 ? g : g + 8, i / 2 * 4 + t}; },
    [](int g, int t, int i) { return Place{i * 4 + t, g}; }};

/// Bits and value of an element.
struct Element {
  const char* name;
  int bits;
  std::uint64_t (*make)(std::mt19937_64&);
  double (*value)(std::uint64_t);
};
/// Small numbers, so that sums are exact in any order.
std::uint64_t small_number(std::mt19937_64& random, const SmallFormat& format) {
  return rounded(format, static_cast<int>(random() % 17) - 8, Mode::rn);
}
const Element kF16Element{"f16", 16, [](std::mt19937_64& r) { return small_number(r, kF16); },
                          [](std::uint64_t a) { return value_of(kF16, a); }};
const Element kBF16Element{"bf16", 16, [](std::mt19937_64& r) { return small_number(r, kBF16); },
                           [](std::uint64_t a) { return value_of(kBF16, a); }};
// The lowest 13 bits of a tf32 do not count.
const Element kTf32Element{
    "tf32", 32, [](std::mt19937_64& r) { return small_number(r, kTF32) << 13 | (r() & 0x1fff); },
    [](std::uint64_t a) { return value_of(kTF32, a >> 13); }};
const Element kE4M3Element{"e4m3", 8, [](std::mt19937_64& r) { return small_number(r, kE4M3); },
                           [](std::uint64_t a) { return value_of(kE4M3, a); }};
const Element kE5M2Element{"e5m2", 8, [](std::mt19937_64& r) { return small_number(r, kE5M2); },
                           [](std::uint64_t a) { return value_of(kE5M2, a); }};
const Element kS8Element{"s8", 8, [](std::mt19937_64& r) { return r() & 0xff; },
                         [](std::uint64_t a) { return 1.0 * static_cast<std::int8_t>(a); }};
const Element kU8Element{"u8", 8, [](std::mt19937_64& r) { return r() & 0xff; },
                         [](std::uint64_t a) { return 1.0 * static_cast<std::uint8_t>(a); }};
const Element kF64Element{
    "f64", 64,
    [](std::mt19937_64& r) {
      return to_bits(static_cast<double>(static_cast<int>(r() % 4001) - 2000));
    },
    [](std::uint64_t a) { return bits_to<double>(a); }};
const Element kF32Element{"f32", 32,
                          [](std::mt19937_64& r) {
                            return to_bits(static_cast<float>(static_cast<int>(r() % 2001) - 1000));
                          },
                          [](std::uint64_t a) { return value_of(kF32, a); }};
const Element kS32Element{"s32", 32, [](std::mt19937_64& r) { return r() & 0xffffffff; },
                          [](std::uint64_t a) { return 1.0 * static_cast<std::int32_t>(a); }};

using Matrix = std::array<std::array<double, 32>, 32>;

/// The registers of one operand: how they are named, and their elements.
struct Operand {
  std::string prefix;
  Element element;
  int elements;  ///< a lane's
  int registers() const {
    return std::max(1, elements * element.bits / (element.bits == 64 ? 64 : 32));
  }
  int per_register() const { return elements / registers(); }
  std::string list() const {
    std::string text = "{";
    for (int n = 0; n < registers(); ++n) text += (n == 0 ? "" : ", ") + prefix + std::to_string(n);
    return text + "}";
  }
  std::string declaration() const {
    std::string text = element.bits == 64 ? ".reg .f64 " : ".reg .b32 ";
    for (int n = 0; n < registers(); ++n) text += (n == 0 ? "" : ", ") + prefix + std::to_string(n);
    return text + ";";
  }
  std::string reg(int i) const { return prefix + std::to_string(i / per_register()); }
  int shift(int i) const { return i % per_register() * element.bits; }
  std::uint64_t read(AluBench& bench, int lane, int i) const {
    const std::uint64_t bits = bench.get(reg(i), lane) >> shift(i);
    return element.bits == 64 ? bits : bits & ((std::uint64_t{1} << element.bits) - 1);
  }
  void fill(AluBench& bench, std::mt19937_64& random, Layout layout, Matrix& matrix) const {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int n = 0; n < registers(); ++n) bench.set(prefix + std::to_string(n), lane, 0);
      for (int i = 0; i < elements; ++i) {
        const std::uint64_t bits = element.make(random);
        bench.set(reg(i), lane, bench.get(reg(i), lane) | bits << shift(i));
        const Place place = layout(lane / 4, lane % 4, i);
        matrix[place.row][place.column] = element.value(bits);
      }
    }
  }
};

void expect_product(const Shape& shape, const Element& a, const Element& b, const Element& sum,
                    bool saturate = false) {
  const Operand fragments[] = {{"%d", sum, shape.m * kColumns / 32},
                               {"%a", a, shape.m * shape.k / 32},
                               {"%b", b, kColumns * shape.k / 32},
                               {"%c", sum, shape.m * kColumns / 32}};
  std::string text = std::string("mma.sync.aligned.") + shape.name + ".row.col" +
                     (saturate ? ".satfinite." : ".") + sum.name + "." + a.name + "." + b.name +
                     "." + sum.name + " ";
  std::string registers;
  for (const Operand& fragment : fragments) {
    text += (fragment.prefix == "%d" ? "" : ", ") + fragment.list();
    registers += fragment.declaration();
  }
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(text + " on " + isa->name);
    AluBench bench(*isa, registers, text + ";");
    std::mt19937_64 random(11);
    for (int round = 0; round < 5; ++round) {
      Matrix left{}, right{}, before{};
      fragments[1].fill(bench, random, shape.a, left);
      fragments[2].fill(bench, random, shape.b, right);
      fragments[3].fill(bench, random, accumulator, before);
      bench.run();
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < fragments[0].elements; ++i) {
          const Place place = accumulator(lane / 4, lane % 4, i);
          double exact = before[place.row][place.column];
          for (int k = 0; k < shape.k; ++k) exact += left[place.row][k] * right[k][place.column];
          if (sum.name == std::string("s32")) {
            exact = saturate ? std::clamp(exact, -0x1p31, 0x1p31 - 1)
                             : static_cast<std::int32_t>(static_cast<std::int64_t>(exact));
          }
          ASSERT_EQ(sum.value(fragments[0].read(bench, lane, i)), exact)
              << "lane " << lane << ", element " << i;
        }
      }
    }
  }
}

TEST(Mma, HalfPrecision) {
  expect_product(kHalf8, kF16Element, kF16Element, kF32Element);
  expect_product(kHalf16, kF16Element, kF16Element, kF32Element);
  expect_product(kHalf8, kF16Element, kF16Element, kF16Element);
  expect_product(kHalf16, kF16Element, kF16Element, kF16Element);
  expect_product(kHalf8, kBF16Element, kBF16Element, kF32Element);
  expect_product(kHalf16, kBF16Element, kBF16Element, kF32Element);
}

TEST(Mma, Tf32) {
  expect_product(kTf32At4, kTf32Element, kTf32Element, kF32Element);
  expect_product(kTf32At8, kTf32Element, kTf32Element, kF32Element);
}

TEST(Mma, DoublePrecision) {
  expect_product(kDouble4, kF64Element, kF64Element, kF64Element);
  expect_product(kDouble8, kF64Element, kF64Element, kF64Element);
  expect_product(kDouble16, kF64Element, kF64Element, kF64Element);
}

TEST(Mma, Bytes) {
  for (const bool saturate : {false, true}) {
    expect_product(kByte16Small, kS8Element, kS8Element, kS32Element, saturate);
    expect_product(kByte16, kS8Element, kU8Element, kS32Element, saturate);
    expect_product(kByte32, kU8Element, kS8Element, kS32Element, saturate);
    expect_product(kByte32, kU8Element, kU8Element, kS32Element, saturate);
  }
}

TEST(Mma, FloatsOfEightBits) {
  expect_product(kByte32, kE4M3Element, kE4M3Element, kF32Element);
  expect_product(kByte32, kE4M3Element, kE5M2Element, kF32Element);
  expect_product(kByte32, kE5M2Element, kE4M3Element, kF32Element);
  expect_product(kByte16, kE5M2Element, kE5M2Element, kF32Element);
}

// 2^24 + 1 is no float: the sum is rounded once, not after every product.
TEST(Mma, SumsAreRoundedOnce) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench bench(*isa,
                   ".reg .f32 %d0, %d1, %d2, %d3, %c0, %c1, %c2, %c3; .reg .b32 %a0, %a1, %b0;",
                   "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, "
                   "{%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};");
    for (int lane = 0; lane < kLanes; ++lane) {
      for (const char* const name : {"%a0", "%a1", "%b0"}) bench.set(name, lane, 0x3c003c00);
      for (const char* const name : {"%c0", "%c1", "%c2", "%c3"}) {
        bench.set(name, lane, to_bits(0x1p24f));
      }
    }
    bench.run();
    EXPECT_EQ(bits_to<float>(bench.get("%d0", 0)), 0x1p24f + 8);
    EXPECT_EQ(bits_to<float>(bench.get("%d3", 31)), 0x1p24f + 8);
  }
}

TEST(Mma, TransposesBetweenLanes) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench bench(*isa, ".reg .b32 %d, %a;", "movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;");
    // Lane l holds columns 2 (l mod 4) and the next of row l / 4; element (r, c) is 16 r + c.
    for (int lane = 0; lane < kLanes; ++lane) {
      const int first = lane / 4 * 16 + lane % 4 * 2;
      bench.set("%a", lane, static_cast<std::uint64_t>(first | (first + 1) << 16));
    }
    bench.run();
    for (int lane = 0; lane < kLanes; ++lane) {
      const int first = lane % 4 * 2 * 16 + lane / 4;
      EXPECT_EQ(bench.get("%d", lane), static_cast<std::uint64_t>(first | (first + 16) << 16));
    }
  }
}

TEST(Mma, UnknownFormsAreRefused) {
  const std::string registers = ".reg .b32 %d<4>, %a<4>, %b<2>, %c<4>;";
  const auto why = [&](const std::string& modifiers) {
    return refusal(registers, "mma." + modifiers +
                                  " {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, "
                                  "{%c0, %c1, %c2, %c3};");
  };
  EXPECT_EQ(why("sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), "");
  EXPECT_THAT(why("sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"), HasSubstr("shape"));
  EXPECT_THAT(why("sync.aligned.m16n8k16.row.col.f32.f16.f16.f16"), HasSubstr("another type"));
  EXPECT_THAT(why("sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"), HasSubstr("registers"));
  EXPECT_THAT(why("sync.aligned.m16n8k16.row.row.f32.f16.f16.f32"), HasSubstr("row.col"));
  EXPECT_THAT(why("sync.aligned.kind::x.m16n8k16.row.col.f32.f16.f16.f32"), HasSubstr("kind"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::mma_test
