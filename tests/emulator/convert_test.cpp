// cvt: every pair of types, every rounding, against the definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::convert_test {
namespace {

using ::testing::HasSubstr;
__extension__ typedef __int128 s128;

struct Integer {
  std::string name;
  int bits;
  bool is_signed;
  s128 least() const { return is_signed ? -(s128{1} << (bits - 1)) : 0; }
  s128 most() const { return (s128{1} << (is_signed ? bits - 1 : bits)) - 1; }
  s128 value(std::uint64_t from) const {
    const s128 low = bits == 64 ? s128{from} : s128{from & ((std::uint64_t{1} << bits) - 1)};
    return low > most() ? low - (s128{1} << bits) : low;
  }
  /// 8 bits lie in registers of 16.
  std::string reg() const { return "b" + std::to_string(bits == 8 ? 16 : bits); }
};
const Integer kIntegers[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                             {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                             {"u64", 64, false}, {"s64", 64, true}};

s128 clamped(const Integer& type, s128 value) {
  return value < type.least() ? type.least() : value > type.most() ? type.most() : value;
}

TEST(Convert, IntegersToIntegers) {
  for (const Integer& to : kIntegers) {
    for (const Integer& from : kIntegers) {
      const std::string types = to.name + "." + from.name;
      expect_cvt(types, to.reg(), from.reg(), any_integer, [&](std::uint64_t a) {
        // A destination that is wider than its type gets it extended.
        return static_cast<std::uint64_t>(to.value(static_cast<std::uint64_t>(from.value(a))));
      });
      expect_cvt("sat." + types, to.reg(), from.reg(), any_integer, [&](std::uint64_t a) {
        return static_cast<std::uint64_t>(clamped(to, from.value(a)));
      });
    }
  }
}

TEST(Convert, RegistersMayBeWider) {
  const Integer &s8 = kIntegers[1], &u16 = kIntegers[2], &s16 = kIntegers[3];
  expect_cvt("u16.s8", "b32", "b64", any_integer, [&](std::uint64_t a) {
    return static_cast<std::uint64_t>(u16.value(static_cast<std::uint64_t>(s8.value(a))));
  });
  expect_cvt("s16.u16", "b64", "b32", any_integer,
             [&](std::uint64_t a) { return static_cast<std::uint64_t>(s16.value(a)); });
  expect_cvt("u8.u32", "b32", "b32", any_integer, [](std::uint64_t a) { return a & 0xff; });
  expect_cvt("rn.f32.s8", "f32", "b32", any_integer, [&](std::uint64_t a) {
    return to_bits(static_cast<float>(static_cast<int>(s8.value(a))));
  });
  expect_cvt("rn.f16.f32", "b32", "f32", any_f32, [](std::uint64_t a) {
    return std::uint64_t{rounded(kF16, bits_to<float>(a), Mode::rn)};
  });
}

const std::pair<const char*, Mode> kRoundings[] = {
    {"rn", Mode::rn}, {"rz", Mode::rz}, {"rm", Mode::rm}, {"rp", Mode::rp}};

/// Single or double precision, as a SmallFormat would be; double has too many bits for one.
std::uint64_t rounded_double(s128 value, Mode mode) {
  const bool negative = value < 0;
  Quad size = negative ? -static_cast<Quad>(value) : static_cast<Quad>(value);
  double nearest = static_cast<double>(size);
  const auto towards = [&](double limit) { nearest = std::nextafter(nearest, limit); };
  const bool away = (mode == Mode::rm && negative) || (mode == Mode::rp && !negative);
  if (mode != Mode::rn && away && static_cast<Quad>(nearest) < size) towards(INFINITY);
  if (mode != Mode::rn && !away && static_cast<Quad>(nearest) > size) towards(0);
  return to_bits(negative ? -nearest : nearest);
}

TEST(Convert, IntegersToFloats) {
  for (const Integer& from : kIntegers) {
    for (const auto& [name, mode] : kRoundings) {
      const std::string rounding = name;
      expect_cvt(rounding + ".f64." + from.name, "f64", from.reg(), any_integer,
                 [&, mode = mode](std::uint64_t a) { return rounded_double(from.value(a), mode); });
      const std::pair<const char*, SmallFormat> small[] = {
          {"f32", kF32}, {"f16", kF16}, {"bf16", kBF16}};
      for (const auto& [to, format] : small) {
        expect_cvt(rounding + "." + to + "." + from.name,
                   format.exponent_bits + format.mantissa_bits == 31 ? "f32" : "b16", from.reg(),
                   any_integer, [&, mode = mode, format = format](std::uint64_t a) {
                     return std::uint64_t{rounded(format, static_cast<Quad>(from.value(a)), mode)};
                   });
      }
    }
  }
}

/// The value next to x that the suffix asks for.
double integral(const std::string& rounding, double x) {
  if (rounding == "rni") return std::nearbyint(x);
  if (rounding == "rzi") return std::trunc(x);
  return rounding == "rmi" ? std::floor(x) : std::ceil(x);
}

struct Floating {
  const char *name, *reg;
  Values values;
  std::function<double(std::uint64_t)> value;
};
const Floating kFloats[] = {
    {"f16", "b16", any_f16, [](std::uint64_t a) { return value_of(kF16, a); }},
    {"bf16", "b16", any_bf16, [](std::uint64_t a) { return value_of(kBF16, a); }},
    {"f32", "f32", any_f32, [](std::uint64_t a) { return value_of(kF32, a); }},
    {"f64", "f64", any_f64, [](std::uint64_t a) { return bits_to<double>(a); }}};

TEST(Convert, FloatsToIntegersStayInRange) {
  for (const Integer& to : kIntegers) {
    for (const Floating& from : kFloats) {
      for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
        const auto function = [&](double x) {
          if (std::isnan(x)) {
            const bool zero = std::string(from.name) != "f64" && to.bits != 64;
            const std::uint64_t top = std::uint64_t{1} << (to.bits - 1);
            return zero ? 0 : static_cast<std::uint64_t>(to.value(top));
          }
          const double whole = integral(rounding, x);
          const s128 exact = whole >= 0x1p100    ? s128{1} << 100
                             : whole <= -0x1p100 ? -(s128{1} << 100)
                                                 : static_cast<s128>(whole);
          return static_cast<std::uint64_t>(clamped(to, exact));
        };
        // Random bits seldom are numbers of a moderate size.
        const Values values = [&](std::mt19937_64& random) {
          if (random() % 2 != 0) return from.values(random);
          const double x = std::ldexp(static_cast<double>(random() >> 12) - 0x1p51,
                                      static_cast<int>(random() % 70) - 55);
          if (from.name == std::string("f64")) return to_bits(x);
          if (from.name == std::string("f32")) return to_bits(static_cast<float>(x));
          return std::uint64_t{
              rounded(from.name == std::string("f16") ? kF16 : kBF16, x, Mode::rn)};
        };
        expect_cvt(rounding + "." + to.name + "." + from.name, to.reg(), from.reg, values,
                   [&](std::uint64_t a) { return function(from.value(a)); });
        if (std::string(from.name) == "f32") {
          expect_cvt(rounding + ".ftz.sat." + to.name + ".f32", to.reg(), "f32", values,
                     [&](std::uint64_t a) { return function(flushed_value_of(kF32, a)); });
        }
      }
    }
  }
}

TEST(Convert, IntegralValuesOfTheSameType) {
  for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
    expect_cvt(rounding + ".f32.f32", "f32", "f32", any_f32, [&](std::uint64_t a) {
      const double x = integral(rounding, value_of(kF32, a));
      return std::isnan(x) ? 0x7fffffff : to_bits(static_cast<float>(x));
    });
    expect_cvt(rounding + ".ftz.sat.f32.f32", "f32", "f32", any_f32, [&](std::uint64_t a) {
      const double x = integral(rounding, flushed_value_of(kF32, a));
      return to_bits(x > 0 ? std::min(static_cast<float>(x), 1.0f) : 0.0f);
    });
    expect_cvt(rounding + ".f16.f16", "b16", "b16", any_f16, [&](std::uint64_t a) {
      return std::uint64_t{rounded(kF16, integral(rounding, value_of(kF16, a)), Mode::rn)};
    });
    Check check;
    check.text = "cvt." + rounding + ".f64.f64 %d, %a;";
    check.registers = ".reg .f64 %d, %a;";
    check.values = any_f64;
    check.reference = [&](const Operands& in) {
      return Results{.d = to_bits(integral(rounding, in.as_a<double>())), .carry = {}};
    };
    check.equal = [](std::uint64_t got, std::uint64_t expected) {
      return std::isnan(bits_to<double>(got)) && std::isnan(bits_to<double>(expected));
    };
    expect_as_reference(check);
  }
}

TEST(Convert, DoublesToSmallerTypes) {
  for (const auto& [name, mode] : kRoundings) {
    const std::pair<const char*, SmallFormat> small[] = {
        {"f32", kF32}, {"f16", kF16}, {"bf16", kBF16}};
    for (const auto& [to, format] : small) {
      // Neighbours of values that lie half way, too.
      const Values values = [format = format](std::mt19937_64& random) {
        if (random() % 2 == 0) return any_f64(random);
        const double x = value_of(format, random() & format.nan());
        const double next = value_of(format, (random() & format.nan()) + 1);
        const double middle =
            x + (std::fabs(next - x) < std::fabs(x) ? (next - x) / 2 : std::fabs(x) * 0x1p-9);
        return to_bits(random() % 2 == 0 ? middle : std::nextafter(middle, 0.0));
      };
      expect_cvt(
          std::string(name) + "." + to + ".f64", to == std::string("f32") ? "f32" : "b16", "f64",
          values,
          [mode = mode, format = format](std::uint64_t a) {
            return std::uint64_t{rounded(format, bits_to<double>(a), mode)};
          },
          60);
    }
    expect_cvt(std::string(name) + ".ftz.f32.f64", "f32", "f64", any_f64,
               [mode = mode](std::uint64_t a) {
                 const std::uint64_t bits = rounded(kF32, bits_to<double>(a), mode);
                 return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
               });
  }
  expect_cvt(
      "f64.f32", "f64", "f32",
      [](std::mt19937_64& random) { return (any_f32(random) & 0x807fffff) | 0x3f800000; },
      [](std::uint64_t a) { return to_bits(value_of(kF32, a)); });
  expect_cvt(
      "ftz.f64.f32", "f64", "f32", [](std::mt19937_64& random) { return random() & 0x80ffffff; },
      [](std::uint64_t a) { return to_bits(flushed_value_of(kF32, a)); });
  expect_cvt("sat.f32.f32", "f32", "f32", any_f32, [](std::uint64_t a) {
    const float x = bits_to<float>(a);
    return to_bits(x > 0 ? std::min(x, 1.0f) : 0.0f);
  });
}

TEST(Convert, PackSaturatesAndPacks) {
  for (const Integer& to : {kIntegers[2], kIntegers[3]}) {
    Check check;
    check.text = "cvt.pack.sat." + to.name + ".s32 %d, %a, %b;";
    check.registers = ".reg .b32 %d, %a, %b;";
    check.values = any_integer;
    check.reference = [&](const Operands& in) {
      const auto part = [&](std::int32_t x) {
        return static_cast<std::uint64_t>(clamped(to, x)) & 0xffff;
      };
      return Results{.d = part(in.as_a<std::int32_t>()) << 16 | part(in.as_b<std::int32_t>()),
                     .carry = {}};
    };
    expect_as_reference(check);
  }
  for (const Integer& to : {kIntegers[0], kIntegers[1]}) {
    Check check;
    check.text = "cvt.pack.sat." + to.name + ".s32.b32 %d, %a, %b, %c;";
    check.registers = ".reg .b32 %d, %a, %b, %c;";
    check.values = any_integer;
    check.reference = [&](const Operands& in) {
      const auto part = [&](std::int32_t x) {
        return static_cast<std::uint64_t>(clamped(to, x)) & 0xff;
      };
      return Results{
          .d = in.c << 16 | part(in.as_a<std::int32_t>()) << 8 | part(in.as_b<std::int32_t>()),
          .carry = {}};
    };
    expect_as_reference(check);
  }
}

TEST(Convert, UnknownFormsAreRefused) {
  const std::string registers = ".reg .b32 %d, %a; .reg .f32 %f, %g; .reg .b16 %h;";
  EXPECT_THAT(refusal(registers, "cvt.rs.f16x2.f32 %d, %f, %g;"), HasSubstr(".rs"));
  EXPECT_THAT(refusal(registers, "cvt.rn.s32.f32 %d, %f;"), HasSubstr("combination"));
  EXPECT_THAT(refusal(registers, "cvt.f16.f32 %h, %f;"), HasSubstr("combination"));
  EXPECT_THAT(refusal(registers, "cvt.rn.satfinite.e2m1x2.f32 %h, %f, %g;"), HasSubstr("width"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::convert_test
