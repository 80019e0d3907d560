// Finds the loops that wait for memory to change: their exit depends on what an atomic, a volatile
// or a synchronising load returned. Lanes in such a loop may wait for lanes that the scheduler
// holds back.
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "harness/emulator/machine/decode/function_decoder.h"

namespace warpgauge::emulator::machine::decode {
namespace {

bool observes_others(const ptx::Instruction& instruction) {
  if (instruction.opcode == "atom") return true;
  if (instruction.opcode != "ld") return false;
  return instruction.has("volatile") || instruction.has("relaxed") || instruction.has("acquire") ||
         instruction.has("mmio");
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
bool decides_jump(const ptx::Instruction& instruction, Names* names) {
  const bool guarded_by = instruction.guard && mentions(*instruction.guard, *names);
  if (is_jump(instruction)) {
    return guarded_by ||
           (!instruction.operands.empty() && mentions(instruction.operands[0], *names));
  }
  if (instruction.operands.empty()) return false;
  bool follows = guarded_by || observes_others(instruction);
  for (std::size_t n = 1; n < instruction.operands.size() && !follows; ++n) {
    follows = mentions(instruction.operands[n], *names);
  }
  if (follows) insert(instruction.operands[0], names);
  return false;
}

}  // namespace

bool FunctionDecoder::is_polling_loop(const Instruction* target) const {
  const auto& body = function().body;
  std::vector<const ptx::Instruction*> loop;
  for (auto n = target - code_.instructions.data(); n <= place_; ++n) {
    const Placed& placed = placed_[static_cast<std::size_t>(n)];
    const bool is_of_body = placed.kind == Placed::Kind::instruction;
    if (is_of_body && placed.position < body.size()) loop.push_back(&body[placed.position]);
  }
  const auto any = [&](auto test) { return std::any_of(loop.begin(), loop.end(), test); };
  // The wait for an mbarrier gives way by itself.
  const bool sleeps = any([](const auto* i) { return i->opcode == "nanosleep"; });
  if (sleeps && !any([](const auto* i) { return i->opcode == "mbarrier"; })) return true;
  if (!any([](const auto* i) { return observes_others(*i); })) return false;
  Names names;
  std::size_t known = 0;
  do {  // what a round finds may matter to the next one's start
    known = names.size();
    if (any([&](const auto* i) { return decides_jump(*i, &names); })) return true;
  } while (names.size() != known);
  return false;
}

void FunctionDecoder::note_polling_loop(const Instruction* target) {
  note_dependence();
  std::unordered_set<std::uint32_t> observing;
  for (auto n = target - code_.instructions.data(); n <= place_; ++n) {
    const Placed& placed = placed_[static_cast<std::size_t>(n)];
    const bool is_of_body = placed.kind == Placed::Kind::instruction;
    if (!is_of_body || placed.position >= function().body.size()) continue;
    if (observes_others(function().body[placed.position])) observing.insert(placed.position);
  }
  for (KernelCode::Counter& counter : kernel_.result->counters) {
    counter.waits |= counter.code == &code_ && observing.contains(counter.instruction);
  }
}

}  // namespace warpgauge::emulator::machine::decode
