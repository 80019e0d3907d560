// cvt to and from f16, bf16, tf32 and the formats of 4, 6 and 8 bits: all halves, and floats that
// are hard to round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::convert_small_test {
namespace {

const std::pair<const char*, Mode> kRoundings[] = {
    {"rn", Mode::rn}, {"rz", Mode::rz}, {"rm", Mode::rm}, {"rp", Mode::rp}};

/// Runs a conversion on all values of 16 bits; if the register is wider its upper half holds their
/// complement.
void expect_all(const std::string& text, const std::string& registers,
                const std::function<std::uint64_t(std::uint64_t)>& function) {
  constexpr std::uint64_t kCount = 65536;
  std::vector<std::uint64_t> expected(kCount);
  const auto whole = [](std::uint64_t a) { return a | (~a & 0xffff) << 16; };
  for (std::uint64_t a = 0; a < kCount; ++a) expected[a] = function(whole(a));
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(text + " on " + isa->name);
    AluBench bench(*isa, registers, text);
    for (std::uint64_t first = 0; first < kCount; first += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) bench.set("%a", lane, whole(first + lane));
      bench.run();
      for (int lane = 0; lane < kLanes; ++lane) {
        ASSERT_EQ(bench.get("%d", lane), expected[first + lane]) << std::hex << first + lane;
      }
    }
  }
}

TEST(ConvertSmall, AllHalvesToFloats) {
  const auto nan_or = [](double x) {
    return std::isnan(x) ? std::uint64_t{0x7fffffff} : to_bits(static_cast<float>(x));
  };
  expect_all("cvt.f32.f16 %d, %a;", ".reg .f32 %d; .reg .b16 %a;",
             [&](std::uint64_t a) { return nan_or(value_of(kF16, a)); });
  expect_all("cvt.f32.bf16 %d, %a;", ".reg .f32 %d; .reg .b16 %a;",
             [&](std::uint64_t a) { return nan_or(value_of(kBF16, a)); });
  for (const auto& [name, mode] : kRoundings) {
    expect_all(std::string("cvt.") + name + ".bf16.f16 %d, %a;", ".reg .b16 %d, %a;",
               [mode = mode](std::uint64_t a) {
                 return std::uint64_t{rounded(kBF16, value_of(kF16, a), mode)};
               });
  }
  expect_all("cvt.bf16.f16 %d, %a;", ".reg .b16 %d, %a;", [](std::uint64_t a) {
    return std::uint64_t{rounded(kBF16, value_of(kF16, a), Mode::rn)};
  });
  expect_all("cvt.f16.bf16 %d, %a;", ".reg .b16 %d, %a;", [](std::uint64_t a) {
    return std::uint64_t{rounded(kF16, value_of(kBF16, a), Mode::rn)};
  });
  expect_all("cvt.rz.f16.bf16 %d, %a;", ".reg .b16 %d, %a;", [](std::uint64_t a) {
    return std::uint64_t{rounded(kF16, value_of(kBF16, a), Mode::rz)};
  });
  expect_all("cvt.sat.f32.f16 %d, %a;", ".reg .f32 %d; .reg .b16 %a;", [](std::uint64_t a) {
    const double x = value_of(kF16, a);
    return to_bits(x > 0 ? std::min(static_cast<float>(x), 1.0f) : 0.0f);
  });
}

/// Floats that are hard to round to the format: all of its values, half way points, neighbours.
std::uint64_t hard_float(const SmallFormat& format, std::mt19937_64& random) {
  if (random() % 4 == 0) return any_f32(random);
  const std::uint64_t bits = random() & (2 * format.sign_bit() - 1);
  const double x = value_of(format, bits), next = value_of(format, bits + 1);
  const float middle = static_cast<float>(std::isfinite(next) ? (x + next) / 2 : x);
  const std::uint64_t as_float = to_bits(middle);
  return as_float + random() % 3 - 1;
}

TEST(ConvertSmall, FloatsToHalves) {
  for (const auto& [name, mode] : kRoundings) {
    for (const auto& [type, format] : {std::pair{"f16", kF16}, {"bf16", kBF16}}) {
      const auto values = [format = format](std::mt19937_64& random) {
        return hard_float(format, random);
      };
      expect_cvt(
          std::string(name) + "." + type + ".f32", "b16", "f32", values,
          [mode = mode, format = format](std::uint64_t a) {
            return std::uint64_t{rounded(format, value_of(kF32, a), mode)};
          },
          300);
    }
  }
}

struct Options {
  bool relu, satfinite;
  std::string text() const {
    return std::string(relu ? ".relu" : "") + (satfinite ? ".satfinite" : "");
  }
};
std::uint32_t with_options(const SmallFormat& format, double x, Mode mode, const Options& options) {
  if (options.relu && x <= 0) return 0;
  return rounded(format, x, mode, options.satfinite);
}

TEST(ConvertSmall, ReluAndSatfinite) {
  for (const Options& options :
       {Options{false, false}, {true, false}, {false, true}, {true, true}}) {
    for (const auto& [name, mode] : {std::pair{"rn", Mode::rn}, {"rz", Mode::rz}}) {
      for (const auto& [type, format] :
           {std::pair{"f16", kF16}, {"bf16", kBF16}, {"tf32", kTF32}}) {
        const bool is_tf32 = format.exponent_bits + format.mantissa_bits == 18;
        const auto function = [=, mode = mode, format = format](std::uint64_t a) {
          const std::uint64_t bits = with_options(format, value_of(kF32, a), mode, options);
          if (!is_tf32) return bits;
          return bits == format.nan() ? std::uint64_t{0x7fffffff} : bits << 13;
        };
        const auto values = [format = format](std::mt19937_64& random) {
          return hard_float(format, random);
        };
        expect_cvt(name + options.text() + "." + type + ".f32", is_tf32 ? "b32" : "b16", "f32",
                   values, function, 60);
        if (is_tf32) continue;
        Check pair;
        pair.text = std::string("cvt.") + name + options.text() + "." + type + "x2.f32 %d, %a, %b;";
        pair.registers = ".reg .b32 %d; .reg .f32 %a, %b;";
        pair.values = values;
        pair.reference = [=](const Operands& in) {
          return Results{.d = function(in.a) << 16 | function(in.b), .carry = {}};
        };
        expect_as_reference(pair);
      }
    }
  }
  expect_cvt(
      "rna.tf32.f32", "b32", "f32",
      [](std::mt19937_64& random) { return hard_float(kTF32, random); },
      [](std::uint64_t a) {
        const std::uint64_t bits = rounded(kTF32, value_of(kF32, a), Mode::rna);
        return bits == kTF32.nan() ? std::uint64_t{0x7fffffff} : bits << 13;
      },
      200);
}

/// Two values of a format in one register: its type, and the bits of each.
struct PairType {
  const char* name;
  SmallFormat format;
  int place;
  std::string registers() const { return ".reg .b" + std::to_string(2 * place); }
};

TEST(ConvertSmall, FormatsOfFourToEightBits) {
  for (const PairType& type :
       {PairType{"e4m3x2", kE4M3, 8}, PairType{"e5m2x2", kE5M2, 8}, PairType{"e2m1x2", kE2M1, 4},
        PairType{"e2m3x2", kE2M3, 8}, PairType{"e3m2x2", kE3M2, 8}}) {
    for (const bool relu : {false, true}) {
      const Options options{relu, true};
      const SmallFormat format = type.format;
      const int place = type.place;
      const std::string to = "cvt.rn.satfinite" + std::string(relu ? ".relu." : ".") + type.name;
      const auto part = [=](double x) {
        return std::uint64_t{with_options(format, x, Mode::rn, options)};
      };
      Check check;
      check.text = to + ".f32 %d, %a, %b;";
      check.registers = type.registers() + " %d; .reg .f32 %a, %b;";
      check.values = [=](std::mt19937_64& random) { return hard_float(format, random); };
      check.rounds = 200;
      check.reference = [=](const Operands& in) {
        return Results{.d = part(value_of(kF32, in.a)) << place | part(value_of(kF32, in.b)),
                       .carry = {}};
      };
      expect_as_reference(check);
      expect_all(to + ".f16x2 %d, %a;", type.registers() + " %d; .reg .b32 %a;",
                 [=](std::uint64_t a) {
                   return part(value_of(kF16, a >> 16)) << place | part(value_of(kF16, a & 0xffff));
                 });
      if (place == 4) continue;
      expect_all("cvt.rn" + std::string(relu ? ".relu" : "") + ".f16x2." + type.name + " %d, %a;",
                 ".reg .b32 %d; .reg .b16 %a;", [=](std::uint64_t a) {
                   const auto half = [&](std::uint64_t bits) {
                     const double x = value_of(format, bits & (2 * format.sign_bit() - 1));
                     return std::uint64_t{relu && x <= 0 ? 0 : rounded(kF16, x, Mode::rn)};
                   };
                   return half(a >> 8 & 0xff) << 16 | half(a & 0xff);
                 });
    }
  }
}

TEST(ConvertSmall, AllPairsOfFourBits) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    for (const bool relu : {false, true}) {
      SCOPED_TRACE(isa->name);
      AluBench bench(*isa, ".reg .b8 %a; .reg .b32 %d;",
                     relu ? "cvt.rn.relu.f16x2.e2m1x2 %d, %a;" : "cvt.rn.f16x2.e2m1x2 %d, %a;");
      const auto half = [&](std::uint64_t bits) {
        const double x = value_of(kE2M1, bits);
        return std::uint64_t{relu && x <= 0 ? 0 : rounded(kF16, x, Mode::rn)};
      };
      for (std::uint64_t first = 0; first < 256; first += kLanes) {
        for (int lane = 0; lane < kLanes; ++lane) bench.set("%a", lane, first + lane);
        bench.run();
        for (int lane = 0; lane < kLanes; ++lane) {
          const std::uint64_t a = first + lane;
          ASSERT_EQ(bench.get("%d", lane), half(a >> 4) << 16 | half(a & 15)) << a;
        }
      }
    }
  }
}

/// The exponent that ue8m0 keeps of a value, by the definition: 2^(n - 127) for n to 254.
std::uint64_t exponent_of(double x, bool up, bool saturate) {
  const double size = std::fabs(x);
  if (std::isnan(x)) return 0xff;
  if (std::isinf(x)) return saturate ? 0xfe : 0xff;
  if (size <= 0x1p-127) return 0;
  int exponent = 0;
  const bool is_power = std::frexp(size, &exponent) == 0.5;
  const int number = exponent - 1 + 127 + (up && !is_power ? 1 : 0);
  return static_cast<std::uint64_t>(saturate ? std::min(number, 0xfe) : number);
}

TEST(ConvertSmall, ExponentsAlone) {
  for (const bool up : {false, true}) {
    for (const bool saturate : {false, true}) {
      const std::string to =
          "cvt." + std::string(up ? "rp" : "rz") + (saturate ? ".satfinite" : "") + ".ue8m0x2";
      const auto part = [=](double x) { return exponent_of(x, up, saturate); };
      Check check;
      check.text = to + ".f32 %d, %a, %b;";
      check.registers = ".reg .b16 %d; .reg .f32 %a, %b;";
      check.values = [](std::mt19937_64& random) {
        const std::uint64_t power = random() % 256 << 23;  // or its neighbours
        return random() % 4 == 0 ? any_f32(random) : (power + random() % 3 - 1) & 0xffffffff;
      };
      check.rounds = 200;
      check.reference = [=](const Operands& in) {
        return Results{.d = part(value_of(kF32, in.a)) << 8 | part(value_of(kF32, in.b)),
                       .carry = {}};
      };
      expect_as_reference(check);
      expect_all(to + ".bf16x2 %d, %a;", ".reg .b16 %d; .reg .b32 %a;", [=](std::uint64_t a) {
        return part(value_of(kBF16, a >> 16)) << 8 | part(value_of(kBF16, a & 0xffff));
      });
    }
  }
  expect_all("cvt.rn.bf16x2.ue8m0x2 %d, %a;", ".reg .b32 %d; .reg .b16 %a;", [](std::uint64_t a) {
    const auto half = [](std::uint64_t bits) {
      const double x = bits == 0xff ? NAN : std::ldexp(1, static_cast<int>(bits) - 127);
      return std::uint64_t{rounded(kBF16, x, Mode::rn)};
    };
    return half(a >> 8 & 0xff) << 16 | half(a & 0xff);
  });
}

TEST(ConvertSmall, FormsThatPtxasRefuses) {
  const std::string registers = ".reg .b8 %c; .reg .b16 %h; .reg .b32 %d; .reg .f32 %a, %b;";
  for (const char* const text :
       {"cvt.rn.e2m1x2.f32 %c, %a, %b;", "cvt.rz.satfinite.e2m1x2.f32 %c, %a, %b;",
        "cvt.rn.ue8m0x2.f32 %h, %a, %b;", "cvt.rz.relu.ue8m0x2.f32 %h, %a, %b;",
        "cvt.rz.bf16x2.ue8m0x2 %d, %h;", "cvt.bf16.f32 %h, %a;", "cvt.rn.relu.bf16.f16 %h, %h;"}) {
    EXPECT_NE(refusal(registers, text), "") << text;
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::convert_small_test
