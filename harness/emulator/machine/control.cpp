// Branches, exits, traps, clocks.
#include "harness/emulator/machine/control.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>

#include "harness/emulator/machine/block.h"
#include "harness/emulator/machine/engine.h"
#include "harness/emulator/machine/function_decoder.h"

namespace warpgauge::machine {
namespace {

void count_divergence(WarpEngine& engine, const Instruction& instruction) {
  const Code* const code = engine.frame->code;
  for (Divergence& known : engine.divergences) {
    if (known.instruction != instruction.index || known.code != code) continue;
    ++known.count;
    return;
  }
  engine.divergences.push_back({code, instruction.index, 1});
}

// Part of the fragment jumps. The part that is further back in the code goes first.
void diverge(Warp& warp, const Instruction& instruction, const Instruction* target) {
  count_divergence(*warp.engine, instruction);
  if (target > &instruction) {
    set_aside(warp, warp.active, target);
  } else {
    set_aside(warp, warp.mask & ~warp.active, warp.next);
    warp.next = target;
  }
}

void branch(Warp& warp, const Instruction& instruction) {
  const auto* const target = static_cast<const Instruction*>(instruction.detail);
  if (warp.active == warp.mask) [[likely]] {
    warp.next = target;
  } else {
    diverge(warp, instruction, target);
  }
}

// Fragments that wait further on may be met again after a jump back.
void branch_back(Warp& warp, const Instruction& instruction) {
  branch(warp, instruction);
  if (warp.engine->unordered) [[unlikely]]
    ask_scheduler(warp);
}

void branch_back_polling(Warp& warp, const Instruction& instruction) {
  branch_back(warp, instruction);
  poll(warp);
}

Mask equal_lanes(const std::uint32_t* values, Mask among, std::uint32_t value) {
  Mask equal = 0;
  for (Mask left = among; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (values[lane] == value) equal |= Mask{1} << lane;
  }
  return equal;
}

template <Execute kBranch>
void uncounted(Warp& warp, const Instruction& instruction) {
  --warp.engine->steps;
  kBranch(warp, instruction);
}

struct BranchTable {
  std::vector<const Instruction*> targets;
};

void branch_by_index(Warp& warp, const Instruction& instruction) {
  const auto& targets = static_cast<const BranchTable*>(instruction.detail)->targets;
  const std::uint32_t* const index = source<std::uint32_t>(warp, instruction, 0);
  int ways = warp.active == warp.mask ? 0 : 1;
  for (Mask left = warp.active; left != 0;) {
    const std::uint32_t wanted = index[std::countr_zero(left)];
    const Mask lanes = equal_lanes(index, left, wanted);
    left &= ~lanes;
    if (wanted >= targets.size()) {
      fault(warp, instruction, lanes, Fault::Kind::illegal_instruction,
            "brx.idx with an index that is not in its list of targets");
    }
    ++ways;
    if (lanes == warp.mask) {
      warp.next = targets[wanted];
    } else {
      set_aside(warp, lanes, targets[wanted]);
    }
  }
  if (ways > 1) count_divergence(*warp.engine, instruction);
  ask_scheduler(warp);
}

void do_nothing(Warp&, const Instruction&) {}

void trap(Warp& warp, const Instruction& instruction) {
  fault(warp, instruction, warp.active, Fault::Kind::trap, "trap instruction (__trap, abort)");
}

template <typename T>
void write_uniform(Warp& warp, const Instruction& instruction, T value) {
  T* const to = destination<T>(warp, instruction);
  for (Mask left = warp.active; left != 0; left &= left - 1) to[std::countr_zero(left)] = value;
}

// Clocks tick with each look, so that loops that wait for time to pass end. A cycle is what a warp
// might need for an instruction: times of an emulation mean nothing.
std::uint64_t clock_cycles(Warp& warp) {
  return 4 * warp.engine->steps + 32 * ++warp.engine->clock_reads;
}
std::uint64_t nanoseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

template <typename T>
void read_clock(Warp& warp, const Instruction& instruction) {
  write_uniform(warp, instruction, static_cast<T>(clock_cycles(warp) >> instruction.offset));
}
template <typename T>
void read_timer(Warp& warp, const Instruction& instruction) {
  write_uniform(warp, instruction, static_cast<T>(nanoseconds() >> instruction.offset));
}

struct Clock {
  std::string_view name;
  Execute execute;
  int shift;
  ptx::Type type;
};
constexpr Clock kClocks[] = {
    {"%clock", read_clock<std::uint32_t>, 0, ptx::Type::u32},
    {"%clock_hi", read_clock<std::uint32_t>, 32, ptx::Type::u32},
    {"%clock64", read_clock<std::uint64_t>, 0, ptx::Type::u64},
    {"%globaltimer", read_timer<std::uint64_t>, 0, ptx::Type::u64},
    {"%globaltimer_lo", read_timer<std::uint32_t>, 0, ptx::Type::u32},
    {"%globaltimer_hi", read_timer<std::uint32_t>, 32, ptx::Type::u32},
};

bool decode_clock(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                  Instruction* result) {
  if (instruction.opcode != "mov" || instruction.operands.size() != 2) return false;
  for (const Clock& clock : kClocks) {
    if (instruction.operands[1].name != clock.name) continue;
    result->execute = clock.execute;
    result->offset = clock.shift;
    result->destination = decoder.destination(instruction.operands[0], clock.type);
    return true;
  }
  return false;
}

void expect_modifiers(const ptx::Instruction& instruction,
                      std::initializer_list<std::string_view> known) {
  for (const std::string& modifier : instruction.modifiers) {
    if (std::find(known.begin(), known.end(), modifier) == known.end()) {
      throw Unsupported("modifier ." + modifier);
    }
  }
}

const std::string& operand_name(const ptx::Instruction& instruction, std::size_t n) {
  if (n >= instruction.operands.size()) throw Unsupported("operands are missing");
  return instruction.operands[n].name;
}

/// The three kinds of branches; `forward` for those that go ahead.
struct Branches {
  Execute forward, back, back_polling;
};
constexpr Branches kBranches = {branch, branch_back, branch_back_polling};
constexpr Branches kJumps = {uncounted<branch>, uncounted<branch_back>,
                             uncounted<branch_back_polling>};

void branch_to(const Instruction* target, const Branches& branches, FunctionDecoder& decoder,
               Instruction* result) {
  result->detail = target;
  if (decoder.is_ahead(target)) {
    result->execute = branches.forward;
  } else {
    const bool polls = decoder.is_polling_loop(target);
    if (polls) decoder.note_dependence();
    result->execute = polls ? branches.back_polling : branches.back;
  }
}

void decode_indexed_branch(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                           Instruction* result) {
  expect_modifiers(instruction, {"idx", "uni"});
  const std::string& list = operand_name(instruction, 1);
  const auto& lists = decoder.function().target_lists;
  const auto found =
      std::find_if(lists.begin(), lists.end(), [&](const auto& l) { return l.name == list; });
  if (found == lists.end()) throw Unsupported("there is no list of targets " + list);
  auto table = std::make_shared<BranchTable>();
  for (const std::string& target : found->targets) table->targets.push_back(decoder.label(target));
  result->sources[0] = decoder.source(instruction.operands[0], ptx::Type::u32);
  result->detail = decoder.keep(std::move(table));
  result->execute = branch_by_index;
}

}  // namespace

void execute_exit(Warp& warp, const Instruction&) { exit_lanes(warp, warp.active); }

void decode_jump(const Instruction* target, FunctionDecoder& decoder, Instruction* result) {
  branch_to(target, kJumps, decoder, result);
}

bool decode_control(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "bra") {
    expect_modifiers(instruction, {"uni"});
    branch_to(decoder.label(operand_name(instruction, 0)), kBranches, decoder, result);
  } else if (opcode == "brx") {
    decode_indexed_branch(instruction, decoder, result);
  } else if (opcode == "exit" || opcode == "ret") {
    expect_modifiers(instruction, {"uni"});
    const bool leaves_kernel = opcode == "exit" || decoder.function().is_kernel;
    result->execute = leaves_kernel ? execute_exit : execute_return;
  } else if (opcode == "trap") {
    result->execute = trap;
  } else if (opcode == "brkpt" || opcode == "pmevent" || opcode == "nanosleep") {
    result->execute = do_nothing;
  } else if (opcode == "griddepcontrol") {
    result->execute = do_nothing;  // launches follow each other: what it waits for has happened
  } else {
    return decode_call(instruction, decoder, result) ||
           decode_barrier(instruction, decoder, result) ||
           decode_clock(instruction, decoder, result);
  }
  return true;
}

}  // namespace warpgauge::machine
