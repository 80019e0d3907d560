// Makes the graph of a kernel's machine code and answers questions about ways through it.
#include "harness/emulator/counting/machine_flow.h"

#include <algorithm>
#include <utility>

#include "harness/emulator/counting/code_with_lines.h"
#include "metrics/machine_code/sass.h"
#include "metrics/machine_code/sass_registers.h"

namespace warpgauge::emulator::counting {

using metrics::FlowGraph;

namespace {

constexpr metrics::Register kStackPointer = 1;

/// The register in the field of the first operand.
unsigned first_operand(const metrics::SassWord& word) { return word.low >> 24 & 0xff; }

bool is_move(const metrics::SassWord& word) {
  // Opcodes by nvdisasm's names; sass_registers.cpp has a table of all.
  constexpr unsigned kMov = 0x002, kUniformMov = 0x082, kLdc = 0x182, kUniformLdc = 0x0b9;
  constexpr unsigned kImad = 0x024, kHfma2 = 0x031, kHfma2Mma = 0x035, kZero = 0xff;
  switch (word.opcode()) {
    case kMov:
    case kUniformMov:
    case kLdc:
    case kUniformLdc:
      return true;
    case kImad:
    case kHfma2:
    case kHfma2Mma:  // to a product with RZ
      return first_operand(word) == kZero;
    default:
      return false;
  }
}

}  // namespace

MachineFlow::MachineFlow(const CodeWithLines& code, std::string_view kernel)
    : sm_(metrics::known_sm(code.cubin)),
      words_(metrics::machine_code(code.cubin, kernel)),
      flow_(words_, sm_, metrics::branch_targets(code.cubin, kernel), metrics::Calls::stepped_over),
      deciders_(graph().deciders()),
      loops_(graph().loops()),
      gatherings_(find_gatherings()),
      partings_(metrics::partings(words_, flow_, sm_)) {
  for (const metrics::SassWord& word : words_) lines_.push_back(code.lines.find(kernel, word.pc));
}

bool MachineFlow::is_spill(std::size_t index) const {
  const auto access = metrics::memory_instruction(words_[index], sm_);
  return access && metrics::is_local(access->op) && first_operand(words_[index]) == kStackPointer;
}

bool MachineFlow::is_beside(std::size_t index) const {
  const auto reads = metrics::registers_of(words_[index], sm_).reads;
  return is_spill(index) || is_move(words_[index]) || metrics::is_of_gathering(words_[index]) ||
         std::ranges::find(reads, kStackPointer) != reads.end();
}

bool MachineFlow::is_branch_if_apart(std::size_t block) const {
  return metrics::is_branch_if_apart(words_[flow_.blocks()[block].end - 1]);
}

std::size_t MachineFlow::block_at(std::uint64_t pc) const {
  return block_of(pc / metrics::SassWord::kBytes);
}

std::size_t MachineFlow::innermost_loop(std::size_t block) const {
  const auto contains = [&](const FlowGraph::Loop& loop) { return loop.contains[block]; };
  return static_cast<std::size_t>(std::ranges::find_if(loops_, contains) - loops_.begin());
}

bool MachineFlow::is_by_lane(const FlowGraph::Loop& loop, int text_line) const {
  return std::ranges::count(loop.contains, true) == 1 && last_line(loop.header) == text_line;
}

bool MachineFlow::address_changes(std::uint64_t pc, std::size_t loop) const {
  const auto address = metrics::registers_of(words_[pc / metrics::SassWord::kBytes], sm_).address;
  const auto is_of_address = [&](metrics::Register number) {
    return std::ranges::find(address, number) != address.end();
  };
  for (std::size_t block = 0; block < blocks().size(); ++block) {
    if (!loops_[loop].contains[block]) continue;
    for (std::size_t i = blocks()[block].begin; i < blocks()[block].end; ++i) {
      const metrics::RegisterUse use = metrics::registers_of(words_[i], sm_);
      if (std::ranges::any_of(use.writes, is_of_address) ||
          std::ranges::any_of(use.may_write, is_of_address))
        return true;
    }
  }
  return false;
}

bool MachineFlow::execute_together(std::size_t a, std::size_t b) const {
  if (a == b) return true;
  if (!is_always_executed(a) || !is_always_executed(b)) return false;
  // Functions are parts of the graph, between which no way leads.
  return reaches({a}, {}, b) || reaches({b}, {}, a);
}

std::size_t MachineFlow::block_of(std::size_t index) const {
  const auto& blocks = flow_.blocks();
  const auto behind = std::ranges::upper_bound(blocks, index, {}, &metrics::SassBlock::begin);
  return static_cast<std::size_t>(behind - blocks.begin()) - 1;
}

std::vector<MachineFlow::Gathering> MachineFlow::find_gatherings() const {
  std::vector<std::size_t> yields;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (metrics::is_yield(words_[i])) yields.push_back(i);
  }
  std::vector<Gathering> found;
  for (const metrics::Gathering& instructions : metrics::gatherings(words_)) {
    const std::size_t begin = block_of(instructions.begin), end = block_of(instructions.end);
    if (begin == end) continue;
    Gathering& gathering =
        found.emplace_back(instructions.begin, instructions.end, std::vector<bool>(graph().size()));
    walk({begin}, {end}, [&](std::size_t block) {
      gathering.between[block] = true;
      return true;
    });
    const auto is_between = [&](std::size_t index) {
      const std::size_t block = block_of(index);
      return gathering.between[block] && (block != begin || index > gathering.begin);
    };
    gathering.yields = std::ranges::any_of(yields, is_between);
  }
  return found;
}

bool MachineFlow::reaches(std::vector<std::size_t> open, const std::vector<std::size_t>& past,
                          std::size_t to) const {
  bool found = false;
  walk(std::move(open), past, [&](std::size_t block) {
    if (block == to) found = true;
    return !found;
  });
  return found;
}

}  // namespace warpgauge::emulator::counting
