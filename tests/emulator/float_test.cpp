// Arithmetic of f32 and f64 against the host's scalar arithmetic in the same rounding mode; the
// approximate functions against long double and the bounds of the PTX ISA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <string>
#include <utility>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::float_test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kNan32 = 0x7fffffff;

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
double flushed(double value) { return value; }

struct RoundingCase {
  const char* name;
  int mode;
};
constexpr RoundingCase kRoundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

/// One operation in a rounding mode; volatile so that it happens there.
template <typename T>
T in_mode(int mode, const std::function<T(T, T, T)>& function, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T result = function(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

/// A NaN in single precision is the canonical one; in double precision any NaN will do.
template <typename T>
bool same_number(std::uint64_t got, std::uint64_t expected) {
  return sizeof(T) == 8 && std::isnan(bits_to<T>(got)) && std::isnan(bits_to<T>(expected));
}
template <typename T>
std::uint64_t canonical_bits(T value) {
  return sizeof(T) == 4 && std::isnan(value) ? kNan32 : to_bits(value);
}

struct Modifiers32 {
  bool ftz, sat;
};

template <typename T>
void expect_rounded(const std::string& operation, int sources,
                    const std::function<T(T, T, T)>& function) {
  const bool is_float = sizeof(T) == 4;
  const bool is_product = operation == "mul" || operation == "fma" || operation == "mad";
  for (const RoundingCase& rounding : kRoundings) {
    for (const Modifiers32& with :
         {Modifiers32{false, false}, {true, false}, {false, true}, {true, true}}) {
      const bool has_sat =
          operation == "add" || operation == "sub" || operation == "mul" || operation == "fma";
      if ((with.ftz || with.sat) && !is_float) continue;
      if (with.sat && !has_sat) continue;
      const char* const names[] = {"", "%a", "%a, %b", "%a, %b, %c"};
      Check check;
      check.text = operation + "." + rounding.name + (with.ftz ? ".ftz" : "") +
                   (with.sat ? ".sat" : "") + (is_float ? ".f32" : ".f64") + " %d, " +
                   names[sources] + ";";
      check.registers = std::string(".reg .") + (is_float ? "f32" : "f64") + " %d, %a, %b, %c;";
      check.values = is_float ? any_f32 : any_f64;
      check.equal = same_number<T>;
      check.reference = [=](const Operands& in) {
        const auto input = [&](T value) { return with.ftz ? flushed(value) : value; };
        T value = in_mode<T>(rounding.mode, function, input(in.as_a<T>()), input(in.as_b<T>()),
                             input(in.as_c<T>()));
        if (with.ftz && is_product) {  // what it would be if exponents had no limit
          const T scaled = in_mode<T>(rounding.mode, function, input(in.as_a<T>()) * T{0x1p24},
                                      input(in.as_b<T>()), input(in.as_c<T>()) * T{0x1p24});
          if (std::fabs(scaled) < 0x1p-102) value = std::copysign(T{0}, value);
        } else if (with.ftz) {
          value = flushed(value);
        }
        if (with.sat) value = std::isnan(value) || value <= 0 ? T{0} : std::min(value, T{1});
        return Results{.d = canonical_bits(value), .carry = {}};
      };
      expect_as_reference(check);
    }
  }
}

template <typename T>
void expect_all_rounded() {
  expect_rounded<T>("add", 2, [](T a, T b, T) { return a + b; });
  expect_rounded<T>("sub", 2, [](T a, T b, T) { return a - b; });
  expect_rounded<T>("mul", 2, [](T a, T b, T) { return a * b; });
  expect_rounded<T>("fma", 3, [](T a, T b, T c) { return std::fma(a, b, c); });
  expect_rounded<T>("mad", 3, [](T a, T b, T c) { return std::fma(a, b, c); });
  expect_rounded<T>("div", 2, [](T a, T b, T) { return a / b; });
  expect_rounded<T>("rcp", 1, [](T a, T, T) { return 1 / a; });
  expect_rounded<T>("sqrt", 1, [](T a, T, T) { return std::sqrt(a); });
}

TEST(Float, SinglePrecisionRoundsExactly) { expect_all_rounded<float>(); }
TEST(Float, DoublePrecisionRoundsExactly) { expect_all_rounded<double>(); }

// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the product loses its last bit before the sum unless it is
// fused.
TEST(Float, FusedIsFusedAndSeparateIsNot) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    const float a = 1 + 0x1p-12f, c = -(1 + 0x1p-11f);
    const std::string registers = ".reg .f32 %d, %a, %b, %c;";
    AluBench fused(*isa, registers, "fma.rn.f32 %d, %a, %b, %c;");
    AluBench product(*isa, registers, "mul.rn.f32 %d, %a, %b;");
    fused.set("%a", 5, to_bits(a));
    fused.set("%b", 5, to_bits(a));
    fused.set("%c", 5, to_bits(c));
    fused.run();
    EXPECT_EQ(bits_to<float>(fused.get("%d", 5)), 0x1p-24f);
    product.set("%a", 5, to_bits(a));
    product.set("%b", 5, to_bits(a));
    product.run();
    EXPECT_EQ(bits_to<float>(product.get("%d", 5)), -c);
  }
}

/// add, sub and fma of f32 with operands of 16 bits.
void expect_mixed(const std::string& operation, bool is_fused,
                  const std::function<float(float, float, float)>& function) {
  for (const auto& [type, format] : {std::pair{"f16", kF16}, {"bf16", kBF16}}) {
    for (const RoundingCase& rounding : kRoundings) {
      for (const bool sat : {false, true}) {
        Check check;
        check.text = operation + "." + rounding.name + (sat ? ".sat" : "") + ".f32." + type +
                     (is_fused ? " %d, %a, %b, %c;" : " %d, %a, %c;");
        check.registers = ".reg .f32 %d, %c; .reg .b16 %a, %b;";
        check.values = [format = format](std::mt19937_64& random) {
          if (random() % 2 == 0) return any_f32(random);
          const int exponent = format.exponent_bits, mantissa = format.mantissa_bits;
          return (any_f32(random) & 0xffff0000) | any_float(random, exponent, mantissa);
        };
        check.reference = [=, format = format](const Operands& in) {
          const auto wide = [&](std::uint64_t bits) {
            return static_cast<float>(value_of(format, bits & 0xffff));
          };
          float value =
              in_mode<float>(rounding.mode, function, wide(in.a), wide(in.b), in.as_c<float>());
          if (sat) value = std::isnan(value) || value <= 0 ? 0.0f : std::min(value, 1.0f);
          return Results{.d = canonical_bits(value), .carry = {}};
        };
        expect_as_reference(check);
      }
    }
  }
}

TEST(Float, MixedOperandsAreWidenedAndTheResultIsRoundedOnce) {
  expect_mixed("add", false, [](float a, float, float c) { return a + c; });
  expect_mixed("sub", false, [](float a, float, float c) { return a - c; });
  expect_mixed("fma", true, [](float a, float b, float c) { return std::fma(a, b, c); });
  const std::string registers = ".reg .f32 %d, %c; .reg .b16 %a, %b;";
  for (const char* const text :
       {"add.rn.ftz.f32.f16 %d, %a, %c;", "fma.rn.relu.f32.bf16 %d, %a, %b, %c;",
        "mul.rn.f32.f16 %d, %a, %c;", "sub.rn.f32.f16 %d, %c, %a;", "add.rn.f64.f16 %d, %a, %c;"}) {
    EXPECT_NE(refusal(registers, text), "") << text;
  }
}

TEST(Float, PairsAreTwoSingles) {
  const std::pair<const char*, std::function<float(float, float, float)>> operations[] = {
      {"add.rn.f32x2 %d, %a, %b;", [](float a, float b, float) { return a + b; }},
      {"mul.rn.f32x2 %d, %a, %b;", [](float a, float b, float) { return a * b; }},
      {"fma.rn.f32x2 %d, %a, %b, %c;",
       [](float a, float b, float c) { return std::fma(a, b, c); }}};
  for (const auto& [text, function] : operations) {
    Check check;
    check.text = text;
    check.registers = ".reg .b64 %d, %a, %b, %c;";
    check.values = two_of<any_f32, 32>;
    check.reference = [&, function = function](const Operands& in) {
      const auto half = [&](int shift) {
        const auto part = [&](std::uint64_t bits) {
          return bits_to<float>(bits >> shift & 0xffffffff);
        };
        return canonical_bits(function(part(in.a), part(in.b), part(in.c))) << shift;
      };
      return Results{.d = half(0) | half(32), .carry = {}};
    };
    expect_as_reference(check);
  }
}

TEST(Float, SignsGoByTheBits) {
  for (const bool ftz : {false, true}) {
    for (const bool absolute : {false, true}) {
      Check check;
      check.text = std::string(absolute ? "abs" : "neg") + (ftz ? ".ftz" : "") + ".f32 %d, %a;";
      check.registers = ".reg .f32 %d, %a;";
      check.values = any_f32;
      check.reference = [=](const Operands& in) {
        const std::uint64_t bits = ftz ? to_bits(flushed(in.as_a<float>())) : in.a;
        return Results{.d = absolute ? bits & 0x7fffffff : bits ^ 0x80000000, .carry = {}};
      };
      expect_as_reference(check);
    }
  }
  Check check;
  check.text = "neg.f64 %d, %a;";
  check.registers = ".reg .f64 %d, %a, %b;";
  check.values = any_f64;
  check.reference = [](const Operands& in) {
    return Results{.d = in.a ^ std::uint64_t{1} << 63, .carry = {}};
  };
  expect_as_reference(check);
  check.text = "copysign.f64 %d, %a, %b;";
  check.reference = [](const Operands& in) {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    return Results{.d = (in.b & ~kSign) | (in.a & kSign), .carry = {}};
  };
  expect_as_reference(check);
}

/// min and max as the PTX ISA writes them: a NaN loses, or wins with .NaN; -0 is below +0.
template <typename T>
T extreme(bool maximum, bool nan_wins, T a, T b) {
  if (std::isnan(a) && std::isnan(b)) return NAN;
  if (std::isnan(a) || std::isnan(b)) return nan_wins ? T{NAN} : std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a < b) != maximum ? a : b;
}

TEST(Float, Extremes) {
  for (const bool maximum : {false, true}) {
    const std::string name = maximum ? "max" : "min";
    for (int options = 0; options < 8; ++options) {
      const bool ftz = (options & 1) != 0, nan = (options & 2) != 0, xorsign = (options & 4) != 0;
      Check check;
      check.text = name + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") +
                   (xorsign ? ".xorsign.abs" : "") + ".f32 %d, %a, %b;";
      check.registers = ".reg .f32 %d, %a, %b, %c;";
      check.values = any_f32;
      check.reference = [=](const Operands& in) {
        const auto input = [&](float value) {
          const float x = ftz ? flushed(value) : value;
          return xorsign ? std::fabs(x) : x;
        };
        const float a = in.as_a<float>(), b = in.as_b<float>();
        float value = extreme(maximum, nan, input(a), input(b));
        if (xorsign && std::signbit(a) != std::signbit(b)) value = -value;
        return Results{.d = canonical_bits(value), .carry = {}};
      };
      expect_as_reference(check);
      if (xorsign) continue;
      check.text = name + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") + ".f32 %d, %a, %b, %c;";
      check.reference = [=](const Operands& in) {
        const auto input = [&](float value) { return ftz ? flushed(value) : value; };
        const float first = extreme(maximum, nan, input(in.as_a<float>()), input(in.as_b<float>()));
        const float value = extreme(maximum, nan, first, input(in.as_c<float>()));
        return Results{.d = canonical_bits(value), .carry = {}};
      };
      expect_as_reference(check);
    }
    Check check;
    check.text = name + ".f64 %d, %a, %b;";
    check.registers = ".reg .f64 %d, %a, %b;";
    check.values = any_f64;
    check.equal = same_number<double>;
    check.reference = [=](const Operands& in) {
      return Results{.d = to_bits(extreme(maximum, false, in.as_a<double>(), in.as_b<double>())),
                     .carry = {}};
    };
    expect_as_reference(check);
  }
}

/// A bound on the distance of a float from the exact value. Special values must be the same.
struct Bound {
  double relative = 0, absolute = 0;
  /// `nearest`: the exact value as a float; half a unit in its last place is the test's own error.
  bool holds(float got, float nearest) const {
    if (got == nearest || (std::isnan(got) && std::isnan(nearest))) return true;
    if (std::isnan(nearest) || std::isinf(nearest) || nearest == 0) return false;
    const double error = std::fabs(double{got} - nearest), size = std::fabs(double{nearest});
    const double spacing = std::fmax(size * 0x1p-23, 0x1p-149);
    return error <= std::fmax(size * relative, absolute) + spacing / 2;
  }
};

void expect_approximation(const std::string& name, const Bound& bound, const Values& values,
                          const std::function<long double(long double)>& exact) {
  for (const bool ftz : {false, true}) {
    if (ftz && name == "tanh") continue;
    Check check;
    check.text = name + ".approx" + (ftz ? ".ftz" : "") + ".f32 %d, %a;";
    check.registers = ".reg .f32 %d, %a;";
    check.values = values;
    check.rounds = 400;
    check.reference = [=](const Operands& in) {
      const float x = ftz ? flushed(in.as_a<float>()) : in.as_a<float>();
      return Results{.d = canonical_bits(static_cast<float>(exact(x))), .carry = {}};
    };
    check.equal = [=](std::uint64_t got, std::uint64_t expected) {
      const float nearest = bits_to<float>(expected), value = bits_to<float>(got);
      if (ftz && flushed(nearest) == 0 && std::fabs(nearest) > 0) return value == 0;
      return bound.holds(value, nearest);
    };
    expect_as_reference(check);
  }
}

TEST(Float, ApproximationsKeepTheBoundsOfTheIsa) {
  const Bound two_ulp{0x1p-22, 0};
  // A subnormal result is rounded twice.
  expect_approximation("rcp", {0x1p-23, 0x1p-149}, any_f32, [](long double x) { return 1 / x; });
  expect_approximation("sqrt", {0x1p-23, 0}, any_f32, [](long double x) { return std::sqrt(x); });
  expect_approximation("rsqrt", {0x1.12p-23, 0}, any_f32,
                       [](long double x) { return 1 / std::sqrt(x); });
  expect_approximation("ex2", two_ulp, any_f32, [](long double x) { return std::exp2(x); });
  expect_approximation("lg2", {0x1p-22, 0x1p-22}, any_f32,
                       [](long double x) { return std::log2(x); });
  expect_approximation("tanh", {0x1p-11, 0}, any_f32, [](long double x) { return std::tanh(x); });
  // The bound is absolute, between -2 pi and 2 pi.
  const auto angles = [](std::mt19937_64& random) {
    if (random() % 8 == 0) {
      constexpr float kSpecial[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f};
      return to_bits(kSpecial[random() % 6]);
    }
    return to_bits(static_cast<float>(static_cast<double>(static_cast<std::int64_t>(random())) *
                                      0x1p-63 * 6.2831853));
  };
  expect_approximation("sin", {0, 0x1p-20}, angles, [](long double x) { return std::sin(x); });
  expect_approximation("cos", {0, 0x1p-20}, angles, [](long double x) { return std::cos(x); });
}

TEST(Float, ApproximateDivision) {
  for (const std::string form : {"full", "full.ftz", "approx", "approx.ftz"}) {
    const bool ftz = form.find("ftz") != std::string::npos;
    Check check;
    check.text = "div." + form + ".f32 %d, %a, %b;";
    check.registers = ".reg .f32 %d, %a, %b;";
    check.values = any_f32;
    check.reference = [=](const Operands& in) {
      const auto input = [&](float value) { return ftz ? flushed(value) : value; };
      const float a = input(in.as_a<float>()), b = input(in.as_b<float>());
      float value = a / b;
      // Above 2^126 the reciprocal is 0.
      if (form[0] == 'a' && std::fabs(b) > 0x1p126f) value = a * std::copysign(0.0f, b);
      return Results{.d = canonical_bits(ftz ? flushed(value) : value), .carry = {}};
    };
    check.equal = [](std::uint64_t got, std::uint64_t expected) {
      return Bound{0x1p-22, 0}.holds(bits_to<float>(got), bits_to<float>(expected));
    };
    expect_as_reference(check);
  }
}

TEST(Float, GrossApproximationsOfDoublesHaveOnlyAnUpperHalf) {
  for (const bool root : {false, true}) {
    for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
      SCOPED_TRACE(isa->name);
      AluBench bench(*isa, ".reg .f64 %d, %a;",
                     std::string(root ? "rsqrt" : "rcp") + ".approx.ftz.f64 %d, %a;");
      const double infinity = INFINITY;
      // The table of the PTX ISA.
      const std::pair<double, double> special[] = {
          {infinity, 0.0},   {0.0, infinity},      {1e-310, infinity},
          {-0.0, -infinity}, {-1e-310, -infinity}, {-infinity, root ? NAN : -0.0}};
      for (std::size_t n = 0; n < std::size(special); ++n) {
        bench.set("%a", static_cast<int>(n), to_bits(special[n].first));
      }
      std::mt19937_64 random(3);
      for (int lane = 8; lane < kLanes; ++lane) {
        const double value = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52,
                                        static_cast<int>(random() % 1800) - 900);
        bench.set("%a", lane, to_bits(value));
      }
      bench.run();
      for (std::size_t n = 0; n < std::size(special); ++n) {
        const double got = bits_to<double>(bench.get("%d", static_cast<int>(n)));
        if (std::isnan(special[n].second)) {
          EXPECT_TRUE(std::isnan(got));
        } else {
          EXPECT_EQ(to_bits(got), to_bits(special[n].second)) << special[n].first;
        }
      }
      for (int lane = 8; lane < kLanes; ++lane) {
        const double a = bits_to<double>(bench.get("%a", lane));
        const double exact = 1 / (root ? std::sqrt(a) : a);
        EXPECT_EQ(bench.get("%d", lane) & 0xffffffff, 0u);
        EXPECT_NEAR(bits_to<double>(bench.get("%d", lane)) / exact, 1, 0x1p-19);
      }
    }
  }
}

TEST(Float, UnknownFormsAreRefused) {
  const std::string singles = ".reg .f32 %d, %a, %b, %c;", doubles = ".reg .f64 %d, %a, %b, %c;";
  EXPECT_THAT(refusal(singles, "add.rna.f32 %d, %a, %b;"), HasSubstr(".rna"));
  EXPECT_THAT(refusal(doubles, "add.ftz.f64 %d, %a, %b;"), HasSubstr("combination"));
  EXPECT_THAT(refusal(doubles, "sin.approx.f64 %d, %a;"), HasSubstr("combination"));
  EXPECT_THAT(refusal(singles, "fma.rn.oob.f32 %d, %a, %b, %c;"), HasSubstr(".oob"));
}

/// Warps of numbers, in which a NaN would have the extremes found in another way.
template <typename T>
void expect_extremes_of_numbers(const std::string& type) {
  const T values[] = {T(0), -T(0), T(1), T(-1), T(0.5), T(-3), INFINITY, -INFINITY};
  const auto rank = [](T x) { return std::pair(x, !std::signbit(x)); };
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    for (const bool maximum : {false, true}) {
      const std::string name = maximum ? "max." : "min.";
      AluBench bench(*isa, ".reg ." + type + " %d, %a, %b;", name + type + " %d, %a, %b;");
      for (int step = 0; step < 8; ++step) {
        for (int lane = 0; lane < kLanes; ++lane) {
          bench.reg<T>("%a")[lane] = values[lane % 8];
          bench.reg<T>("%b")[lane] = values[(lane + step) % 8];
        }
        bench.run();
        for (int lane = 0; lane < kLanes; ++lane) {
          const T a = values[lane % 8], b = values[(lane + step) % 8];
          const T expected = (rank(a) < rank(b)) == maximum ? b : a;
          EXPECT_EQ(to_bits(bench.reg<T>("%d")[lane]), to_bits(expected))
              << isa->name << ": " << name << type << " of " << a << " and " << b;
        }
      }
    }
  }
}
TEST(Float, ExtremesOfNumbers) {
  expect_extremes_of_numbers<float>("f32");
  expect_extremes_of_numbers<double>("f64");
}

TEST(Float, NansBecomeCanonicalInActiveLanesOnly) {
  constexpr std::uint32_t kOther = 0xffffffff;
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench bench(*isa, ".reg .f32 %d, %a, %b;", "add.f32 %d, %a, %b;");
    for (const Mask active : {kAllLanes, Mask{0x00ff0f31}}) {
      for (int lane = 0; lane < kLanes; ++lane) {
        bench.reg<std::uint32_t>("%d")[lane] = kOther;
        bench.reg<float>("%a")[lane] = static_cast<float>(lane);
        bench.reg<float>("%b")[lane] = 1;
      }
      bench.reg<std::uint32_t>("%a")[5] = kOther;
      bench.reg<std::uint32_t>("%a")[20] = kOther;
      bench.run(active);
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t sum =
            lane == 5 || lane == 20 ? kNan32 : std::bit_cast<std::uint32_t>(lane + 1.0f);
        EXPECT_EQ(bench.reg<std::uint32_t>("%d")[lane], (active >> lane & 1) != 0 ? sum : kOther)
            << "lane " << lane;
      }
    }
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::float_test
