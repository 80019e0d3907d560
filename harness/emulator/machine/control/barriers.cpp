// Barriers of a block (bar, barrier) and of a warp (bar.warp.sync). Threads arrive one by one, as
// on GPUs since Volta, so that a warp whose lanes have parted arrives in parts.
#include "harness/emulator/machine/control/barriers.h"

#include <bit>
#include <string>

#include "harness/emulator/machine/checks/access_findings.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {
namespace {

using State = Fragment::State;

BarrierOp operation_of(const Instruction& instruction) {
  return static_cast<BarrierOp>(instruction.flags & kBarrierOperation);
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

// Releases all fragments that wait at barrier `number`, and resets it for its next use.
void release(Block& block, std::uint32_t number) {
  Barrier& barrier = block.barriers[number];
  checks::BlockTimes* const times = block.times();
  const bool of_all = barrier.expected == 0;
  for (WarpState& state : block.warps) {
    WarpEngine& engine = state.engine;
    for (int n = 0; n < engine.count; ++n) {
      Fragment& waiting = engine.others[n];
      if (waiting.state != State::waits_in_block || waiting.waits_on != number) continue;
      write_vote(waiting.frame->registers, *waiting.pc, waiting.mask, barrier);
      waiting.state = State::ready;
      ++waiting.pc;
      ask_scheduler(state.warp);
      if (times != nullptr && !of_all) times->pass(engine.index, number);
    }
  }
  if (times != nullptr) of_all ? times->released_all() : times->released(number);
  barrier = {};
  block.barriers_in_use &= ~(1U << number);
}

std::uint32_t threads_of(const Block& block, std::uint32_t expected) {
  if (expected != 0) return expected;
  return static_cast<std::uint32_t>(block.warps.size()) * kLanes;
}

// What the PTX ISA leaves undefined ("barrier"), and GPUs mostly let pass: lanes of one warp that
// come to an aligned barrier by different instructions, and numbers of threads that differ.
void check_arrival(const Warp& warp, const Instruction& instruction, Mask lanes,
                   const Barrier& barrier, std::uint32_t number, std::uint32_t expected) {
  const Block& block = *warp.engine->block;
  checks::Findings& findings = *warp.memory->findings;
  const Act act = act_of(warp, instruction, std::countr_zero(lanes));
  const std::uint32_t wanted = threads_of(block, expected);
  const std::uint32_t before = threads_of(block, barrier.expected);
  if (barrier.arrived != 0 && wanted != before) {
    report_barrier_counts(findings, act, number, wanted, before);
  }
  for (int n = 0; n < warp.engine->count; ++n) {
    const Fragment& other = warp.engine->others[n];
    if (other.state != State::waits_in_block || other.waits_on != number) continue;
    const bool aligned = ((instruction.flags | other.pc->flags) & kBarrierAligned) != 0;
    if (!aligned || other.pc == &instruction) continue;
    report_parted_barrier(findings, act, number, lanes, other.mask,
                          source_place(*other.frame->code, other.pc->index));
    return;
  }
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
  const Mask votes = (instruction.flags & kBarrierNegated) != 0 ? ~predicate : predicate;
  barrier.votes += static_cast<std::uint32_t>(std::popcount(votes & lanes));
  barrier.voters += static_cast<std::uint32_t>(std::popcount(lanes));
}

}  // namespace

void arrive(Warp& warp, const Instruction& instruction) {
  const std::uint32_t* const numbers = source<std::uint32_t>(warp, instruction, 0);
  const int first = std::countr_zero(warp.active);
  const std::uint32_t number = numbers[first];
  const Mask lanes = lanes_that_name(warp, instruction, 0, warp.active);
  // Lanes that name another barrier execute the instruction once more, by themselves.
  if (lanes != warp.active) set_aside(warp, warp.active & ~lanes, &instruction);
  if (number >= Block::kBarriers) {
    fault(warp, instruction, lanes, Fault::Kind::illegal_instruction,
          ("barrier " + std::to_string(number) + ": a block has barriers 0 to 15").c_str());
  }
  Block& block = *warp.engine->block;
  Barrier& barrier = block.barriers[number];
  const bool counted = (instruction.flags & kBarrierCounted) != 0;
  const std::uint32_t expected = counted ? source<std::uint32_t>(warp, instruction, 1)[first] : 0;
  if (expected % kLanes != 0) {
    fault(warp, instruction, lanes, Fault::Kind::illegal_instruction,
          ("barrier " + std::to_string(number) + " of " + std::to_string(expected) +
           " threads: their number must be a multiple of 32")
              .c_str());
  }
  if (block.launch.options.checks.barriers) {
    check_arrival(warp, instruction, lanes, barrier, number, expected);
  }
  barrier.expected = expected;
  barrier.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
  count_absent_lanes(*warp.engine, barrier);
  count_votes(warp, instruction, lanes, barrier);
  const bool waits = operation_of(instruction) != BarrierOp::arrive;
  checks::BlockTimes* const times = counted ? block.times() : nullptr;
  if (times != nullptr) times->arrive(warp.engine->index, number);
  if (is_complete(block, barrier)) {
    if (waits && times != nullptr) times->pass(warp.engine->index, number);
    if (waits) write_vote(warp.bases[OperandSlot::frame], instruction, lanes, barrier);
    release(block, number);
  } else {
    block.barriers_in_use |= 1U << number;
    if (!waits) return;
    set_aside(warp, lanes, &instruction, State::waits_in_block);
    warp.engine->others[warp.engine->count - 1].waits_on = number;
  }
}

// Lanes may wait for each other in different places, as long as they name the same members.
void sync_warp(Warp& warp, const Instruction& instruction) {
  WarpEngine& engine = *warp.engine;
  const std::uint32_t* const masks = source<std::uint32_t>(warp, instruction, 0);
  for (Mask left = warp.active; left != 0;) {
    const Mask members = masks[std::countr_zero(left)];
    const Mask lanes = lanes_that_name(warp, instruction, 0, left);
    left &= ~lanes;
    check_members(warp, instruction, members, lanes);
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
    // What they did before is ordered. shfl, vote and their like order no memory.
    if (checks::History* const history = warp.memory->history) history->sync_lanes(engine.index);
  }
}

void barriers_after_exit(Block& block) {
  for (std::uint32_t left = block.barriers_in_use; left != 0; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
    const Barrier& barrier = block.barriers[number];
    if (barrier.expected == 0 && is_complete(block, barrier)) release(block, number);
  }
}

}  // namespace warpgauge::emulator::machine::control
