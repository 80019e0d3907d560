// Chooses sequences and has them compiled.
#include "harness/emulator/machine/compile/compiler.h"

#if defined(__x86_64__)
#include <algorithm>
#include <optional>
#include <utility>

#include "harness/emulator/machine/compile/emitter.h"
#include "harness/emulator/machine/compile/lowering.h"
#endif

namespace warpgauge::emulator::machine::compile {

#if defined(__x86_64__)

namespace {

// Longer ones are parted: predicates that a function writes lie in 32 words on the stack.
constexpr std::size_t kLongest = 128;
constexpr std::size_t kMostPredicates = 30;

bool writes_predicate(const Operation& operation) {
  using isa::AluOp;
  if (operation.kind != Operation::Kind::alu) return false;
  const AluOp op = operation.alu.op;
  return op == AluOp::setp || op == AluOp::pred_mov || op == AluOp::pred_and ||
         op == AluOp::pred_or || op == AluOp::pred_xor;
}

std::vector<Step> sequence_at(const Input& input, std::size_t first) {
  std::vector<Step> result;
  std::size_t predicates = 0;
  Subnormals subnormals = Subnormals::any;
  for (std::size_t n = first; n < input.instructions.size() && result.size() < kLongest; ++n) {
    if (n != first && input.entries[n]) break;
    const Operation& operation = input.operations[n];
    const Instruction& instruction = input.instructions[n];
    const Lowering lower = lowering(instruction, operation);
    if (lower == nullptr && operation.kind != Operation::Kind::nothing) break;
    const Subnormals asked = subnormals_of(operation);
    if (subnormals == Subnormals::any) subnormals = asked;
    if (asked != Subnormals::any && asked != subnormals) break;
    predicates += writes_predicate(operation) ? 2 : 0;
    if (predicates > kMostPredicates) break;
    result.push_back({&instruction, &operation, static_cast<std::uint32_t>(n), lower});
  }
  return result;
}

/// The branch at a place, if the sequence that ends there can go on with it.
std::optional<Step> branch_behind(const Input& input, std::size_t place) {
  if (place >= input.instructions.size() || input.entries[place] ||
      input.operations[place].kind != Operation::Kind::branch) {
    return std::nullopt;
  }
  return Step{&input.instructions[place], &input.operations[place],
              static_cast<std::uint32_t>(place)};
}

}  // namespace

std::shared_ptr<const void> compile(const Input& input) {
  struct Compiled {
    explicit Compiled(const std::vector<SlotLife>& lives) : code(lives) {}
    Emitter code;
    std::vector<Instruction> replaced;
  };
  struct Sequence {
    std::size_t first, length, offset;
  };
  const auto result = std::make_shared<Compiled>(input.lives);
  std::vector<Sequence> sequences;
  for (std::size_t n = 0; n < input.instructions.size();) {
    const std::vector<Step> steps = sequence_at(input, n);
    const std::optional<Step> branch = branch_behind(input, n + steps.size());
    if (!steps.empty() && steps.size() + (branch ? 1 : 0) >= input.shortest) {
      sequences.push_back({n, steps.size(), result->code.function(steps, branch)});
    }
    n += std::max<std::size_t>(1, steps.size());
  }
  if (sequences.empty()) return nullptr;
  try {
    result->code.readyRE();
  } catch (const Xbyak::Error&) {
    return nullptr;
  }
  result->replaced.reserve(sequences.size());
  for (const Sequence& sequence : sequences) {
    Instruction& head = input.instructions[sequence.first];
    result->replaced.push_back(head);
    head = {};
    head.execute = reinterpret_cast<Execute>(
        reinterpret_cast<std::uintptr_t>(result->code.getCode() + sequence.offset));
    head.index = result->replaced.back().index;
    head.fused = static_cast<std::uint16_t>(sequence.length);
    head.detail = &result->replaced.back();
  }
  return result;
}

#else

std::shared_ptr<const void> compile(const Input&) { return nullptr; }

#endif

}  // namespace warpgauge::emulator::machine::compile
