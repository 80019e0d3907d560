// Barriers of a block (bar, barrier) and of a warp (bar.warp.sync). Threads arrive one by one, as
// on GPUs since Volta, so that a warp whose lanes have parted arrives in parts.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "harness/emulator/machine/block.h"
#include "harness/emulator/machine/control.h"
#include "harness/emulator/machine/engine.h"
#include "harness/emulator/machine/function_decoder.h"
#include "harness/emulator/machine/warp_ops.h"

namespace warpgauge::machine {
namespace {

using State = Fragment::State;

enum class BarrierOp : std::uint16_t { sync, arrive, vote_count, vote_all, vote_any };

// Instruction::flags: the operation, whether the number of threads is given (source 1), and whether
// the predicate of a vote (source 2) is negated. Source 0 is the number of the barrier.
constexpr std::uint16_t kOperation = 7;
constexpr std::uint16_t kCounted = 8;
constexpr std::uint16_t kNegated = 16;

BarrierOp operation_of(const Instruction& instruction) {
  return static_cast<BarrierOp>(instruction.flags & kOperation);
}

bool is_complete(const Block& block, const Barrier& barrier) {
  const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block.live_threads;
  return barrier.arrived >= expected;
}

// Writes the result of a vote to lanes that took part in it.
void write_vote(std::byte* registers, const Instruction& instruction, Mask lanes,
                const Barrier& barrier) {
  std::byte* const to = registers + instruction.destination.offset;
  const auto write_predicate = [&](bool value) {
    Mask& predicate = *reinterpret_cast<Mask*>(to);
    predicate = value ? predicate | lanes : predicate & ~lanes;
  };
  switch (operation_of(instruction)) {
    case BarrierOp::vote_count:
      for (Mask left = lanes; left != 0; left &= left - 1) {
        reinterpret_cast<std::uint32_t*>(to)[std::countr_zero(left)] = barrier.votes;
      }
      break;
    case BarrierOp::vote_all:
      write_predicate(barrier.votes == barrier.voters);
      break;
    case BarrierOp::vote_any:
      write_predicate(barrier.votes != 0);
      break;
    default:
      break;
  }
}

// Lets all go on who wait at barrier `number`, and makes it ready for its next use.
void release(Block& block, std::uint32_t number) {
  Barrier& barrier = block.barriers[number];
  for (WarpState& state : block.warps) {
    WarpEngine& engine = state.engine;
    for (int n = 0; n < engine.count; ++n) {
      Fragment& waiting = engine.others[n];
      if (waiting.state != State::waits_in_block || waiting.barrier != number) continue;
      write_vote(waiting.frame->registers, *waiting.pc, waiting.mask, barrier);
      waiting.state = State::ready;
      ++waiting.pc;
      ask_scheduler(state.warp);
    }
  }
  barrier = {};
  block.barriers_in_use &= ~(1U << number);
}

// Where a number of threads is given, lanes that have exited or never were count with their warp.
void count_absent_lanes(const WarpEngine& engine, Barrier& barrier) {
  const std::uint32_t warp_bit = 1U << engine.index;
  if (barrier.expected == 0 || (barrier.warps_seen & warp_bit) != 0) return;
  barrier.warps_seen |= warp_bit;
  barrier.arrived += static_cast<std::uint32_t>(std::popcount(~engine.live));
}

void count_votes(const Warp& warp, const Instruction& instruction, Mask lanes, Barrier& barrier) {
  if (operation_of(instruction) < BarrierOp::vote_count) return;
  const Mask predicate = *source<Mask>(warp, instruction, 2);
  const Mask votes = (instruction.flags & kNegated) != 0 ? ~predicate : predicate;
  barrier.votes += static_cast<std::uint32_t>(std::popcount(votes & lanes));
  barrier.voters += static_cast<std::uint32_t>(std::popcount(lanes));
}

void arrive(Warp& warp, const Instruction& instruction) {
  const std::uint32_t* const numbers = source<std::uint32_t>(warp, instruction, 0);
  const int first = std::countr_zero(warp.active);
  const std::uint32_t number = numbers[first];
  Mask lanes = 0;
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (numbers[lane] == number) lanes |= Mask{1} << lane;
  }
  // Lanes that name another barrier execute the instruction once more, by themselves.
  if (lanes != warp.active) set_aside(warp, warp.active & ~lanes, &instruction);
  if (number >= Block::kBarriers) {
    fault(warp, instruction, lanes, Fault::Kind::illegal_instruction,
          ("barrier " + std::to_string(number) + ": a block has barriers 0 to 15").c_str());
  }
  Block& block = *warp.engine->block;
  Barrier& barrier = block.barriers[number];
  const bool counted = (instruction.flags & kCounted) != 0;
  barrier.expected = counted ? source<std::uint32_t>(warp, instruction, 1)[first] : 0;
  barrier.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
  count_absent_lanes(*warp.engine, barrier);
  count_votes(warp, instruction, lanes, barrier);
  const bool waits = operation_of(instruction) != BarrierOp::arrive;
  if (is_complete(block, barrier)) {
    if (waits) write_vote(warp.bases[Slot::frame], instruction, lanes, barrier);
    release(block, number);
  } else {
    block.barriers_in_use |= 1U << number;
    if (!waits) return;
    set_aside(warp, lanes, &instruction, State::waits_in_block);
    warp.engine->others[warp.engine->count - 1].barrier = static_cast<std::uint8_t>(number);
  }
}

// Lanes may wait for each other in different places, as long as they name the same members.
void sync_warp(Warp& warp, const Instruction& instruction) {
  WarpEngine& engine = *warp.engine;
  const std::uint32_t* const masks = source<std::uint32_t>(warp, instruction, 0);
  for (Mask left = warp.active; left != 0;) {
    const Mask members = masks[std::countr_zero(left)];
    const Mask lanes = lanes_that_name(masks, left, members);
    left &= ~lanes;
    Mask arrived = lanes;
    const auto waits_too = [&](const Fragment& other) {
      return other.state == State::waits_in_warp && other.members == members;
    };
    for (int n = 0; n < engine.count; ++n) {
      if (waits_too(engine.others[n])) arrived |= engine.others[n].mask;
    }
    if ((members & engine.live & ~arrived) != 0) {
      set_aside(warp, lanes, &instruction, State::waits_in_warp, members);
      continue;
    }
    for (int n = 0; n < engine.count; ++n) {
      Fragment& other = engine.others[n];
      if (!waits_too(other)) continue;
      other.state = State::ready;
      ++other.pc;
      ask_scheduler(warp);
    }
  }
}

const std::string& last_part(const ptx::Instruction& instruction) {
  static const std::string kNone;
  return instruction.modifiers.empty() ? kNone : instruction.modifiers.back();
}

// bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}c; and barrier with the same, perhaps
// with .cta and .aligned, which change nothing here.
void decode_block_barrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                          Instruction* result) {
  std::vector<std::string> parts;
  for (const std::string& part : instruction.modifiers) {
    if (part != "cta" && part != "aligned") parts.push_back(part);
  }
  std::string what;
  for (const std::string& part : parts) what += "." + part;
  BarrierOp operation;
  if (what == ".sync") {
    operation = BarrierOp::sync;
  } else if (what == ".arrive") {
    operation = BarrierOp::arrive;
  } else if (what == ".red.popc.u32") {
    operation = BarrierOp::vote_count;
  } else if (what == ".red.and.pred") {
    operation = BarrierOp::vote_all;
  } else if (what == ".red.or.pred") {
    operation = BarrierOp::vote_any;
  } else {
    throw Unsupported("this kind of barrier");
  }
  const auto& operands = instruction.operands;
  const bool votes = operation >= BarrierOp::vote_count;
  const std::size_t begin = votes ? 1 : 0;
  const std::size_t end = operands.size() - begin;
  if (operands.size() <= 2 * begin || end - begin > 2)
    throw Unsupported("wrong number of operands");
  result->flags = static_cast<std::uint16_t>(operation);
  result->sources[0] = decoder.source(operands[begin], ptx::Type::u32);
  if (end - begin == 2) {
    result->sources[1] = decoder.source(operands[begin + 1], ptx::Type::u32);
    result->flags |= kCounted;
  }
  if (votes) {
    const bool counts = operation == BarrierOp::vote_count;
    result->destination =
        decoder.destination(operands[0], counts ? ptx::Type::u32 : ptx::Type::pred);
    result->sources[2] = decoder.source(operands.back(), ptx::Type::pred);
    if (operands.back().negated) result->flags |= kNegated;
  }
  result->execute = arrive;
  decoder.note_dependence();
}

}  // namespace

void barriers_after_exit(Block& block) {
  for (std::uint32_t left = block.barriers_in_use; left != 0; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
    const Barrier& barrier = block.barriers[number];
    if (barrier.expected == 0 && is_complete(block, barrier)) release(block, number);
  }
}

bool decode_barrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result) {
  if (instruction.opcode != "bar" && instruction.opcode != "barrier") return false;
  if (instruction.opcode == "bar" && instruction.has("warp")) {
    if (last_part(instruction) != "sync" || instruction.operands.size() != 1) {
      throw Unsupported("this kind of barrier");
    }
    result->sources[0] = decoder.source(instruction.operands[0], ptx::Type::u32);
    result->execute = sync_warp;
  } else {
    decode_block_barrier(instruction, decoder, result);
  }
  return true;
}

}  // namespace warpgauge::machine
