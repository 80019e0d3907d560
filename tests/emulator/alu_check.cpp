// Compares instructions with references.
#include "tests/emulator/alu_check.h"

#include <ios>
#include <ostream>
#include <utility>
#include <vector>

namespace warpgauge::emulator::machine {

std::uint64_t any_integer(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  const std::uint64_t choice = bits & 7, small = bits >> 40 & 63;
  const std::uint64_t power = std::uint64_t{1} << (bits >> 8 & 63);
  switch (choice) {
    case 0:
      return small;
    case 1:
      return std::uint64_t{0} - (small & 7);
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
  const std::uint64_t unity = (infinity >> 1) & infinity;
  const std::uint64_t mantissa = random() & ((std::uint64_t{1} << mantissa_bits) - 1);
  const std::uint64_t ulp = std::uint64_t{1} << mantissa_bits;
  const std::uint64_t choice = bits >> 1 & 15, small = bits >> 8 & 3, large = bits >> 16;
  switch (choice) {
    case 0:
      return sign;
    case 1:
      return sign | infinity;
    case 2:
      return sign | infinity | 1 << small;
    case 3:
      return sign | infinity | mantissa;
    case 4:
      return sign | mantissa;  // subnormal
    case 5:
      return sign | (small + ulp - 2);  // around the smallest normal value
    case 6:
      return sign | (infinity - 1 - (small & 1));  // largest
    case 7:
      return sign | (unity + small - 1);
    case 8:
    case 9: {  // powers of two and their neighbours
      const std::uint64_t exponent = large % ((std::uint64_t{1} << exponent_bits) - 2) + 1;
      return sign | ((exponent << mantissa_bits) + small - 1);
    }
    case 10:
    case 11:
      return sign | (random() & (infinity | (ulp - 1)));
    default: {  // of moderate size
      const std::uint64_t spread = exponent_bits > 5 ? 31 : 7;
      const std::uint64_t exponent = (unity >> mantissa_bits) - spread / 2 + (large & spread);
      return sign | exponent << mantissa_bits | mantissa;
    }
  }
}

namespace {

/// What one round of a check found before the instruction was executed.
struct Round {
  Mask active = 0;
  std::vector<Operands> operands = std::vector<Operands>(kLanes);
  std::vector<Results> before = std::vector<Results>(kLanes);
};

bool bit_of(Mask mask, int lane) { return (mask >> lane & 1) != 0; }

bool predicate(AluBench& bench, const char* name, int lane) {
  return bench.has(name) && bit_of(bench.predicate(name), lane);
}

/// Gives operands to all lanes, and results that the lanes that are off must keep.
Round draw(AluBench& bench, const Check& check, std::mt19937_64& random, bool is_partial) {
  Round round;
  round.active = is_partial ? static_cast<Mask>(random() | 1) : kAllLanes;
  bench.carry() = static_cast<Mask>(random());
  for (const char* const name : {"%p", "%q", "%r", "%s"}) {
    if (bench.has(name)) bench.predicate(name) = static_cast<Mask>(random());
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    Operands& in = round.operands[lane];
    for (const auto& [name, bits] : {std::pair<const char*, std::uint64_t*>{"%a", &in.a},
                                     {"%b", &in.b},
                                     {"%c", &in.c},
                                     {"%e", &in.e}}) {
      if (!bench.has(name)) continue;
      bench.set(name, lane, check.values(random));
      *bits = bench.get(name, lane);
    }
    in.r = predicate(bench, "%r", lane);
    in.s = predicate(bench, "%s", lane);
    in.carry = bit_of(bench.carry(), lane);
    Results& old = round.before[lane];
    if (bench.has("%d")) bench.set("%d", lane, random());
    if (bench.has("%d")) old.d = bench.get("%d", lane);
    if (bench.has("%d2")) old.d2 = bench.get("%d2", lane);
    old.p = predicate(bench, "%p", lane);
    old.q = predicate(bench, "%q", lane);
  }
  return round;
}

struct Lane {
  int number;
  bool is_on;
  const Operands& in;
};

std::ostream& operator<<(std::ostream& out, const Lane& lane) {
  return out << "lane " << lane.number << (lane.is_on ? " (on)" : " (off)") << std::hex
             << " a=" << lane.in.a << " b=" << lane.in.b << " c=" << lane.in.c << " e=" << lane.in.e
             << " r=" << lane.in.r << " carry=" << lane.in.carry;
}

void expect_bits(AluBench& bench, const Check& check, const Lane& lane, const char* name,
                 std::uint64_t expected) {
  if (!bench.has(name)) return;
  const int bits = bench.bits_of(name);
  if (bits < 64) expected &= (std::uint64_t{1} << bits) - 1;
  const std::uint64_t got = bench.get(name, lane.number);
  ASSERT_TRUE(got == expected || (check.equal && check.equal(got, expected)))
      << lane << ": " << name << " is " << got << " instead of " << expected;
}

void expect_predicate(AluBench& bench, const Lane& lane, const char* name, bool expected) {
  if (!bench.has(name)) return;
  ASSERT_EQ(predicate(bench, name, lane.number), expected) << lane << ": " << name;
}

void expect_lane(AluBench& bench, const Check& check, const Round& round, int number) {
  const Lane lane{number, bit_of(round.active, number), round.operands[number]};
  const Results expected = lane.is_on ? check.reference(lane.in) : round.before[number];
  expect_bits(bench, check, lane, "%d", expected.d);
  expect_bits(bench, check, lane, "%d2", expected.d2);
  expect_predicate(bench, lane, "%p", expected.p);
  expect_predicate(bench, lane, "%q", expected.q);
  const bool carry = lane.is_on ? expected.carry.value_or(lane.in.carry) : lane.in.carry;
  ASSERT_EQ(bit_of(bench.carry(), number), carry) << lane << ": carry";
}

}  // namespace

void expect_as_reference(const Check& check) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(check.text + " on " + isa->name);
    std::mt19937_64 random(42);
    AluBench bench(*isa, check.registers, check.text);
    for (int n = 0; n < check.rounds; ++n) {
      const Round round = draw(bench, check, random, n % 3 != 0);
      bench.run(round.active);
      for (int lane = 0; lane < kLanes; ++lane) {
        ASSERT_NO_FATAL_FAILURE(expect_lane(bench, check, round, lane));
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
