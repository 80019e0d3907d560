// Decoding of branches, exits, traps and clocks.
#include "harness/emulator/machine/decode/control.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "harness/emulator/machine/control/branches.h"
#include "harness/emulator/machine/control/calls.h"
#include "harness/emulator/machine/control/clocks.h"
#include "harness/emulator/machine/control/dependent_launch.h"
#include "harness/emulator/machine/decode/function_decoder.h"

namespace warpgauge::emulator::machine::decode {
namespace {

bool decode_clock(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                  Instruction* result) {
  if (instruction.opcode != "mov" || instruction.operands.size() != 2) return false;
  const control::Clock* const clock = control::find_clock(instruction.operands[1].name);
  if (clock == nullptr) return false;
  result->execute = clock->execute;
  result->offset = clock->shift;
  result->destination = decoder.destination(instruction.operands[0], clock->type);
  return true;
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

void branch_to(const Instruction* target, const control::Branches& branches,
               FunctionDecoder& decoder, Instruction* result) {
  result->detail = target;
  if (decoder.is_ahead(target)) {
    result->execute = branches.forward;
  } else {
    const bool polls = decoder.is_polling_loop(target);
    if (polls) decoder.note_polling_loop(target);
    result->execute = polls ? branches.back_polling : branches.back;
    if (polls) return;
  }
  if (&branches == &control::kJumps) return;
  decoder.note({.kind = compile::Operation::Kind::branch,
                .is_back = !decoder.is_ahead(target),
                .is_watched = &branches == &control::kWatched});
}

void decode_indexed_branch(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                           Instruction* result) {
  expect_modifiers(instruction, {"idx", "uni"});
  const std::string& list = operand_name(instruction, 1);
  const auto& lists = decoder.function().target_lists;
  const auto found =
      std::find_if(lists.begin(), lists.end(), [&](const auto& l) { return l.name == list; });
  if (found == lists.end()) throw Unsupported("there is no list of targets " + list);
  auto table = std::make_shared<control::BranchTable>();
  for (const std::string& target : found->targets) table->targets.push_back(decoder.label(target));
  result->sources[0] = decoder.source(instruction.operands[0], ptx::Type::u32);
  result->detail = decoder.keep(std::move(table));
  result->offset = decoder.branch_number();
  result->execute = control::branch_by_index;
}

}  // namespace

void decode_jump(const Instruction* target, FunctionDecoder& decoder, Instruction* result) {
  branch_to(target, control::kJumps, decoder, result);
}

bool decode_control(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "bra") {
    expect_modifiers(instruction, {"uni"});
    const bool is_watched = decoder.is_watched(instruction);
    branch_to(decoder.label(operand_name(instruction, 0)),
              is_watched ? control::kWatched : control::kBranches, decoder, result);
    result->offset = decoder.branch_number();
    result->sees_to_guard = is_watched && instruction.guard;
  } else if (opcode == "brx") {
    decode_indexed_branch(instruction, decoder, result);
  } else if (opcode == "exit" || opcode == "ret") {
    expect_modifiers(instruction, {"uni"});
    const bool leaves_kernel = opcode == "exit" || decoder.function().is_kernel;
    result->execute = leaves_kernel ? control::execute_exit : control::execute_return;
  } else if (opcode == "trap") {
    result->execute = control::trap;
  } else if (opcode == "brkpt" || opcode == "pmevent" || opcode == "nanosleep") {
    result->execute = control::do_nothing;
  } else if (opcode == "griddepcontrol") {
    expect_modifiers(instruction, {"launch_dependents", "wait"});
    result->execute =
        instruction.has("wait") ? control::wait_for_dependencies : control::let_dependents_begin;
  } else {
    return decode_call(instruction, decoder, result) ||
           decode_cluster(instruction, decoder, result) ||
           decode_mbarrier(instruction, decoder, result) ||
           decode_barrier(instruction, decoder, result) ||
           decode_clock(instruction, decoder, result);
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
