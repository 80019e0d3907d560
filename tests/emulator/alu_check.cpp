// Compares instructions with references.
#include "tests/emulator/alu_check.h"

#include <cstdio>

namespace warpgauge::emulator::machine {

std::uint64_t any_integer(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  const std::uint64_t power = std::uint64_t{1} << (bits >> 8 & 63);
  switch (bits & 7) {
    case 0:
      return bits >> 40 & 63;
    case 1:
      return std::uint64_t{0} - (bits >> 40 & 7);
    case 2:
      return power;
    case 3:
      return power - 1;
    case 4:
      return ~power;
    case 5: {  // the extremes of every width
      constexpr std::uint64_t kExtremes[] = {0x7f, 0x80, 0x7fff, 0x8000, 0x7fffffff, 0x80000000};
      return kExtremes[(bits >> 16) % 6];
    }
    default:
      return random();
  }
}

std::uint64_t any_float(std::mt19937_64& random, int exponent_bits, int mantissa_bits) {
  const std::uint64_t bits = random();
  const std::uint64_t sign = (bits & 1) << (exponent_bits + mantissa_bits);
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  const std::uint64_t one = (infinity >> 1) & infinity;
  const std::uint64_t mantissa = random() & ((std::uint64_t{1} << mantissa_bits) - 1);
  const std::uint64_t ulp = std::uint64_t{1} << mantissa_bits;
  switch (bits >> 1 & 15) {
    case 0:
      return sign;
    case 1:
      return sign | infinity;
    case 2:
      return sign | infinity | 1 << (bits >> 8 & 3);
    case 3:
      return sign | infinity | mantissa;
    case 4:
      return sign | mantissa;  // subnormal
    case 5:
      return sign | ((bits >> 8 & 3) + ulp - 2);  // around the smallest normal value
    case 6:
      return sign | (infinity - 1 - (bits >> 8 & 1));  // largest
    case 7:
      return sign | (one + (bits >> 8 & 3) - 1);
    case 8:
    case 9: {  // powers of two and their neighbours
      const std::uint64_t exponent = (bits >> 16) % ((std::uint64_t{1} << exponent_bits) - 2) + 1;
      return sign | ((exponent << mantissa_bits) + (bits >> 8 & 3) - 1);
    }
    case 10:
    case 11:
      return sign | (random() & (infinity | (ulp - 1)));
    default: {  // of moderate size
      const std::uint64_t spread = exponent_bits > 5 ? 31 : 7;
      const std::uint64_t exponent = (one >> mantissa_bits) - spread / 2 + (bits >> 16 & spread);
      return sign | exponent << mantissa_bits | mantissa;
    }
  }
}
void expect_as_reference(const Check& check) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(check.text + " on " + isa->name);
    std::mt19937_64 random(42);
    AluBench bench(*isa, check.registers, check.text);
    const auto same = [&](const char* name, std::uint64_t got, std::uint64_t expected) {
      const int bits = bench.bits_of(name);
      if (bits < 64) expected &= (std::uint64_t{1} << bits) - 1;
      return got == expected || (check.equal && check.equal(got, expected));
    };
    for (int round = 0; round < check.rounds; ++round) {
      const Mask active = round % 3 == 0 ? kAllLanes : static_cast<Mask>(random() | 1);
      std::vector<Operands> operands(kLanes);
      std::vector<Results> before(kLanes);
      bench.carry() = static_cast<Mask>(random());
      for (const char* const name : {"%p", "%q", "%r", "%s"}) {
        if (bench.has(name)) bench.predicate(name) = static_cast<Mask>(random());
      }
      for (int lane = 0; lane < kLanes; ++lane) {
        Operands& in = operands[lane];
        for (const auto& [name, bits] : {std::pair<const char*, std::uint64_t*>{"%a", &in.a},
                                         {"%b", &in.b},
                                         {"%c", &in.c},
                                         {"%e", &in.e}}) {
          if (!bench.has(name)) continue;
          bench.set(name, lane, check.values(random));
          *bits = bench.get(name, lane);
        }
        in.r = bench.has("%r") && (bench.predicate("%r") >> lane & 1) != 0;
        in.s = bench.has("%s") && (bench.predicate("%s") >> lane & 1) != 0;
        in.carry = (bench.carry() >> lane & 1) != 0;
        Results& old = before[lane];
        if (bench.has("%d")) bench.set("%d", lane, random());
        if (bench.has("%d")) old.d = bench.get("%d", lane);
        if (bench.has("%d2")) old.d2 = bench.get("%d2", lane);
        old.p = bench.has("%p") && (bench.predicate("%p") >> lane & 1) != 0;
        old.q = bench.has("%q") && (bench.predicate("%q") >> lane & 1) != 0;
      }
      bench.run(active);
      for (int lane = 0; lane < kLanes; ++lane) {
        const bool on = (active >> lane & 1) != 0;
        const Operands& in = operands[lane];
        const Results expected = on ? check.reference(in) : before[lane];
        const auto where = [&] {
          char text[200];
          std::snprintf(text, sizeof text, "lane %d (%s) a=%llx b=%llx c=%llx e=%llx r=%d carry=%d",
                        lane, on ? "on" : "off", static_cast<unsigned long long>(in.a),
                        static_cast<unsigned long long>(in.b),
                        static_cast<unsigned long long>(in.c),
                        static_cast<unsigned long long>(in.e), in.r, in.carry);
          return std::string(text);
        };
        for (const auto& [name, bits] :
             {std::pair<const char*, std::uint64_t>{"%d", expected.d}, {"%d2", expected.d2}}) {
          if (!bench.has(name)) continue;
          ASSERT_TRUE(same(name, bench.get(name, lane), bits))
              << where() << ": " << name << " is " << std::hex << bench.get(name, lane)
              << " instead of " << bits;
        }
        for (const auto& [name, bit] :
             {std::pair<const char*, bool>{"%p", expected.p}, {"%q", expected.q}}) {
          if (!bench.has(name)) continue;
          ASSERT_EQ((bench.predicate(name) >> lane & 1) != 0, bit) << where() << ": " << name;
        }
        const bool carry = (bench.carry() >> lane & 1) != 0;
        ASSERT_EQ(carry, on ? expected.carry.value_or(in.carry) : in.carry) << where() << ": carry";
      }
    }
  }
}

void expect_cvt(const std::string& operation, const std::string& to, const std::string& from,
                const Values& values, const std::function<std::uint64_t(std::uint64_t)>& function,
                int rounds) {
  Check check;
  check.text = "cvt." + operation + " %d, %a;";
  check.registers = ".reg ." + to + " %d; .reg ." + from + " %a;";
  check.values = values;
  check.rounds = rounds;
  check.reference = [=](const Operands& in) { return Results{.d = function(in.a), .carry = {}}; };
  expect_as_reference(check);
}

std::string refusal(const std::string& registers, const std::string& text) {
  try {
    AluBench bench(*arithmetic_instruction_sets().front(), registers, text);
  } catch (const decode::Unsupported& problem) {
    return problem.what();
  }
  return "";
}

}  // namespace warpgauge::emulator::machine
