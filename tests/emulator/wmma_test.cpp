// wmma: products of whole matrices against products that were written down as such, where the lanes
// have the elements, and which accesses a load or store counts as.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/kernel_run.h"
#include "tests/emulator/memory_bench.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::wmma_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A type of elements: its name and width, small values of it, and what its bits mean.
struct Element {
  std::string name;
  int bits;
  int lowest, highest;
  std::function<std::uint64_t(int)> encode;
  std::function<double(std::uint64_t)> value;
};
Element floats(const char* name, int bits, const SmallFormat& format) {
  return {name,
          bits,
          -8,
          8,
          [&](int v) { return rounded(format, v, Mode::rn); },
          [&](std::uint64_t a) { return value_of(format, a); }};
}
Element integers(const char* name, int bits, int lowest, int highest) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  return {name,
          bits,
          lowest,
          highest,
          [mask](int v) { return static_cast<std::uint64_t>(v) & mask; },
          [=](std::uint64_t a) {
            const bool negative = lowest < 0 && (a >> (bits - 1) & 1) != 0;
            return static_cast<double>(a) - (negative ? static_cast<double>(mask) + 1 : 0);
          }};
}
const Element kHalf = floats("f16", 16, kF16);
const Element kBrain = floats("bf16", 16, kBF16);
const Element kFloat{"f32",
                     32,
                     -100,
                     100,
                     [](int v) { return to_bits(static_cast<float>(v)); },
                     [](std::uint64_t a) { return value_of(kF32, a); }};
const Element kTf{"tf32", 32, -8, 8, kFloat.encode, kFloat.value};
const Element kDouble{"f64",
                      64,
                      -100,
                      100,
                      [](int v) { return to_bits(static_cast<double>(v)); },
                      [](std::uint64_t a) { return bits_to<double>(a); }};
const Element kInt = integers("s32", 32, -1000, 1000);
const Element kS8 = integers("s8", 8, -128, 127), kU8 = integers("u8", 8, 0, 255);
const Element kS4 = integers("s4", 4, -8, 7), kU4 = integers("u4", 4, 0, 15);
const Element kBit = integers("b1", 1, 0, 1);

/// A matrix in memory.
struct Matrix {
  Element element;
  int rows, columns;
  bool row_major;
  Words words;

  Matrix(Element element, int rows, int columns, bool row_major)
      : element(std::move(element)), rows(rows), columns(columns), row_major(row_major) {
    words.resize(static_cast<std::size_t>((row_major ? rows : columns) * stride() *
                                          this->element.bits / 32));
  }
  int stride() const { return (row_major ? columns : rows) + 128 / element.bits; }
  int bit(int row, int column) const {
    return (row_major ? row * stride() + column : column * stride() + row) * element.bits;
  }
  void fill(std::mt19937_64& random) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const int range = element.highest - element.lowest + 1;
        const int value = element.lowest + static_cast<int>(random() % range);
        const std::uint64_t bits = element.encode(value);
        const int at = bit(row, column);
        words[at / 32] |= static_cast<std::uint32_t>(bits << at % 32);
        if (element.bits == 64) words[at / 32 + 1] = static_cast<std::uint32_t>(bits >> 32);
      }
    }
  }
  double at(int row, int column) const {
    const int at = bit(row, column);
    std::uint64_t bits = words[at / 32] >> at % 32;
    if (element.bits == 64) return element.value(bits | std::uint64_t{words[at / 32 + 1]} << 32);
    return element.value(bits & ((std::uint64_t{1} << element.bits) - 1));
  }
};

struct Product {
  int m, n, k;
  Element a, b, c, d;
  std::string op = "";  ///< an operation of bits; empty: mma
  int registers_a, registers_b;
};

std::string list(const std::string& prefix, int count) {
  std::string text = "{";
  for (int n = 0; n < count; ++n) text += (n == 0 ? "" : ", ") + prefix + std::to_string(n);
  return text + "}";
}
int accumulators(const Product& product, const Element& element) {
  return product.m * product.n / 32 / (element.bits == 16 ? 2 : 1);
}
std::string layout(const Matrix& matrix) { return matrix.row_major ? "row" : "col"; }

/// The kernel: its input is A, B and C, one behind the other, which it reads in this state space.
std::string text_of(const Product& product, const Matrix& a, const Matrix& b, const Matrix& c,
                    const Matrix& d, const std::string& space) {
  const bool is_double = product.c.bits == 64;
  const std::string type = is_double ? ".reg .f64 " : ".reg .b32 ";
  const std::string shape = "m" + std::to_string(product.m) + "n" + std::to_string(product.n) +
                            "k" + std::to_string(product.k);
  std::string body = type + "%a<8>, %b<8>, %c<8>, %d<8>;\n";
  const std::string to = space == "shared" ? "%r10" : "%rd4";
  if (space == "shared") {
    body +=
        "mov.u32 %r10, tile; mul.lo.u32 %r11, %r0, 4; add.u32 %r12, %r10, %r11;\n"
        "mul.wide.u32 %rd5, %r0, 4; add.u64 %rd6, %rd2, %rd5;\n";
    for (int word = 0; word < 8192; word += 256 * 4) {
      body += "ld.global.u32 %r13, [%rd6+" + std::to_string(word) + "]; st.shared.u32 [%r12+" +
              std::to_string(word) + "], %r13;\n";
    }
    body += "bar.sync 0;\n";
  } else {
    body += "mov.u64 %rd4, %rd2;\n";
  }
  std::size_t offset = 0;
  const auto load = [&](const char* name, const Matrix& matrix, int registers) {
    body += std::string("wmma.load.") + name + ".sync.aligned." + layout(matrix) + "." + shape +
            (space.empty() ? "." : "." + space + ".") + matrix.element.name + " " +
            list(std::string("%") + name, registers) + ", [" + to + "+" + std::to_string(offset) +
            "], " + std::to_string(matrix.stride()) + ";\n";
    offset += matrix.words.size() * 4;
  };
  load("a", a, product.registers_a);
  load("b", b, product.registers_b);
  load("c", c, accumulators(product, product.c));
  const std::string types = product.a.name == "f16" ? product.d.name + "." + product.c.name
                                                    : product.d.name + "." + product.a.name + "." +
                                                          product.b.name + "." + product.c.name;
  body += "wmma.mma" + product.op + ".sync.aligned." + layout(a) + "." + layout(b) + "." + shape +
          "." + types + " " + list("%d", accumulators(product, product.d)) + ", " +
          list("%a", product.registers_a) + ", " + list("%b", product.registers_b) + ", " +
          list("%c", accumulators(product, product.c)) + ";\n";
  body += "wmma.store.d.sync.aligned." + layout(d) + "." + shape + ".global." + product.d.name +
          " [%rd0], " + list("%d", accumulators(product, product.d)) + ", " +
          std::to_string(d.stride()) + ";\n";
  return kernel_text(body, ".shared .align 32 .b8 tile[8192];\n");
}

double expected(const Product& product, const Matrix& a, const Matrix& b, double sum, int row,
                int column) {
  for (int k = 0; k < product.k; ++k) {
    const double x = a.at(row, k), y = b.at(k, column);
    sum += product.op == ".xor.popc" ? (x != y) : x * y;
  }
  return sum;
}

void expect_product(const Product& product, bool a_by_rows, bool b_by_rows, bool c_by_rows,
                    const std::string& space) {
  std::mt19937_64 random(5);
  Matrix a(product.a, product.m, product.k, a_by_rows);
  Matrix b(product.b, product.k, product.n, b_by_rows);
  Matrix c(product.c, product.m, product.n, c_by_rows),
      d(product.d, product.m, product.n, c_by_rows);
  Words input;
  for (Matrix* const matrix : {&a, &b, &c}) {
    matrix->fill(random);
    input.insert(input.end(), matrix->words.begin(), matrix->words.end());
  }
  ASSERT_LE(input.size(), 2048u);
  input.resize(2048);
  const std::string text = text_of(product, a, b, c, d, space);
  SCOPED_TRACE(text);
  Shape shape;
  shape.grid = {4, 1, 1};  // room for D: all warps do the same
  shape.block = {256, 1, 1};
  d.words = run_kernel(text, shape, input).output;
  for (int row = 0; row < product.m; ++row) {
    for (int column = 0; column < product.n; ++column) {
      ASSERT_EQ(d.at(row, column), expected(product, a, b, c.at(row, column), row, column))
          << "row " << row << ", column " << column;
    }
  }
}

/// Expects products in all layouts and state spaces.
void expect_products(const Product& product) {
  for (const char* const space : {"global", "shared", ""}) {
    for (int layouts = 0; layouts < 8; ++layouts) {
      const bool fixed = product.a.bits < 8;
      expect_product(product, fixed || (layouts & 1) != 0, !fixed && (layouts & 2) != 0,
                     (layouts & 4) != 0, space);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

constexpr std::tuple<int, int> kShapes[] = {{16, 16}, {32, 8}, {8, 32}};

TEST(Wmma, HalfPrecision) {
  for (const auto& [m, n] : kShapes) {
    for (const Element& c : {kHalf, kFloat}) {
      for (const Element& d : {kHalf, kFloat}) {
        Element small = c;
        small.lowest = -100;  // sums are integers below 2048
        small.highest = 100;
        expect_products({m, n, 16, kHalf, kHalf, small, d, "", 8, 8});
      }
    }
  }
}

TEST(Wmma, BrainFloats) {
  for (const auto& [m, n] : kShapes) {
    expect_products({m, n, 16, kBrain, kBrain, kFloat, kFloat, "", m / 4, n / 4});
  }
}

TEST(Wmma, Bytes) {
  for (const auto& [m, n] : kShapes) {
    expect_products({m, n, 16, kS8, kS8, kInt, kInt, "", m / 8, n / 8});
    expect_products({m, n, 16, kU8, kU8, kInt, kInt, "", m / 8, n / 8});
  }
}

TEST(Wmma, Tf32) { expect_products({16, 16, 8, kTf, kTf, kFloat, kFloat, "", 4, 4}); }
TEST(Wmma, DoublePrecision) {
  expect_products({8, 8, 4, kDouble, kDouble, kDouble, kDouble, "", 1, 1});
}
TEST(Wmma, FourBits) {
  expect_products({8, 8, 32, kS4, kS4, kInt, kInt, "", 1, 1});
  expect_products({8, 8, 32, kU4, kU4, kInt, kInt, "", 1, 1});
}
TEST(Wmma, Bits) {
  expect_products({8, 8, 128, kBit, kBit, kInt, kInt, ".xor.popc", 1, 1});
  expect_products({8, 8, 128, kBit, kBit, kInt, kInt, ".and.popc", 1, 1});
}

// The machine code multiplies 4 columns of A at a time, and rounds in between.
TEST(Wmma, SumsOfTf32AreRoundedTwice) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench bench(*isa, ".reg .b32 %d<8>, %a<4>, %b<4>, %c<8>;",
                   "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 " + list("%d", 8) +
                       ", " + list("%a", 4) + ", " + list("%b", 4) + ", " + list("%c", 8) + ";");
    for (int lane = 0; lane < kLanes; ++lane) {
      const bool is_first = lane % 4 == 0;  // k = 0 and k = 4
      for (int n = 0; n < 4; ++n) {
        bench.set("%a" + std::to_string(n), lane, to_bits(is_first ? 1.0F : 0.0F));
        bench.set("%b" + std::to_string(n), lane, to_bits(1.0F));
      }
      for (int n = 0; n < 8; ++n) bench.set("%c" + std::to_string(n), lane, to_bits(0x1p24F));
    }
    bench.run();
    for (int n = 0; n < 8; ++n) {
      EXPECT_EQ(bits_to<float>(bench.get("%d" + std::to_string(n), 9)) - 0x1p24F, 0.0F);
    }
  }
}

// It adds in single precision where C or D is of that, and converts D.
TEST(Wmma, ResultsOfHalfPrecisionAreRoundedFromFloats) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench bench(*isa, ".reg .b32 %d<4>, %a<8>, %b<8>, %c<8>;",
                   "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32 " + list("%d", 4) + ", " +
                       list("%a", 8) + ", " + list("%b", 8) + ", " + list("%c", 8) + ";");
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int n = 0; n < 8; ++n) {
        bench.set("%a" + std::to_string(n), lane, 0x02000200);  // 2^-15
        bench.set("%b" + std::to_string(n), lane, 0x02000200);
        bench.set("%c" + std::to_string(n), lane, to_bits(1 + 0x1p-11F));
      }
    }
    bench.run();
    EXPECT_EQ(bench.get("%d3", 17), 0x3c003c00u);  // 1, though the sum is above the middle
  }
}

TEST(Wmma, OtherProductsAreRefused) {
  const auto why = [](const std::string& modifiers, int a, int b, int sums) {
    return refusal(".reg .b32 %d<8>, %a<8>, %b<8>, %c<8>;",
                   "wmma.mma" + modifiers + " " + list("%d", sums) + ", " + list("%a", a) + ", " +
                       list("%b", b) + ", " + list("%c", sums) + ";");
  };
  EXPECT_EQ(why(".sync.aligned.row.col.m16n16k16.f32.f32", 8, 8, 8), "");
  EXPECT_EQ(why(".sync.aligned.col.row.m16n16k16.s32.u8.u8.s32.satfinite", 2, 2, 8), "");
  EXPECT_THAT(why(".sync.aligned.row.col.m16n16k16.f32.f32.satfinite", 8, 8, 8),
              HasSubstr("satfinite"));
  EXPECT_THAT(why(".sync.aligned.row.col.m16n16k8.f32.f32", 8, 8, 8), HasSubstr("shape"));
  EXPECT_THAT(why(".sync.aligned.row.col.m16n16k16.f32.f32", 4, 4, 8), HasSubstr("registers"));
  EXPECT_THAT(why(".sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", 1, 1, 2), HasSubstr("types"));
  EXPECT_THAT(why(".sync.aligned.row.m16n16k16.f32.f32", 8, 8, 8), HasSubstr("layout"));
}

TEST(Wmma, MovesWaitForTheWholeWarp) {
  const std::string text = kernel_text(R"(
    setp.lt.u32 %p0, %r0, 16;
    @%p0 bra LATER;
    add.u32 %r7, %r0, 1;
    LATER:
    wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r8}, [%rd2], 32;
    st.global.u32 [%rd1], %r8;
  )");
  const auto number = [](std::size_t n) { return n; };
  EXPECT_EQ(run_kernel(text, {}, words(32, number)).output, words(32, number));
}

class WmmaMoves : public MemoryInstructions {
 protected:
  void SetUp() override {
    MemoryInstructions::SetUp();
    if (IsSkipped()) return;
    global_ = bench().allocate<std::uint16_t>(4096);
    shared_ = reinterpret_cast<std::uint16_t*>(bench().shared);
    for (int n = 0; n < 4096; ++n) global_[n] = shared_[n] = static_cast<std::uint16_t>(n);
    bench().point("%rd9", global_, 0);
    bench().fill<std::uint32_t>("%r9", [](int) { return 0; });
  }
  std::uint32_t loaded(int number, int lane) {
    return bench().reg<std::uint32_t>("%r" + std::to_string(number))[lane];
  }
  std::uint16_t* global_ = nullptr;
  std::uint16_t* shared_ = nullptr;
};
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(WmmaMoves);

// The layout by ptxas 13.0 for sm_90: four 8x8 matrices, twice. A row has 24 elements here.
TEST_P(WmmaMoves, HalfFragmentsLieAsThoseOfMmaDo) {
  const std::string registers = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
  for (const auto& [matrix, space] : {std::pair{"a.sync.aligned.row", "global"},
                                      {"a.sync.aligned.row", "shared"},
                                      {"b.sync.aligned.col", "global"},
                                      {"b.sync.aligned.col", "shared"}}) {
    const std::string text = std::string("wmma.load.") + matrix + ".m16n16k16." + space + ".f16 " +
                             registers + (space[0] == 'g' ? ", [%rd9], 24;" : ", [%r9], 24;");
    SCOPED_TRACE(text);
    bench().run(text);
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int n = 0; n < 8; ++n) {
        // In A the lines change first, in B k does.
        const int line = matrix[0] == 'a' ? n % 2 : n / 2 % 2,
                  k = matrix[0] == 'a' ? n / 2 % 2 : n % 2;
        const std::uint32_t first = (8 * line + lane / 4) * 24 + 8 * k + lane % 4 * 2;
        ASSERT_EQ(loaded(n + 1, lane), first | (first + 1) << 16) << lane << " " << n;
      }
    }
  }
}

TEST_P(WmmaMoves, TheOtherLayoutFillsTheSameFragment) {
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < 16; ++k)
      global_[2048 + k * 16 + row] = shared_[2048 + k * 16 + row] = global_[row * 16 + k];
  }
  const std::string registers = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
  bench().run("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + registers + ", [%rd9], 16;");
  std::vector<std::uint32_t> fragment;
  for (int n = 1; n <= 8; ++n) fragment.push_back(loaded(n, 13));
  for (const char* const from : {".global.f16 ", ".shared.f16 "}) {
    const std::string at = from[1] == 'g' ? "[%rd9+4096]" : "[%r9+4096]";
    bench().run("wmma.load.a.sync.aligned.col.m16n16k16" + (from + registers) + ", " + at +
                ", 16;");
    for (int n = 1; n <= 8; ++n) EXPECT_EQ(loaded(n, 13), fragment[n - 1]) << from << n;
  }
}

TEST_P(WmmaMoves, AStrideIsARowWhereThereIsNone) {
  bench().run("wmma.load.c.sync.aligned.row.m32n8k16.global.f16 {%r1, %r2, %r3, %r4}, [%rd9];");
  EXPECT_EQ(loaded(4, 5), (25u * 8 + 2) | (25u * 8 + 3) << 16);
  bench().run("wmma.load.c.sync.aligned.col.m32n8k16.global.f16 {%r1, %r2, %r3, %r4}, [%rd9];");
  EXPECT_EQ(loaded(4, 5), (2u * 32 + 25) | (3u * 32 + 25) << 16);
}

TEST_P(WmmaMoves, ADestinationMayBeTheAddressOrTheStride) {
  bench().fill<std::uint32_t>("%r8", [](int) { return 32; });
  const std::string load = "wmma.load.a.sync.aligned.col.m16n16k16.shared.s8 ";
  bench().run(load + "{%r1, %r2}, [%r9], %r8;");
  bench().run(load + "{%r9, %r8}, [%r9], %r8;");
  for (int lane = 0; lane < kLanes; ++lane) {
    ASSERT_EQ(loaded(9, lane), loaded(1, lane)) << lane;
    ASSERT_EQ(loaded(8, lane), loaded(2, lane)) << lane;
  }
}

TEST_P(WmmaMoves, StoresPutBackWhatLoadsGot) {
  for (const char* const layout : {"row", "col"}) {
    for (const char* const shape : {"m16n16k16", "m32n8k16", "m8n32k16"}) {
      const std::string form =
          std::string(".sync.aligned.") + layout + "." + shape + ".global.f16 ";
      SCOPED_TRACE(form);
      bench().run("wmma.load.c" + form + "{%r1, %r2, %r3, %r4}, [%rd9];");
      bench().run("wmma.store.d" + form + "[%rd9+4096], {%r1, %r2, %r3, %r4};");
      for (int n = 0; n < 256; ++n) ASSERT_EQ(global_[2048 + n], n);
    }
  }
}

/// Requests, wavefronts or sectors, and their ideal, of all accesses of a move.
class WmmaCounts : public WmmaMoves {
 protected:
  std::vector<std::uint64_t> counts(const std::string& text, std::uint32_t accesses) {
    bench().run(text);
    AccessTotals sum;
    for (std::uint32_t n = 0; n < accesses; ++n) {
      const AccessTotals totals = bench().totals(text, n);
      sum.requests += totals.requests;
      sum.wavefronts += totals.wavefronts + totals.sectors;
      sum.wavefronts_ideal += totals.wavefronts_ideal + totals.sectors_ideal;
    }
    return {sum.requests, sum.wavefronts, sum.wavefronts_ideal};
  }
};
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(WmmaCounts);

TEST_P(WmmaCounts, GlobalMemory) {
  const std::string eight = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd9], ";
  // 4 LDG, each of 16 bytes of 8 rows.
  EXPECT_THAT(counts("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + eight + "16;", 4),
              ElementsAre(4, 32, 16));
  EXPECT_THAT(counts("wmma.load.a.sync.aligned.col.m16n16k16.global.f16 " + eight + "32;", 4),
              ElementsAre(4, 32, 16));
  // 8 LDG.U8, each of 8 neighbours in 4 rows.
  EXPECT_THAT(counts("wmma.load.a.sync.aligned.col.m16n16k16.global.s8 {%r1, %r2}, [%rd9], 32;", 8),
              ElementsAre(8, 32, 8));
  // 4 LDG.64 of a whole sector of 8 rows; 8 LDG of 8 neighbours in 4 rows.
  EXPECT_THAT(counts("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " + eight + "16;", 4),
              ElementsAre(4, 32, 32));
  EXPECT_THAT(counts("wmma.load.c.sync.aligned.col.m16n16k16.global.f32 " + eight + "16;", 8),
              ElementsAre(8, 32, 32));
}

TEST_P(WmmaCounts, SharedMemory) {
  const std::string eight = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r9], ";
  // LDSM.x4: two rows of 32 bytes share a row of banks; rows of 48 bytes have no conflicts.
  EXPECT_THAT(counts("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + eight + "16;", 1),
              ElementsAre(1, 8, 4));
  EXPECT_THAT(counts("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + eight + "24;", 1),
              ElementsAre(1, 4, 4));
  EXPECT_THAT(counts("wmma.load.a.sync.aligned.col.m32n8k16.shared.f16 " + eight + "64;", 2),
              ElementsAre(2, 64, 8));
  EXPECT_THAT(counts("wmma.load.b.sync.aligned.col.m16n16k16.shared.u8 {%r1, %r2}, [%r9], 16;", 1),
              ElementsAre(1, 2, 2));
  // 4 LDS: bytes of 8 rows.
  EXPECT_THAT(counts("wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {%r1, %r2, %r3, %r4}, "
                     "[%r9], 32;",
                     4),
              ElementsAre(4, 32, 4));
}

TEST_P(WmmaMoves, OtherFormsAreRefused) {
  for (const char* const text :
       {"wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r1}, [%rd9], 16;",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4}, [%rd9], 16;",
        "wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%rd9], 32;",
        "wmma.load.a.sync.aligned.row.m16n16k16.local.s8 {%r1, %r2}, [%rd9], 16;",
        "wmma.load.a.aligned.row.m16n16k16.global.s8 {%r1, %r2}, [%rd9], 16;",
        "wmma.load.c.sync.aligned.row.m16n16k16.global.bf16 {%r1, %r2}, [%rd9], 16;"}) {
    EXPECT_THROW(bench().run(text), decode::Unsupported) << text;
  }
}

TEST_P(WmmaMoves, MisalignedRowsAreFaults) {
  EXPECT_EQ(bench()
                .fault_of("wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%r1, %r2}, [%r9], "
                          "20;")
                .kind(),
            Fault::Kind::misaligned_address);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::wmma_test
