// Finds the loops that wait for memory to change: their exit depends on what an atomic, a volatile
// or a synchronising load returned, one that looks behind the L1 cache, or any where a fence makes
// the compiler load anew. Lanes in such a loop may wait for lanes that the scheduler holds back.
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "harness/emulator/machine/decode/function_decoder.h"

namespace warpgauge::emulator::machine::decode {
namespace {

/// `has_fence`: its loop.
bool observes_others(const ptx::Instruction& instruction, bool has_fence) {
  if (instruction.opcode == "atom") return true;
  if (instruction.opcode != "ld") return false;
  if (has_fence && !instruction.has("param") && !instruction.has("const")) return true;
  constexpr std::string_view kLooks[] = {"volatile", "relaxed", "acquire", "mmio", "cg", "cv"};
  return std::ranges::any_of(kLooks, [&](auto modifier) { return instruction.has(modifier); });
}

bool is_fence(const ptx::Instruction& instruction) {
  return instruction.opcode == "membar" || instruction.opcode == "fence";
}

using Names = std::unordered_set<std::string_view>;

bool mentions(const ptx::Operand& operand, const Names& names) {
  if (names.contains(operand.name)) return true;
  return std::any_of(operand.elements.begin(), operand.elements.end(),
                     [&](const auto& element) { return mentions(element, names); });
}

void insert(const ptx::Operand& operand, Names* names) {
  if (!operand.name.empty()) names->insert(operand.name);
  for (const ptx::Operand& element : operand.elements) insert(element, names);
}

bool is_jump(const ptx::Instruction& instruction) {
  return instruction.opcode == "bra" || instruction.opcode == "brx" ||
         instruction.opcode == "ret" || instruction.opcode == "exit";
}

// Adds the results of what was observed, or follows from it, to `names`; true if a jump depends on
// them. (A jump inside of the loop too: it may decide what the exit looks at.)
bool decides_jump(const ptx::Instruction& instruction, bool has_fence, Names* names) {
  const bool guarded_by = instruction.guard && mentions(*instruction.guard, *names);
  if (is_jump(instruction)) {
    return guarded_by ||
           (!instruction.operands.empty() && mentions(instruction.operands[0], *names));
  }
  if (instruction.operands.empty()) return false;
  bool follows = guarded_by || observes_others(instruction, has_fence);
  for (std::size_t n = 1; n < instruction.operands.size() && !follows; ++n) {
    follows = mentions(instruction.operands[n], *names);
  }
  if (follows) insert(instruction.operands[0], names);
  return false;
}

}  // namespace

std::vector<std::uint32_t> FunctionDecoder::loop_from(const Instruction* target) const {
  std::vector<std::uint32_t> positions;
  for (auto n = target - code_.instructions.data(); n <= place_; ++n) {
    const Placed& placed = placed_[static_cast<std::size_t>(n)];
    const bool is_of_body = placed.kind == Placed::Kind::instruction;
    if (is_of_body && placed.position < function().body.size())
      positions.push_back(placed.position);
  }
  return positions;
}

bool FunctionDecoder::is_polling_loop(const Instruction* target) const {
  const std::vector<std::uint32_t> loop = loop_from(target);
  const auto any = [&](auto test) {
    return std::ranges::any_of(loop, [&](auto at) { return test(function().body[at]); });
  };
  const auto is = [](const char* opcode) {
    return [opcode](const ptx::Instruction& instruction) { return instruction.opcode == opcode; };
  };
  // The wait for an mbarrier gives way by itself.
  if (any(is("nanosleep")) && !any(is("mbarrier"))) return true;
  const bool has_fence = any(is_fence);
  if (!any([&](const auto& each) { return observes_others(each, has_fence); })) return false;
  Names names;
  std::size_t known = 0;
  do {  // what a round finds may matter to the next one's start
    known = names.size();
    if (any([&](const auto& each) { return decides_jump(each, has_fence, &names); })) return true;
  } while (names.size() != known);
  return false;
}

void FunctionDecoder::note_polling_loop(const Instruction* target) {
  note_dependence();
  const std::vector<std::uint32_t> loop = loop_from(target);
  const auto& body = function().body;
  const bool has_fence = std::ranges::any_of(loop, [&](auto at) { return is_fence(body[at]); });
  std::unordered_set<std::uint32_t> observing;
  for (const std::uint32_t at : loop) {
    if (observes_others(body[at], has_fence)) observing.insert(at);
  }
  for (KernelCode::Counter& counter : kernel_.result->counters) {
    counter.waits |= counter.code == &code_ && observing.contains(counter.instruction);
  }
}

}  // namespace warpgauge::emulator::machine::decode
