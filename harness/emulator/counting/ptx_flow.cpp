// Makes the control flow of a function of the PTX, by lines of the text.
#include "harness/emulator/counting/ptx_flow.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/emulator/machine/program.h"

namespace warpgauge::emulator::counting {
namespace {

using ptx::Instruction;

bool ends_a_block(const Instruction& instruction) {
  constexpr std::array<std::string_view, 5> kOpcodes = {"bra", "brx", "ret", "exit", "trap"};
  return std::ranges::find(kOpcodes, instruction.opcode) != kOpcodes.end();
}

/// The blocks of `function`: where each begins in its body, and behind them the end.
std::vector<std::size_t> begins_of(const ptx::Function& function) {
  std::set<std::size_t> begins = {0, function.body.size()};
  for (const ptx::Label& label : function.labels) begins.insert(label.position);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    if (ends_a_block(function.body[i])) begins.insert(i + 1);
  }
  return {begins.begin(), begins.end()};
}

std::vector<std::string> targets_of(const ptx::Function& function, const Instruction& branch) {
  if (branch.opcode == "bra" && !branch.operands.empty()) return {branch.operands[0].name};
  if (branch.opcode == "brx" && branch.operands.size() > 1) {
    const auto list =
        std::ranges::find(function.target_lists, branch.operands[1].name, &ptx::TargetList::name);
    if (list != function.target_lists.end()) return list->targets;
  }
  return {};
}

metrics::FlowGraph graph_of(const ptx::Function& function) {
  const auto begins = begins_of(function);
  const std::size_t end = begins.size() - 1;
  const auto block_at = [&](std::size_t position) {
    return static_cast<std::size_t>(std::ranges::lower_bound(begins, position) - begins.begin());
  };
  std::map<std::string_view, std::size_t> labels;
  for (const ptx::Label& label : function.labels) labels[label.name] = block_at(label.position);

  std::vector<std::vector<std::size_t>> behind;
  for (std::size_t block = 0; block < end; ++block) {
    const Instruction& last = function.body[begins[block + 1] - 1];
    std::set<std::size_t> next;
    if (!ends_a_block(last) || last.guard) next.insert(block + 1);
    for (const std::string& target : targets_of(function, last)) {
      if (const auto found = labels.find(target); found != labels.end()) next.insert(found->second);
    }
    if (last.opcode == "ret" || last.opcode == "exit" || last.opcode == "trap") next.insert(end);
    behind.emplace_back(next.begin(), next.end());
  }
  return metrics::FlowGraph(std::move(behind));
}

bool is_float(const Instruction& instruction) {
  constexpr std::array<std::string_view, 6> kTypes = {"f64",   "f32",  "f16",
                                                      "f16x2", "bf16", "bf16x2"};
  return std::ranges::any_of(kTypes, [&](std::string_view type) { return instruction.has(type); });
}

/// Arithmetic of one instruction, on every architecture.
bool is_simple_arithmetic(const Instruction& instruction) {
  constexpr std::array<std::string_view, 6> kOpcodes = {"add", "sub", "mul", "fma", "mad", "xor"};
  const bool is_known = std::ranges::find(kOpcodes, instruction.opcode) != kOpcodes.end();
  const bool has_type = instruction.has("s32") || instruction.has("u32") ||
                        instruction.has("b32") || instruction.has("f32") || instruction.has("f64");
  return is_known && has_type && !instruction.has("wide") && !instruction.has("hi") &&
         !instruction.has("cc") && !instruction.guard;
}

/// Whether an instruction has no branch of its own in machine code: quotients and atomics may.
bool is_straight_code(const Instruction& instruction) {
  constexpr std::array<std::string_view, 3> kMoves = {"mov", "ld", "st"};
  return is_simple_arithmetic(instruction) ||
         std::ranges::find(kMoves, instruction.opcode) != kMoves.end();
}

/// Whether executions in a loop cannot be put together to one, as steps of a counter can be, loads
/// and stores side by side, and what the loop compares to end.
bool remains_separate(const Instruction& instruction) {
  constexpr std::array<std::string_view, 14> kOpcodes = {"add", "sub", "mul", "fma",   "mad",
                                                         "ex2", "lg2", "rcp", "rsqrt", "sqrt",
                                                         "sin", "cos", "cvt", "div"};
  constexpr std::array<std::string_view, 6> kOfSeveral = {"bar",  "barrier", "shfl",
                                                          "vote", "atom",    "red"};
  const auto is_one = [&](const auto& opcodes) {
    return std::ranges::find(opcodes, instruction.opcode) != opcodes.end();
  };
  if (instruction.guard) return false;
  return is_one(kOfSeveral) || (is_float(instruction) && is_one(kOpcodes));
}

}  // namespace

PtxFlow::PtxFlow(const ptx::Function& function) : name_(function.name), graph_(graph_of(function)) {
  const auto begins = begins_of(function);
  for (std::size_t block = 0; block + 1 < begins.size(); ++block) {
    for (std::size_t i = begins[block]; i < begins[block + 1]; ++i) {
      const Instruction& instruction = function.body[i];
      blocks_[instruction.text_line] = block;
      if (is_simple_arithmetic(instruction)) simple_.insert(instruction.text_line);
      if (is_straight_code(instruction)) straight_.insert(instruction.text_line);
      if (instruction.opcode == "call") {
        calls_.insert(instruction.text_line);
        calls_through_register_ |= machine::callee(instruction).starts_with('%');
      }
      if (remains_separate(instruction)) separate_.insert(instruction.text_line);
    }
    const Instruction& last = function.body[begins[block + 1] - 1];
    last_lines_.push_back(last.text_line);
    falls_through_.push_back(last.opcode == "bra" && last.guard.has_value());
  }
}

std::optional<std::size_t> PtxFlow::block_at(int text_line) const {
  const auto found = blocks_.find(text_line);
  if (found == blocks_.end()) return std::nullopt;
  return found->second;
}

}  // namespace warpgauge::emulator::counting
