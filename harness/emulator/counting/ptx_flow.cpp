#include "harness/emulator/counting/ptx_flow.h"

#include <algorithm>
#include <array>
#include <string_view>

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

}  // namespace

PtxFlow::PtxFlow(const ptx::Function& function) : graph_(graph_of(function)) {
  const auto begins = begins_of(function);
  for (std::size_t block = 0; block + 1 < begins.size(); ++block) {
    for (std::size_t i = begins[block]; i < begins[block + 1]; ++i) {
      blocks_[function.body[i].text_line] = block;
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
