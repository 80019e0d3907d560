// Registers of instructions: recorded machine code against the text of nvdisasm, and one or two
// instructions of each kind against what they do.
#include "metrics/machine_code/sass_registers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/machine_code/sass.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::sass_registers_test {
namespace {

using Registers = std::set<int>;

std::string file(const std::string& name) { return recorded_text("sass/" + name); }

/// Registers that the text of an operand names.
Registers named(const std::string& text) {
  static const std::regex kName("(^|[^A-Za-z0-9_])(R|UR|P|UP)([0-9]+)");
  static const std::map<std::string, int> kFiles = {
      {"R", 0}, {"UR", kUniform}, {"P", kPredicate}, {"UP", kUniformPredicate}};
  Registers registers;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), kName);
       found != std::sregex_iterator(); ++found) {
    registers.insert(kFiles.at((*found)[2]) + std::stoi((*found)[3]));
  }
  return registers;
}

/// An instruction as "@!P0 IMAD.WIDE R2, R3, 0x4, R6" says it.
struct Text {
  std::string guard, name;
  std::vector<std::string> operands;

  explicit Text(std::string line) {
    if (line.starts_with("@")) {
      guard = line.substr(0, line.find(' '));
      line.erase(0, guard.size() + 1);
    }
    name = line.substr(0, line.find(' '));
    // The descriptor of a global access is no part of the address.
    line = std::regex_replace(line.substr(name.size()), std::regex("desc\\[UR[0-9]+\\]"), "");
    std::istringstream stream(line);
    for (std::string operand; std::getline(stream, operand, ',');) operands.push_back(operand);
  }
  bool is(const std::string& prefix) const { return name.starts_with(prefix); }
  Registers all() const {
    Registers registers;
    for (const std::string& operand : operands) registers.merge(named(operand));
    return registers;
  }
};

/// False if the instruction reads its first operand, or if its registers are not followed:
/// barriers, calls and returns, masks of lanes.
bool writes_its_first(const Text& text) {
  for (const char* name : {"ST", "RED", "BRA", "BAR", "BRX", "CALL", "RET", "WARPSYNC", "BMOV",
                           "BSSY", "BSYNC", "R2P", "CCTL", "SYNCS", "EXIT", "MEMBAR"}) {
    if (text.is(name)) return false;
  }
  return !text.operands.empty();
}

bool is_followed(const Text& text) {
  for (const char* name : {"CALL", "RET", "WARPSYNC", "BMOV", "SYNCS", "BRX", "BRA.DIV"}) {
    if (text.is(name)) return false;
  }
  return true;
}

Registers set_of(std::initializer_list<std::vector<Register>> lists) {
  Registers registers;
  for (const auto& list : lists) registers.insert(list.begin(), list.end());
  return registers;
}

bool covers(const Registers& outer, const Registers& inner) {
  return std::ranges::includes(outer, inner);
}

class RegistersOf : public testing::TestWithParam<const char*> {};

TEST_P(RegistersOf, InstructionsAreThoseOfNvdisasm) {
  const std::string name = std::string("order.") + GetParam();
  const std::string bytes = file(name + ".cubin");
  std::vector<std::byte> image(bytes.size());
  std::memcpy(image.data(), bytes.data(), bytes.size());
  const Cubin cubin(image);

  std::istringstream listing(file(name + ".txt"));
  std::string kernel, pc, line;
  int checked = 0;
  while (listing >> kernel >> pc && std::getline(listing >> std::ws, line)) {
    const Text text(line);
    const auto code = machine_code(cubin, kernel);
    const std::size_t index = std::stoull(pc, nullptr, 16) / SassWord::kBytes;
    ASSERT_LT(index, code.size()) << line;
    const RegisterUse use = registers_of(code[index], cubin.sm());
    if (!is_followed(text)) continue;
    ++checked;

    const Registers everything = text.all();
    EXPECT_TRUE(covers(set_of({use.reads, use.address, use.writes, use.may_write}), everything))
        << kernel << ' ' << pc << ' ' << line << ": a register is missed";
    EXPECT_TRUE(covers(set_of({use.guard}), named(text.guard))) << line;
    if (writes_its_first(text)) {
      const std::string& first = text.operands.front();
      EXPECT_TRUE(covers(set_of({use.writes, use.may_write}), named(first)))
          << kernel << ' ' << pc << ' ' << line << ": a result is missed";
    }
    for (const int written : set_of({use.writes})) {  // what it replaces, alone or as one of a few
      const bool is_part = std::ranges::any_of(everything, [&](int first) {
        return first <= written && written < first + 4 && written < kPredicate;
      });
      EXPECT_TRUE(is_part || everything.contains(written))
          << kernel << ' ' << pc << ' ' << line << ": does not write " << written;
    }
  }
  EXPECT_GT(checked, 400) << "nothing was recorded";
}

INSTANTIATE_TEST_SUITE_P(Recorded, RegistersOf, testing::Values("sm_75", "sm_90", "sm_120"),
                         [](const auto& suite) { return std::string(suite.param); });

std::string name_of_register(Register number) {
  if (number == kBarrierResult) return " result of a barrier";
  if (number >= kUniformPredicate) return " UP" + std::to_string(number - kUniformPredicate);
  if (number >= kPredicate) return " P" + std::to_string(number - kPredicate);
  if (number >= kUniform) return " UR" + std::to_string(number - kUniform);
  return " R" + std::to_string(number);
}

/// The results of registers_of() and memory_instruction() for an instruction.
std::string description(const SassWord& word, int sm) {
  std::string text;
  if (const auto access = memory_instruction(word, sm)) {
    text = name_of(*access);
    if (is_local(access->op)) text += ", local";
    if (is_load(access->op)) text += ", a load";
    if (returns_a_value(access->op)) text += ", returns a value";
    if (is_generic(access->op)) text += ", generic";
    if (access->guarded) text += ", guarded";
    if (!access->executes) text += ", never executes";
    text += "; ";
  }
  const RegisterUse use = registers_of(word, sm);
  const auto add = [&](const char* what, const std::vector<Register>& registers) {
    if (registers.empty()) return;
    text += what;
    for (const Register number : registers) text += name_of_register(number);
    text += "; ";
  };
  add("reads", use.reads);
  add("address", use.address);
  add("writes", use.writes);
  add("may write", use.may_write);
  add("guard", use.guard);
  return text + "condition " + std::to_string(use.condition);
}

TEST(Registers, OfEachKindOfInstructionAreTheseAndNoOthers) {
  std::istringstream lines(file("registers.txt"));
  int checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    std::istringstream stream(line);
    std::string sm;
    SassWord word;
    stream >> sm >> std::hex >> word.low >> word.high;
    const std::string given = line.substr(0, line.find(" -> "));
    EXPECT_EQ(line, given + " -> " + description(word, std::stoi(sm.substr(3))));
  }
  EXPECT_GT(checked, 900) << "nothing was recorded";
}

/// Bits 77 and 78 say of BAR that it votes; of a load of constants they say something else.
TEST(Registers, OnlyABarrierHasAResultOfABarrier) {
  constexpr std::uint64_t kReduces = 2 << 13, kOneRegister = 4 << 9;
  const std::uint64_t operands = SassWord::kAlways << 12 | 4 << 16 | 2 << 24;
  const auto writes = [&](std::uint64_t opcode, int sm) {
    return registers_of({.low = opcode | operands, .high = kReduces | kOneRegister}, sm).may_write;
  };
  EXPECT_EQ(writes(0xb1d, 90), std::vector{kBarrierResult}) << "BAR.RED";
  EXPECT_TRUE(writes(0xabb, 90).empty()) << "ULDC, indexed";
  EXPECT_TRUE(writes(0x7ac, 100).empty()) << "LDCU";
}

/// A uniform instruction executes once for the warp, so its predicate is another one.
TEST(Registers, APredicateOfAUniformInstructionIsAnotherCondition) {
  const auto condition = [](std::uint64_t opcode) {
    constexpr std::uint64_t kGuard = 3 << 12;  // @P3 or @UP3
    return registers_of({.low = opcode | kGuard}, 90).condition;
  };
  const unsigned of_threads = condition(0x202);   // MOV
  const unsigned of_the_warp = condition(0x282);  // UMOV
  EXPECT_NE(of_threads, of_the_warp);
  EXPECT_EQ(condition(0x07f), of_threads);
  EXPECT_EQ(condition(0x080), of_the_warp) << "the first of the uniform opcodes";
  EXPECT_EQ(condition(0x0bf), of_the_warp) << "the last";
  EXPECT_EQ(condition(0x0c0), of_threads);
}

/// PLOP3.LUT with a table for each of its two results.
TEST(Registers, APredicateThatIsSetToAConstantIsKnown) {
  const auto condition = [](unsigned opcode, unsigned guard) {
    return registers_of({.low = opcode | guard << 12}, 90).condition;
  };
  const auto if_p = [&](unsigned guard) { return condition(0x202, guard); };   // MOV
  const auto if_up = [&](unsigned guard) { return condition(0x282, guard); };  // UMOV
  const auto never = [](std::uint64_t low, std::uint64_t high) {
    return registers_of({.low = low, .high = high}, 90).never;
  };
  using Conditions = std::vector<Condition>;
  constexpr unsigned kNot = 8;
  EXPECT_EQ(never(0x781c, 0x3f0f070), Conditions{if_p(0 | kNot)}) << "P0, PT, PT, PT, PT, 0x80, 0";
  EXPECT_EQ(never(0x781c, 0x3f2e170), Conditions{if_p(1)}) << "P1, PT, PT, PT, PT, 0x8, 0";
  EXPECT_EQ(never(0x781c, 0x3f0e0f2), Conditions{if_p(0)}) << "P0, PT, PT, PT, !PT, 0x2, 0";
  EXPECT_EQ(never(0x781c, 0x7f0e170), Conditions{if_p(0 | kNot)}) << "P0, PT, !PT, PT, PT, 0x8, 0";
  EXPECT_EQ(never(0x789c, 0x3f0e870), Conditions{if_up(0)}) << "UP0, UPT, UPT, UPT, UPT, 0x40, 0";
  EXPECT_EQ(never(0x80781c, 0x3a0e170), (Conditions{if_p(0), if_p(2 | kNot)}))
      << "P0, P2, PT, PT, PT, 0x8, 0x80";
  EXPECT_EQ(never(0x781c, 0xf0e170), Conditions{}) << "P0, PT, P1, PT, PT, 0x8, 0";
  EXPECT_EQ(never(0x781c, 0x3f0f008), Conditions{}) << "P0, PT, PT, PT, UP0, 0x80, 0";
  EXPECT_EQ(never(0x181c, 0x3f0f070), Conditions{}) << "@P1 P0, PT, PT, PT, PT, 0x80, 0";
}

TEST(Registers, AConditionIsAboutThePredicateOfItsGuard) {
  const auto condition = [](unsigned opcode, int sm) {
    constexpr unsigned kGuard = 3 << 12;  // @P3 or @UP3
    return registers_of({.low = opcode | kGuard}, sm).condition;
  };
  constexpr unsigned kMove = 0x202, kUniformMove = 0x282;
  constexpr Register kP3 = kPredicate + 3, kUp3 = kUniformPredicate + 3;
  EXPECT_TRUE(is_about(condition(kMove, 90), kP3));
  EXPECT_FALSE(is_about(condition(kMove, 90), kUp3));
  EXPECT_FALSE(is_about(condition(kMove, 90), kP3 + 1));
  EXPECT_TRUE(is_about(condition(kUniformMove, 90), kUp3));
  EXPECT_FALSE(is_about(condition(kUniformMove, 90), kP3));
  for (const Register predicate : {kP3, kUp3}) {
    EXPECT_TRUE(is_about(condition(kMove, 100), predicate)) << "not known there";
  }
  EXPECT_EQ(registers_of({.low = kMove | 3 << 12}, 100).otherwise, 0u);
}

}  // namespace
}  // namespace warpgauge::metrics::sass_registers_test
