// Integer arithmetic against references in 128 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/emulator/alu_check.h"

namespace warpgauge::emulator::machine::integer_test {
namespace {

__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

std::string declared(const std::string& type, const std::string& names) {
  return ".reg ." + type + " " + names + ";";
}

/// A function of values of type T, given and giving 128-bit numbers.
using Exact = std::function<s128(s128 a, s128 b, s128 c)>;

template <typename T>
void expect_exact(const std::string& operation, const std::string& type, int sources,
                  const Exact& exact) {
  const char* const names[] = {"", "%a", "%a, %b", "%a, %b, %c"};
  Check check;
  check.text = operation + " %d, " + names[sources] + ";";
  check.registers = declared(type, std::string("%d, ") + names[sources]);
  check.values = any_integer;
  check.reference = [=](const Operands& in) {
    Results out;
    out.d = static_cast<std::uint64_t>(exact(in.as_a<T>(), in.as_b<T>(), in.as_c<T>()));
    return out;
  };
  expect_as_reference(check);
}

/// Expects exact results for each type of the operation: add.u16 and so on.
void expect_for_all(const std::string& operation, int sources, const Exact& exact) {
  expect_exact<std::uint16_t>(operation + ".u16", "b16", sources, exact);
  expect_exact<std::int16_t>(operation + ".s16", "s16", sources, exact);
  expect_exact<std::uint32_t>(operation + ".u32", "u32", sources, exact);
  expect_exact<std::int32_t>(operation + ".s32", "b32", sources, exact);
  expect_exact<std::uint64_t>(operation + ".u64", "b64", sources, exact);
  expect_exact<std::int64_t>(operation + ".s64", "s64", sources, exact);
}
void expect_for_signed(const std::string& operation, int sources, const Exact& exact) {
  expect_exact<std::int16_t>(operation + ".s16", "s16", sources, exact);
  expect_exact<std::int32_t>(operation + ".s32", "b32", sources, exact);
  expect_exact<std::int64_t>(operation + ".s64", "s64", sources, exact);
}

s128 saturated32(s128 value) {
  return value > 0x7fffffff ? 0x7fffffff : value < -s128{0x80000000} ? -s128{0x80000000} : value;
}

TEST(Integer, SumsAndDifferencesWrap) {
  expect_for_all("add", 2, [](s128 a, s128 b, s128) { return a + b; });
  expect_for_all("sub", 2, [](s128 a, s128 b, s128) { return a - b; });
  expect_for_signed("neg", 1, [](s128 a, s128, s128) { return -a; });
  expect_for_signed("abs", 1, [](s128 a, s128, s128) { return a < 0 ? -a : a; });
}

TEST(Integer, SaturationStopsAtTheLimits) {
  expect_exact<std::int32_t>("add.sat.s32", "s32", 2,
                             [](s128 a, s128 b, s128) { return saturated32(a + b); });
  expect_exact<std::int32_t>("sub.sat.s32", "s32", 2,
                             [](s128 a, s128 b, s128) { return saturated32(a - b); });
  expect_exact<std::int32_t>("mad.hi.sat.s32", "s32", 3,
                             [](s128 a, s128 b, s128 c) { return saturated32((a * b >> 32) + c); });
}

TEST(Integer, ProductsGiveTheirHalves) {
  expect_for_all("mul.lo", 2, [](s128 a, s128 b, s128) {
    return static_cast<s128>(static_cast<u128>(a) * static_cast<u128>(b));
  });
  expect_for_all("mad.lo", 3, [](s128 a, s128 b, s128 c) {
    return static_cast<s128>(static_cast<u128>(a) * static_cast<u128>(b) + static_cast<u128>(c));
  });
  const auto high = [](int bits) -> Exact {
    return [=](s128 a, s128 b, s128 c) { return (a * b >> bits) + c; };
  };
  const auto unsigned_high = [](s128 a, s128 b, s128 c) {
    return static_cast<s128>((static_cast<u128>(a) * static_cast<u128>(b) >> 64)) + c;
  };
  expect_exact<std::uint16_t>("mul.hi.u16", "b16", 2, high(16));
  expect_exact<std::int16_t>("mul.hi.s16", "b16", 2, high(16));
  expect_exact<std::uint32_t>("mul.hi.u32", "b32", 2, high(32));
  expect_exact<std::int32_t>("mul.hi.s32", "b32", 2, high(32));
  expect_exact<std::uint64_t>("mul.hi.u64", "b64", 2, unsigned_high);
  expect_exact<std::int64_t>("mul.hi.s64", "b64", 2, high(64));
  expect_exact<std::uint32_t>("mad.hi.u32", "b32", 3, high(32));
  expect_exact<std::int32_t>("mad.hi.s32", "b32", 3, high(32));
  expect_exact<std::uint64_t>("mad.hi.u64", "b64", 3, unsigned_high);
}

template <typename T>
void expect_wide(const std::string& type, const std::string& narrow, const std::string& wide) {
  for (const bool plus : {false, true}) {
    Check check;
    check.text =
        (plus ? "mad.wide." + type + " %d, %a, %b, %c;" : "mul.wide." + type + " %d, %a, %b;");
    check.registers = declared(narrow, "%a, %b") + declared(wide, plus ? "%d, %c" : "%d");
    check.values = any_integer;
    check.reference = [=](const Operands& in) {
      const s128 product = s128{in.as_a<T>()} * s128{in.as_b<T>()};
      return Results{.d = static_cast<std::uint64_t>(product) + (plus ? in.c : 0), .carry = {}};
    };
    expect_as_reference(check);
  }
}

TEST(Integer, WideProductsAreExact) {
  expect_wide<std::uint16_t>("u16", "b16", "b32");
  expect_wide<std::int16_t>("s16", "s16", "s32");
  expect_wide<std::uint32_t>("u32", "u32", "u64");
  expect_wide<std::int32_t>("s32", "b32", "b64");
}

TEST(Integer, ProductsOf24BitsIgnoreTheUpperByte) {
  const auto low24 = [](s128 a) {
    return static_cast<s128>(static_cast<std::uint32_t>(a) & 0xffffff);
  };
  const auto sign24 = [](s128 a) {
    return static_cast<s128>(static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8);
  };
  expect_exact<std::uint32_t>("mul24.lo.u32", "b32", 2,
                              [=](s128 a, s128 b, s128) { return low24(a) * low24(b); });
  expect_exact<std::uint32_t>("mul24.hi.u32", "b32", 2,
                              [=](s128 a, s128 b, s128) { return low24(a) * low24(b) >> 16; });
  expect_exact<std::int32_t>("mul24.lo.s32", "b32", 2,
                             [=](s128 a, s128 b, s128) { return sign24(a) * sign24(b); });
  expect_exact<std::int32_t>("mul24.hi.s32", "b32", 2,
                             [=](s128 a, s128 b, s128) { return sign24(a) * sign24(b) >> 16; });
  expect_exact<std::uint32_t>("mad24.lo.u32", "b32", 3,
                              [=](s128 a, s128 b, s128 c) { return low24(a) * low24(b) + c; });
  expect_exact<std::int32_t>("mad24.hi.s32", "b32", 3, [=](s128 a, s128 b, s128 c) {
    return (sign24(a) * sign24(b) >> 16) + c;
  });
  expect_exact<std::int32_t>("mad24.hi.sat.s32", "b32", 3, [=](s128 a, s128 b, s128 c) {
    return saturated32((sign24(a) * sign24(b) >> 16) + c);
  });
}

TEST(Integer, DivisionTruncatesAndByZeroGivesOnes) {
  expect_for_all("div", 2, [](s128 a, s128 b, s128) { return b == 0 ? -1 : a / b; });
  expect_for_all("rem", 2, [](s128 a, s128 b, s128) { return b == 0 ? -1 : a % b; });
}

// Quotients next to an integer are where a quotient in floating point could go wrong.
TEST(Integer, DivisionIsExactNextToMultiples) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench bench(*isa, ".reg .u32 %d, %a, %b;", "div.u32 %d, %a, %b;");
    std::mt19937_64 random(7);
    for (int round = 0; round < 3000; ++round) {
      std::uint32_t a[kLanes], b[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        b[lane] = static_cast<std::uint32_t>(random() >> (32 + random() % 32)) | 1;
        const std::uint64_t multiple =
            std::uint64_t{b[lane]} * (0xffffffff / b[lane] - random() % 2);
        a[lane] = static_cast<std::uint32_t>(multiple + random() % 3 - 1);
        bench.set("%a", lane, a[lane]);
        bench.set("%b", lane, b[lane]);
      }
      bench.run();
      for (int lane = 0; lane < kLanes; ++lane) {
        ASSERT_EQ(bench.get("%d", lane), a[lane] / b[lane]) << a[lane] << " / " << b[lane];
      }
    }
  }
}

TEST(Integer, ExtremesAndDifferences) {
  expect_for_all("min", 2, [](s128 a, s128 b, s128) { return a < b ? a : b; });
  expect_for_all("max", 2, [](s128 a, s128 b, s128) { return a < b ? b : a; });
  expect_for_all("sad", 3, [](s128 a, s128 b, s128 c) { return c + (a < b ? b - a : a - b); });
  const auto relu = [](s128 a) { return a < 0 ? s128{0} : a; };
  expect_exact<std::int32_t>("min.relu.s32", "b32", 2,
                             [=](s128 a, s128 b, s128) { return relu(a < b ? a : b); });
  expect_exact<std::int32_t>("max.relu.s32", "b32", 2,
                             [=](s128 a, s128 b, s128) { return relu(a < b ? b : a); });
}

template <typename T>
void expect_packed(const std::string& operation, const std::function<int(int, int)>& exact) {
  Check check;
  check.text = operation + " %d, %a, %b;";
  check.registers = ".reg .b32 %d, %a, %b;";
  check.values = two_of<any_integer, 16>;
  check.reference = [=](const Operands& in) {
    const auto half = [&](int n) {
      const T a = static_cast<T>(in.a >> 16 * n), b = static_cast<T>(in.b >> 16 * n);
      return static_cast<std::uint64_t>(static_cast<std::uint16_t>(exact(a, b))) << 16 * n;
    };
    return Results{.d = half(0) | half(1), .carry = {}};
  };
  expect_as_reference(check);
}

TEST(Integer, PackedHalvesDoNotCarryOver) {
  expect_packed<std::uint16_t>("add.u16x2", [](int a, int b) { return a + b; });
  expect_packed<std::int16_t>("add.s16x2", [](int a, int b) { return a + b; });
  expect_packed<std::uint16_t>("min.u16x2", [](int a, int b) { return std::min(a, b); });
  expect_packed<std::int16_t>("min.s16x2", [](int a, int b) { return std::min(a, b); });
  expect_packed<std::uint16_t>("max.u16x2", [](int a, int b) { return std::max(a, b); });
  expect_packed<std::int16_t>("max.relu.s16x2", [](int a, int b) { return std::max({a, b, 0}); });
  expect_packed<std::int16_t>("min.relu.s16x2",
                              [](int a, int b) { return std::max(std::min(a, b), 0); });
}

/// `exact` gets the carry in; bit `bits` and above of what it returns are the carry out (or
/// borrow).
void expect_carry(const std::string& operation, const std::string& type, int bits, int sources,
                  bool out, const std::function<s128(const Operands&)>& exact) {
  Check check;
  check.text = operation + (sources == 3 ? " %d, %a, %b, %c;" : " %d, %a, %b;");
  check.registers = declared(type, sources == 3 ? "%d, %a, %b, %c" : "%d, %a, %b");
  check.values = any_integer;
  check.reference = [=](const Operands& in) {
    const s128 value = exact(in);
    Results results;
    results.d = static_cast<std::uint64_t>(value);
    if (out) results.carry = (value >> bits) != 0;
    return results;
  };
  expect_as_reference(check);
}

TEST(Integer, CarriesGoFromOneInstructionToTheNext) {
  for (const auto& [bits, u, s] : {std::tuple{32, "u32", "s32"}, {64, "u64", "s64"}}) {
    const auto type = [](const std::string& name, const char* t) { return name + "." + t; };
    const std::string b = "b" + std::to_string(bits);
    const auto sum = [](const Operands& in) { return s128{in.a} + in.b; };
    const auto sum_in = [](const Operands& in) { return s128{in.a} + in.b + in.carry; };
    const auto difference = [](const Operands& in) { return s128{in.a} - in.b; };
    const auto difference_in = [](const Operands& in) { return s128{in.a} - in.b - in.carry; };
    expect_carry(type("add.cc", u), b, bits, 2, true, sum);
    expect_carry(type("add.cc", s), b, bits, 2, true, sum);
    expect_carry(type("addc", u), b, bits, 2, false, sum_in);
    expect_carry(type("addc.cc", s), b, bits, 2, true, sum_in);
    expect_carry(type("sub.cc", u), b, bits, 2, true, difference);
    expect_carry(type("subc", s), b, bits, 2, false, difference_in);
    expect_carry(type("subc.cc", u), b, bits, 2, true, difference_in);
    const auto low = [bits](const Operands& in, bool carry) -> s128 {
      const u128 product = static_cast<u128>(in.a) * in.b;
      const std::uint64_t part =
          bits == 32 ? static_cast<std::uint32_t>(product) : static_cast<std::uint64_t>(product);
      return s128{part} + in.c + (carry && in.carry);
    };
    expect_carry(type("mad.lo.cc", u), b, bits, 3, true,
                 [=](const Operands& in) { return low(in, false); });
    expect_carry(type("madc.lo", u), b, bits, 3, false,
                 [=](const Operands& in) { return low(in, true); });
    expect_carry(type("madc.lo.cc", s), b, bits, 3, true,
                 [=](const Operands& in) { return low(in, true); });
  }
  const auto high = [](const Operands& in, s128 product) {
    return s128{static_cast<std::uint32_t>(product >> 32)} + in.c;
  };
  expect_carry("mad.hi.cc.u32", "b32", 32, 3, true,
               [=](const Operands& in) { return high(in, s128{in.a} * in.b); });
  expect_carry("madc.hi.cc.s32", "b32", 32, 3, true, [=](const Operands& in) {
    return high(in, s128{in.as_a<std::int32_t>()} * in.as_b<std::int32_t>()) + in.carry;
  });
  expect_carry("madc.hi.u64", "b64", 64, 3, false, [](const Operands& in) {
    return s128{static_cast<std::uint64_t>(static_cast<u128>(in.a) * in.b >> 64)} + in.c + in.carry;
  });
}

/// Element n of a word, of `bits` bits.
s128 element(std::uint64_t word, int n, int bits, bool is_signed) {
  const s128 value = static_cast<s128>(word >> bits * n & ((1u << bits) - 1));
  return is_signed && value >= s128{1} << (bits - 1) ? value - (s128{1} << bits) : value;
}

TEST(Integer, DotProductsOfBytes) {
  const auto run = [](const std::string& name, int elements, int first_of_b) {
    for (const bool signed_a : {false, true}) {
      for (const bool signed_b : {false, true}) {
        Check check;
        check.text =
            name + (signed_a ? ".s32" : ".u32") + (signed_b ? ".s32" : ".u32") + " %d, %a, %b, %c;";
        check.registers = ".reg .b32 %d, %a, %b, %c;";
        check.values = [](std::mt19937_64& random) { return random(); };
        check.reference = [=](const Operands& in) {
          s128 sum = static_cast<s128>(in.c);
          for (int n = 0; n < elements; ++n) {
            sum += element(in.a, n, 32 / elements, signed_a) *
                   element(in.b, n + first_of_b, 8, signed_b);
          }
          return Results{.d = static_cast<std::uint64_t>(sum), .carry = {}};
        };
        expect_as_reference(check);
      }
    }
  };
  run("dp4a", 4, 0);
  run("dp2a.lo", 2, 0);
  run("dp2a.hi", 2, 2);
}

TEST(Integer, DestinationMayBeASource) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench bench(*isa, ".reg .b32 %a, %b;", "mad.lo.u32 %a, %a, %b, %a;");
    for (int lane = 0; lane < kLanes; ++lane) {
      bench.set("%a", lane, lane);
      bench.set("%b", lane, 3);
    }
    bench.run(0x0f0f0f0f);
    for (int lane = 0; lane < kLanes; ++lane) {
      EXPECT_EQ(bench.get("%a", lane), (lane & 4) == 0 ? lane * 4u : lane) << lane;
    }
  }
}

TEST(Integer, UnknownFormsAreRefusedByName) {
  using ::testing::HasSubstr;
  const std::string words = ".reg .b32 %d, %a, %b, %c;";
  EXPECT_THAT(refusal(words, "add.funny.s32 %d, %a, %b;"), HasSubstr(".funny"));
  EXPECT_THAT(refusal(words, "add.sat.u32 %d, %a, %b;"), HasSubstr("combination"));
  EXPECT_THAT(refusal(words, "add.rn.s32 %d, %a, %b;"), HasSubstr("rounding"));
  EXPECT_THAT(refusal(words, "mul.s32 %d, %a, %b;"), HasSubstr("lo, hi or wide"));
  EXPECT_THAT(refusal(words, "add.s32 %d, %a;"), HasSubstr("operands"));
  EXPECT_THAT(refusal(words, "addition.s32 %d, %a, %b;"), HasSubstr("addition"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::integer_test
