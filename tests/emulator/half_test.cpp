// Arithmetic of f16 and bf16: exact results in quadruple precision, rounded once by definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::half_test {
namespace {

using ::testing::HasSubstr;
using Exact = std::function<Quad(Quad, Quad, Quad)>;

struct Type {
  SmallFormat format;
  const char* name;
  std::uint64_t (*values)(std::mt19937_64&);
};
const Type kHalf{kF16, "f16", any_f16}, kBFloat{kBF16, "bf16", any_bf16};

struct Modifiers {
  bool ftz = false, sat = false, relu = false;
  std::string text() const {
    return std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : "") + (relu ? ".relu" : "");
  }
};

std::uint32_t result(const SmallFormat& format, Quad exact, const Modifiers& with) {
  if (with.sat) exact = exact >= 0 ? (exact < 1 ? exact : Quad{1}) : Quad{0};
  if (with.sat && exact == 0) return 0;
  if (with.relu && exact <= 0) return 0;
  const std::uint32_t bits = rounded(format, exact, Mode::rn);
  // Rounded as if exponents had no limit, less than the smallest normal number.
  const Quad least = std::ldexp(1, 1 - format.bias());
  const Quad size = exact < 0 ? -exact : exact;
  const bool tiny = size < least - least * std::ldexp(1, -2 - format.mantissa_bits);
  return with.ftz && tiny ? bits & format.sign_bit() : bits;
}

/// The operation alone and on two values in a register. Zeros of sums have the sign that the host's
/// arithmetic gives them.
void expect_exact(const std::string& operation, const Type& type, int sources,
                  const Modifiers& with, const Exact& exact, const Values& values) {
  const auto scalar = [=](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const auto input = [&](std::uint64_t bits) {
      return Quad{with.ftz ? flushed_value_of(type.format, bits & 0xffff)
                           : value_of(type.format, bits & 0xffff)};
    };
    return std::uint64_t{result(type.format, exact(input(a), input(b), input(c)), with)};
  };
  const char* const names[] = {"", "%a", "%a, %b", "%a, %b, %c"};
  for (const bool packed : {false, true}) {
    Check check;
    check.text = operation + with.text() + "." + type.name + (packed ? "x2" : "") + " %d, " +
                 names[sources] + ";";
    check.registers = std::string(".reg .") + (packed ? "b32" : "b16") + " %d, %a, %b, %c;";
    check.values = [=](std::mt19937_64& random) { return values(random) << 16 | values(random); };
    check.reference = [=](const Operands& in) {
      std::uint64_t bits = scalar(in.a, in.b, in.c);
      if (packed) bits |= scalar(in.a >> 16, in.b >> 16, in.c >> 16) << 16;
      return Results{.d = bits, .carry = {}};
    };
    expect_as_reference(check);
  }
}

void expect_exact(const std::string& operation, const Type& type, int sources,
                  const Modifiers& with, const Exact& exact) {
  expect_exact(operation, type, sources, with, exact, type.values);
}

TEST(Half, SumsAndProductsAreRoundedOnce) {
  const auto add = [](Quad a, Quad b, Quad) { return a + b; };
  const auto subtract = [](Quad a, Quad b, Quad) { return a - b; };
  const auto multiply = [](Quad a, Quad b, Quad) { return a * b; };
  for (const Modifiers& with :
       {Modifiers{}, {.ftz = true}, {.sat = true}, {.ftz = true, .sat = true}}) {
    expect_exact("add", kHalf, 2, with, add);
    expect_exact("sub.rn", kHalf, 2, with, subtract);
    expect_exact("mul", kHalf, 2, with, multiply);
  }
  expect_exact("add.rn", kBFloat, 2, {}, add);
  expect_exact("sub", kBFloat, 2, {}, subtract);
  expect_exact("mul", kBFloat, 2, {}, multiply);
}

TEST(Half, FusedIsRoundedOnce) {
  const auto fused = [](Quad a, Quad b, Quad c) { return a * b + c; };
  for (const Modifiers& with : {Modifiers{},
                                {.ftz = true},
                                {.sat = true},
                                {.ftz = true, .sat = true},
                                {.relu = true},
                                {.ftz = true, .relu = true}}) {
    expect_exact("fma.rn", kHalf, 3, with, fused);
  }
  // Values of one order of magnitude, so that the sum fits in 113 bits.
  const auto moderate = [](std::mt19937_64& random) {
    return (random() & 0x8000) | ((110 + random() % 34) << 7) | (random() & 0x7f);
  };
  expect_exact("fma.rn", kBFloat, 3, {}, fused, moderate);
  expect_exact("fma.rn", kBFloat, 3, {.relu = true}, fused, moderate);
}

// The product 1 + 2^-8 lies half way between two values; c, far below a double's last bit, says
// which is the nearer one.
TEST(Half, FusedSeesWhatIsFarBelow) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench bench(*isa, ".reg .b16 %d, %a, %b, %c;", "fma.rn.bf16 %d, %a, %b, %c;");
    const auto bits = [](double value) { return rounded(kBF16, value, Mode::rz); };
    // 1.0625 * 0.94921875 = 1.00854...: look for a pair whose product needs one bit more.
    int found = 0;
    for (std::uint32_t a = 0x3f80; a < 0x4000; ++a) {
      for (std::uint32_t b = 0x3f80; b < 0x4000; ++b) {
        const double product = value_of(kBF16, a) * value_of(kBF16, b);
        const double steps = std::ldexp(product, product < 2 ? 7 : 6);
        if (steps - std::floor(steps) != 0.5 || ++found > 40) continue;
        for (const double c : {0x1p-100, -0x1p-100}) {
          bench.set("%a", 9, a);
          bench.set("%b", 9, b);
          bench.set("%c", 9, bits(c));
          bench.run();
          const std::uint32_t down = rounded(kBF16, product, Mode::rz);
          EXPECT_EQ(bench.get("%d", 9), c > 0 ? down + 1 : down) << a << " * " << b;
        }
      }
    }
    EXPECT_GT(found, 10);
  }
}

TEST(Half, SignsGoByTheBits) {
  for (const bool packed : {false, true}) {
    for (const std::string type : {"f16", "bf16"}) {
      for (const bool absolute : {false, true}) {
        Check check;
        check.text =
            std::string(absolute ? "abs." : "neg.") + type + (packed ? "x2" : "") + " %d, %a;";
        check.registers = std::string(".reg .") + (packed ? "b32" : "b16") + " %d, %a;";
        check.values = two_of<any_f16, 16>;
        check.reference = [=](const Operands& in) {
          return Results{.d = absolute ? in.a & 0x7fff7fff : in.a ^ 0x80008000, .carry = {}};
        };
        expect_as_reference(check);
      }
    }
  }
}

TEST(Half, Extremes) {
  for (const Type& type : {kHalf, kBFloat}) {
    for (int options = 0; options < 16; ++options) {
      const bool maximum = (options & 1) != 0, nan = (options & 2) != 0,
                 xorsign = (options & 4) != 0, ftz = (options & 8) != 0;
      if (ftz && type.format.exponent_bits != 5) continue;
      const std::uint32_t sign = 0x8000;
      const auto scalar = [=](std::uint32_t a, std::uint32_t b) {
        const std::uint32_t signs = (a ^ b) & sign;
        const auto input = [&](std::uint32_t bits) {
          if (ftz && (bits & type.format.infinity()) == 0) bits &= sign;
          return xorsign ? bits & ~sign : bits;
        };
        a = input(a);
        b = input(b);
        const double x = value_of(type.format, a), y = value_of(type.format, b);
        std::uint32_t best;
        if ((std::isnan(x) && std::isnan(y)) || (nan && (std::isnan(x) || std::isnan(y)))) {
          return std::uint64_t{0x7fff};
        }
        if (std::isnan(x) || std::isnan(y)) {
          best = std::isnan(x) ? b : a;
        } else if (x == y) {
          best = ((a & sign) != 0) == maximum ? b : a;
        } else {
          best = (x < y) != maximum ? a : b;
        }
        return std::uint64_t{xorsign ? best | signs : best};
      };
      const std::string name = std::string(maximum ? "max" : "min") + (ftz ? ".ftz" : "") +
                               (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs." : ".") + type.name;
      for (const bool packed : {false, true}) {
        Check check;
        check.text = name + (packed ? "x2" : "") + " %d, %a, %b;";
        check.registers = std::string(".reg .") + (packed ? "b32" : "b16") + " %d, %a, %b;";
        check.values = [=](std::mt19937_64& random) {
          return type.values(random) << 16 | type.values(random);
        };
        check.reference = [=](const Operands& in) {
          std::uint64_t bits = scalar(in.a & 0xffff, in.b & 0xffff);
          if (packed) bits |= scalar(in.a >> 16, in.b >> 16) << 16;
          return Results{.d = bits, .carry = {}};
        };
        expect_as_reference(check);
      }
    }
  }
}

TEST(Half, ApproximationsAreTheNearestOrNextToIt) {
  struct Function {
    const char* name;
    Type type;
    bool flushes;
    double (*exact)(double);
  };
  const Function functions[] = {
      {"ex2.approx", kHalf, false, [](double x) { return std::exp2(x); }},
      {"ex2.approx.ftz", kBFloat, true, [](double x) { return std::exp2(x); }},
      {"tanh.approx", kHalf, false, [](double x) { return std::tanh(x); }},
      {"tanh.approx", kBFloat, false, [](double x) { return std::tanh(x); }}};
  for (const Function& function : functions) {
    Check check;
    check.text = std::string(function.name) + "." + function.type.name + " %d, %a;";
    check.registers = ".reg .b16 %d, %a;";
    check.values = function.type.values;
    check.reference = [=](const Operands& in) {
      const double x = function.flushes ? flushed_value_of(function.type.format, in.a)
                                        : value_of(function.type.format, in.a);
      std::uint32_t bits = rounded(function.type.format, function.exact(x), Mode::rn);
      if (function.flushes && (bits & function.type.format.infinity()) == 0) bits &= 0x8000;
      return Results{.d = bits, .carry = {}};
    };
    check.equal = [](std::uint64_t got, std::uint64_t expected) {
      return got == expected + 1 || got + 1 == expected;
    };
    expect_as_reference(check);
  }
}

TEST(Half, UnknownFormsAreRefused) {
  const std::string halves = ".reg .b16 %d, %a, %b, %c;";
  EXPECT_THAT(refusal(halves, "add.rz.f16 %d, %a, %b;"), HasSubstr("combination"));
  EXPECT_THAT(refusal(halves, "add.ftz.bf16 %d, %a, %b;"), HasSubstr("combination"));
  EXPECT_THAT(refusal(halves, "fma.rn.oob.f16 %d, %a, %b, %c;"), HasSubstr(".oob"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::half_test
