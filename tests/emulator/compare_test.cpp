// Comparison, selection, moves and the logic of predicates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine::compare_test {
namespace {

using ::testing::HasSubstr;

/// The comparisons' names, by what is true of less, equal, greater and unordered values.
struct Named {
  const char* name;
  bool less, equal, greater, unordered;
};
constexpr Named kOrdered[] = {{"eq", false, true, false, false}, {"ne", true, false, true, false},
                              {"lt", true, false, false, false}, {"le", true, true, false, false},
                              {"gt", false, false, true, false}, {"ge", false, true, true, false}};
constexpr Named kUnordered[] = {
    {"equ", false, true, false, true}, {"neu", true, false, true, true},
    {"ltu", true, false, false, true}, {"leu", true, true, false, true},
    {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};

template <typename T>
bool holds(const Named& named, T a, T b) {
  if (a < b) return named.less;
  if (a > b) return named.greater;
  return a == b ? named.equal : named.unordered;
}

using Truth = std::function<bool(const Operands&)>;

void expect_setp(const std::string& operation, const std::string& type, const Values& values,
                 const Truth& truth) {
  Check check;
  check.text = operation + " %p, %a, %b;";
  check.registers = ".reg ." + type + " %a, %b; .reg .pred %p;";
  check.values = values;
  check.rounds = 30;
  check.reference = [=](const Operands& in) { return Results{.p = truth(in), .carry = {}}; };
  expect_as_reference(check);
}

template <typename T>
void expect_ordered(const std::string& suffix, const std::string& type) {
  // Few values, so that equal ones are met.
  const auto values = [](std::mt19937_64& random) {
    return random() % 2 == 0 ? any_integer(random) : random() % 4 - 2;
  };
  for (const Named& named : kOrdered) {
    expect_setp(std::string("setp.") + named.name + "." + suffix, type, values,
                [=](const Operands& in) { return holds(named, in.as_a<T>(), in.as_b<T>()); });
  }
}

TEST(Compare, Integers) {
  expect_ordered<std::uint16_t>("u16", "b16");
  expect_ordered<std::int16_t>("s16", "b16");
  expect_ordered<std::uint32_t>("u32", "b32");
  expect_ordered<std::int32_t>("s32", "b32");
  expect_ordered<std::uint64_t>("u64", "b64");
  expect_ordered<std::int64_t>("s64", "b64");
  for (const auto& [name, same_as] : {std::pair{"lo", 2}, {"ls", 3}, {"hi", 4}, {"hs", 5}}) {
    expect_setp(
        std::string("setp.") + name + ".u32", "u32", any_integer,
        [=, named = kOrdered[same_as]](const Operands& in) { return holds(named, in.a, in.b); });
  }
  expect_setp("setp.eq.b64", "b64", any_integer, [](const Operands& in) { return in.a == in.b; });
}

template <typename T>
T flushed(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

TEST(Compare, FloatingPoint) {
  for (const auto& list : {std::vector<Named>(std::begin(kOrdered), std::end(kOrdered)),
                           std::vector<Named>(std::begin(kUnordered), std::end(kUnordered))}) {
    for (const Named& named : list) {
      const std::string name = std::string("setp.") + named.name;
      expect_setp(name + ".f32", "f32", any_f32, [=](const Operands& in) {
        return holds(named, in.as_a<float>(), in.as_b<float>());
      });
      expect_setp(name + ".ftz.f32", "f32", any_f32, [=](const Operands& in) {
        return holds(named, flushed(in.as_a<float>()), flushed(in.as_b<float>()));
      });
      expect_setp(name + ".f64", "f64", any_f64, [=](const Operands& in) {
        return holds(named, in.as_a<double>(), in.as_b<double>());
      });
      expect_setp(name + ".f16", "b16", any_f16, [=](const Operands& in) {
        return holds(named, value_of(kF16, in.a), value_of(kF16, in.b));
      });
      expect_setp(name + ".ftz.f16", "b16", any_f16, [=](const Operands& in) {
        return holds(named, flushed_value_of(kF16, in.a), flushed_value_of(kF16, in.b));
      });
      expect_setp(name + ".bf16", "b16", any_bf16, [=](const Operands& in) {
        return holds(named, value_of(kBF16, in.a), value_of(kBF16, in.b));
      });
    }
  }
}

bool combined(const std::string& how, bool value, bool c) {
  return how == "and" ? value && c : how == "or" ? value || c : value != c;
}

TEST(Compare, CombinesWithAPredicateAndGivesTheNegation) {
  for (const std::string how : {"and", "or", "xor"}) {
    for (const bool negated : {false, true}) {
      Check check;
      check.text = "setp.lt." + how + ".s32 %p|%q, %a, %b, " + (negated ? "!%r;" : "%r;");
      check.registers = ".reg .b32 %a, %b; .reg .pred %p, %q, %r;";
      check.values = any_integer;
      check.reference = [=](const Operands& in) {
        const bool value = in.as_a<std::int32_t>() < in.as_b<std::int32_t>();
        const bool c = in.r != negated;
        return Results{.p = combined(how, value, c), .q = combined(how, !value, c), .carry = {}};
      };
      expect_as_reference(check);
    }
  }
  Check plain;
  plain.text = "setp.ge.f32 %p|%q, %a, %b;";
  plain.registers = ".reg .f32 %a, %b; .reg .pred %p, %q;";
  plain.values = any_f32;
  plain.reference = [](const Operands& in) {
    const bool value = in.as_a<float>() >= in.as_b<float>();
    return Results{.p = value, .q = !value, .carry = {}};
  };
  expect_as_reference(plain);
}

TEST(Compare, PairsOfHalvesGiveTwoPredicates) {
  Check check;
  check.text = "setp.gtu.or.f16x2 %p|%q, %a, %b, %r;";
  check.registers = ".reg .b32 %a, %b; .reg .pred %p, %q, %r;";
  check.values = two_of<any_f16, 16>;
  check.reference = [](const Operands& in) {
    const auto half = [&](int n) {
      return !(value_of(kF16, in.a >> 16 * n) <= value_of(kF16, in.b >> 16 * n)) || in.r;
    };
    return Results{.p = half(0), .q = half(1), .carry = {}};
  };
  expect_as_reference(check);
}

TEST(Compare, SetWritesTruthValuesOfItsType) {
  struct Form {
    const char *to, *from, *to_register, *from_register;
    std::uint64_t truth;
    Values values;
    Truth less;
  };
  const Form forms[] = {
      {"u32", "s32", "b32", "b32", 0xffffffff, any_integer,
       [](const Operands& in) { return in.as_a<std::int32_t>() < in.as_b<std::int32_t>(); }},
      {"f32", "u64", "f32", "b64", 0x3f800000, any_integer,
       [](const Operands& in) { return in.a < in.b; }},
      {"s32", "f32", "b32", "f32", 0xffffffff, any_f32,
       [](const Operands& in) { return in.as_a<float>() < in.as_b<float>(); }},
      {"f16", "f16", "b16", "b16", 0x3c00, any_f16,
       [](const Operands& in) { return value_of(kF16, in.a) < value_of(kF16, in.b); }},
      {"u16", "bf16", "b16", "b16", 0xffff, any_bf16,
       [](const Operands& in) { return value_of(kBF16, in.a) < value_of(kBF16, in.b); }}};
  for (const Form& form : forms) {
    for (const bool with_c : {false, true}) {
      Check check;
      check.text = std::string("set.lt.") + (with_c ? "and." : "") + form.to + "." + form.from +
                   " %d, %a, %b" + (with_c ? ", !%r;" : ";");
      check.registers = std::string(".reg .") + form.to_register + " %d; .reg ." +
                        form.from_register + " %a, %b; .reg .pred %r;";
      check.values = form.values;
      check.reference = [&](const Operands& in) {
        const bool value = form.less(in) && (!with_c || !in.r);
        return Results{.d = value ? form.truth : 0, .carry = {}};
      };
      expect_as_reference(check);
    }
  }
  Check pair;
  pair.text = "set.eq.f16x2.f16x2 %d, %a, %b;";
  pair.registers = ".reg .b32 %d, %a, %b;";
  pair.values = two_of<any_f16, 16>;
  pair.reference = [](const Operands& in) {
    const auto half = [&](int n) {
      return value_of(kF16, in.a >> 16 * n) == value_of(kF16, in.b >> 16 * n)
                 ? std::uint64_t{0x3c00} << 16 * n
                 : 0;
    };
    return Results{.d = half(0) | half(1), .carry = {}};
  };
  expect_as_reference(pair);
  // Two halves give a mask each, for any type of the result.
  pair.text = "set.eq.u32.f16x2 %d, %a, %b;";
  pair.reference = [](const Operands& in) {
    const auto half = [&](int n) {
      return value_of(kF16, in.a >> 16 * n) == value_of(kF16, in.b >> 16 * n)
                 ? std::uint64_t{0xffff} << 16 * n
                 : 0;
    };
    return Results{.d = half(0) | half(1), .carry = {}};
  };
  expect_as_reference(pair);
}

TEST(Compare, Selection) {
  for (const std::string type : {"b16", "b32", "b64", "f32", "s64", "u16"}) {
    const std::string width = type.substr(1);
    Check check;
    check.text = "selp." + type + " %d, %a, %b, %r;";
    check.registers = ".reg .b" + width + " %d, %a, %b; .reg .pred %r;";
    check.values = any_integer;
    check.reference = [](const Operands& in) {
      return Results{.d = in.r ? in.a : in.b, .carry = {}};
    };
    expect_as_reference(check);
  }
  for (const std::string width : {"16", "32", "64"}) {
    Check check;
    check.text = "slct.b" + width + ".s32 %d, %a, %b, %c;";
    check.registers = ".reg .b" + width + " %d, %a, %b; .reg .s32 %c;";
    check.values = any_integer;
    check.reference = [](const Operands& in) {
      return Results{.d = in.as_c<std::int32_t>() >= 0 ? in.a : in.b, .carry = {}};
    };
    expect_as_reference(check);
    check.text = "slct.u" + width + ".f32 %d, %a, %b, %c;";
    check.registers = ".reg .b" + width + " %d, %a, %b; .reg .f32 %c;";
    check.values = any_f32;
    check.reference = [](const Operands& in) {
      return Results{.d = in.as_c<float>() >= 0 ? in.a : in.b, .carry = {}};
    };
    expect_as_reference(check);
  }
}

TEST(Compare, ClassesOfValues) {
  const std::pair<const char*, std::function<bool(double, bool)>> classes[] = {
      {"finite", [](double x, bool) { return std::isfinite(x); }},
      {"infinite", [](double x, bool) { return std::isinf(x); }},
      {"number", [](double x, bool) { return !std::isnan(x); }},
      {"notanumber", [](double x, bool) { return std::isnan(x); }},
      {"normal", [](double x, bool tiny) { return std::isfinite(x) && x != 0 && !tiny; }},
      {"subnormal", [](double, bool tiny) { return tiny; }}};
  for (const auto& [name, is] : classes) {
    Check check;
    check.text = std::string("testp.") + name + ".f32 %p, %a;";
    check.registers = ".reg .f32 %a; .reg .pred %p;";
    check.values = any_f32;
    check.reference = [&, is = is](const Operands& in) {
      const float x = in.as_a<float>();
      return Results{.p = is(x, std::fpclassify(x) == FP_SUBNORMAL), .carry = {}};
    };
    expect_as_reference(check);
    check.text = std::string("testp.") + name + ".f64 %p, %a;";
    check.registers = ".reg .f64 %a; .reg .pred %p;";
    check.values = any_f64;
    check.reference = [&, is = is](const Operands& in) {
      const double x = in.as_a<double>();
      return Results{.p = is(x, std::fpclassify(x) == FP_SUBNORMAL), .carry = {}};
    };
    expect_as_reference(check);
  }
}

TEST(Compare, PredicatesHaveLogicOfTheirOwn) {
  const std::pair<std::string, std::function<bool(bool, bool)>> operations[] = {
      {"and.pred %p, %r, %s;", [](bool r, bool s) { return r && s; }},
      {"or.pred %p, %r, %s;", [](bool r, bool s) { return r || s; }},
      {"xor.pred %p, %r, %s;", [](bool r, bool s) { return r != s; }},
      {"not.pred %p, %r;", [](bool r, bool) { return !r; }},
      {"mov.pred %p, %r;", [](bool r, bool) { return r; }}};
  for (const auto& [text, function] : operations) {
    Check check;
    check.text = text;
    check.registers = ".reg .pred %p, %r, %s;";
    check.values = any_integer;
    check.reference = [&, function = function](const Operands& in) {
      return Results{.p = function(in.r, in.s), .carry = {}};
    };
    expect_as_reference(check);
  }
}

TEST(Compare, MovesKeepBits) {
  for (const std::string type : {"b16", "u32", "f32", "b64", "f64"}) {
    const std::string width = type.substr(1);
    Check check;
    check.text = "mov." + type + " %d, %a;";
    check.registers = ".reg .b" + width + " %d, %a;";
    check.values = any_integer;
    check.reference = [](const Operands& in) { return Results{.d = in.a, .carry = {}}; };
    expect_as_reference(check);
  }
}

TEST(Compare, VectorsArePackedLowestFirst) {
  Check pack;
  pack.text = "mov.b64 %d, {%a, %b};";
  pack.registers = ".reg .b64 %d; .reg .b32 %a, %b;";
  pack.values = any_integer;
  pack.reference = [](const Operands& in) { return Results{.d = in.b << 32 | in.a, .carry = {}}; };
  expect_as_reference(pack);
  pack.text = "mov.b32 %d, {%a, %b};";
  pack.registers = ".reg .b32 %d; .reg .b16 %a, %b;";
  pack.reference = [](const Operands& in) { return Results{.d = in.b << 16 | in.a, .carry = {}}; };
  expect_as_reference(pack);
  pack.text = "mov.b64 %d, {%a, %b, %c, %e};";
  pack.registers = ".reg .b64 %d; .reg .b16 %a, %b, %c, %e;";
  pack.reference = [](const Operands& in) {
    return Results{.d = in.e << 48 | in.c << 32 | in.b << 16 | in.a, .carry = {}};
  };
  expect_as_reference(pack);

  Check unpack;
  unpack.text = "mov.b64 {%d, %d2}, %a;";
  unpack.registers = ".reg .b32 %d, %d2; .reg .b64 %a;";
  unpack.values = any_integer;
  unpack.reference = [](const Operands& in) {
    return Results{.d = in.a & 0xffffffff, .d2 = in.a >> 32, .carry = {}};
  };
  expect_as_reference(unpack);
  unpack.text = "mov.b32 {_, %d}, %a;";
  unpack.registers = ".reg .b16 %d; .reg .b32 %a;";
  unpack.reference = [](const Operands& in) { return Results{.d = in.a >> 16, .carry = {}}; };
  expect_as_reference(unpack);
}

TEST(Compare, VectorsOf128Bits) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench pack(*isa, ".reg .b128 %d; .reg .b64 %a, %b;", "mov.b128 %d, {%a, %b};");
    AluBench unpack(*isa, ".reg .b128 %a; .reg .b64 %d, %e;", "mov.b128 {%d, %e}, %a;");
    for (int lane = 0; lane < kLanes; ++lane) {
      pack.set("%a", lane, 1000 + lane);
      pack.set("%b", lane, ~std::uint64_t{0} - lane);
    }
    pack.run(0xfffffff0);
    const auto* const packed = pack.reg<std::uint64_t>("%d");
    EXPECT_EQ(packed[2 * 3], 0u);
    EXPECT_EQ(packed[2 * 4], 1004u);
    EXPECT_EQ(packed[2 * 31 + 1], ~std::uint64_t{0} - 31);
    std::memcpy(unpack.reg<std::byte>("%a"), packed, 16 * kLanes);
    unpack.run();
    EXPECT_EQ(unpack.get("%d", 7), 1007u);
    EXPECT_EQ(unpack.get("%e", 7), ~std::uint64_t{0} - 7);
  }
}

TEST(Compare, VectorsOfFourWordsIn128Bits) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench pack(*isa, ".reg .b128 %d; .reg .b32 %a, %b, %c, %e;",
                  "mov.b128 %d, {%a, %b, %c, %e};");
    AluBench unpack(*isa, ".reg .b128 %a; .reg .b32 %d, %e, %f, %g;",
                    "mov.b128 {%d, %e, %f, %g}, %a;");
    for (const auto& [name, value] : {std::pair("%a", 1), {"%b", 2}, {"%c", 3}, {"%e", 4}}) {
      for (int lane = 0; lane < kLanes; ++lane) pack.set(name, lane, 100 * value + lane);
    }
    pack.run();
    const auto* const packed = pack.reg<std::uint32_t>("%d");
    EXPECT_EQ(packed[4 * 31], 131u);
    EXPECT_EQ(packed[4 * 31 + 3], 431u);
    std::memcpy(unpack.reg<std::byte>("%a"), packed, 16 * kLanes);
    unpack.run();
    EXPECT_EQ(unpack.get("%d", 7), 107u);
    EXPECT_EQ(unpack.get("%e", 7), 207u);
    EXPECT_EQ(unpack.get("%f", 7), 307u);
    EXPECT_EQ(unpack.get("%g", 7), 407u);
  }
}

TEST(Compare, UnknownFormsAreRefused) {
  const std::string registers = ".reg .b32 %a, %b; .reg .pred %p, %q;";
  EXPECT_THAT(refusal(registers, "setp.ltu.s32 %p, %a, %b;"), HasSubstr("combination"));
  EXPECT_THAT(refusal(registers, "setp.lt.strange.s32 %p, %a, %b;"), HasSubstr(".strange"));
  EXPECT_THAT(refusal(registers, "setp.s32 %p, %a, %b;"), HasSubstr("comparison"));
  EXPECT_THAT(refusal(registers, "setp.eq.f16x2 %p, %a, %b;"), HasSubstr("only one predicate"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::compare_test
