// The operations of mbarriers. A thread that waits is set aside until the phase completes. If then
// no thread of the cluster can go on, all waits come back without success, as their time limits
// allow; if that leads to nothing, the cluster is stuck.
#include "harness/emulator/machine/control/mbarriers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/address_conversion.h"
#include "harness/emulator/machine/memory/cluster_memory.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {
namespace {

using memory::Mbarrier;
using State = Fragment::State;
namespace flag = mbarrier_flag;

MbarrierOp mbarrier_operation_of(const Instruction& instruction) {
  return static_cast<MbarrierOp>(instruction.flags & flag::kOperationMask);
}

/// One operation of one lane on one barrier.
struct Operation {
  Warp& warp;
  const Instruction& instruction;
  const int lane;
  Block& block;  ///< whose barrier it is
  const std::uint32_t offset;

  std::byte* at() const { return block.shared.data() + offset; }
  std::uint64_t bits() const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at(), sizeof(bits));
    return bits;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    const std::string what = "mbarrier at byte " + std::to_string(offset) + " of shared memory: ";
    memory::refuse(warp, instruction, lane, Fault::Kind::illegal_instruction, what + why);
  }

  Mbarrier read() const {
    const auto barrier = memory::mbarrier_of(bits());
    const auto use = block.mbarriers.uses.find(offset);
    if (use == block.mbarriers.uses.end()) refuse("it is not initialised (mbarrier.init)");
    if (!barrier) {
      refuse("something has written over it since it was initialised at " +
             place_of(use->second.init));
    }
    return *barrier;
  }
  Mbarriers::Use& use() const { return block.mbarriers.uses.at(offset); }

  /// Keeps the barrier, after the completion of its phase if that is due.
  void write(Mbarrier barrier) const;
  void expect(Mbarrier& barrier, std::int64_t bytes) const {
    barrier.bytes = checked_bytes(barrier.bytes + bytes);
    if (bytes == 0) return;
    use().expected += static_cast<std::uint64_t>(bytes);
    use().expecter = act_of(warp, instruction, lane);
  }
  void complete(Mbarrier& barrier, std::int64_t bytes, const Act& act) const {
    barrier.bytes = checked_bytes(barrier.bytes - bytes);
    use().arrived += static_cast<std::uint64_t>(bytes);
    use().arriver = act;
  }
  /// Returns the bits before.
  std::uint64_t arrive(std::uint32_t count, std::int64_t bytes, bool drops,
                       bool may_complete) const;
  /// Makes what is in flight for the barrier.
  void settle() const;
  /// It must be known to be initialised; `by_proxy`: to the async proxy.
  void check_use(bool by_proxy) const {
    const auto known = block.mbarriers.uses.find(offset);
    if (block.history == nullptr || known == block.mbarriers.uses.end()) return;
    checks::check_mbarrier(*block.history, {warp, instruction, lane}, warp.memory->rank,
                           known->second, offset, by_proxy);
  }

 private:
  /// The warp of the block that learns what arrives; no number of a warp if it is of another block.
  std::uint32_t knower() const { return warp.engine->block == &block ? warp.engine->index : 0; }
  std::int32_t checked_bytes(std::int64_t bytes) const {
    if (bytes > Mbarrier::kMostBytes || bytes < -Mbarrier::kMostBytes) {
      refuse("its phase expects " + std::to_string(bytes) + " bytes: at most " +
             std::to_string(Mbarrier::kMostBytes) + " are possible");
    }
    return static_cast<std::int32_t>(bytes);
  }
};

/// Writes the result of a wait to lanes of a fragment that is set aside.
void write_predicate(std::byte* registers, const Instruction& instruction, Mask lanes, bool value) {
  Mask& predicate = *reinterpret_cast<Mask*>(registers + instruction.destination.offset);
  predicate = value ? predicate | lanes : predicate & ~lanes;
}

/// A thread of the warp has seen that a phase is complete.
void note_passed(Block& block, std::uint32_t warp) {
  if (checks::BlockTimes* const times = block.times()) times->wait_over(warp);
  block.cluster.memory.times.note_met(block.rank);
  if (block.history != nullptr) block.history->learn_of(Scope::cluster);
}

/// Lets fragments of the block go on that wait for a phase and for which `test` holds.
template <typename Test>
bool wake(Block& block, bool success, Test test) {
  bool any = false;
  for (WarpState& state : block.warps) {
    WarpEngine& engine = state.engine;
    for (int n = 0; n < engine.count; ++n) {
      Fragment& waiting = engine.others[n];
      if (waiting.state != State::waits_for_phase || !test(waiting)) continue;
      write_predicate(waiting.frame->registers, *waiting.pc, waiting.mask, success);
      waiting.state = State::ready;
      ++waiting.pc;
      ask_scheduler(state.warp);
      if (success) note_passed(block, engine.index);
      any = true;
    }
  }
  return any;
}

void Operation::write(Mbarrier barrier) const {
  block.cluster.note_event();
  if (barrier.is_complete()) {
    barrier.pending = barrier.count;
    barrier.is_odd = !barrier.is_odd;
    Mbarriers::Use& known = use();
    ++known.phase;
    known.expected = known.arrived = 0;
    wake(block, true, [&](const Fragment& waiting) { return waiting.waits_on == offset; });
  }
  const std::uint64_t bits = bits_of(barrier);
  std::memcpy(at(), &bits, sizeof(bits));
}

std::uint64_t Operation::arrive(std::uint32_t count, std::int64_t bytes, bool drops,
                                bool may_complete) const {
  Mbarrier barrier = read();
  if (barrier.pending < count) {
    settle();
    barrier = read();
  }
  if (barrier.pending < count) {
    refuse("one arrival too many: " + phase_text(block, offset));
  }
  const std::uint64_t before = bits();
  expect(barrier, bytes);
  barrier.pending -= count;
  if (drops) {
    if (barrier.count <= count) refuse("mbarrier.arrive_drop leaves no thread to arrive");
    barrier.count -= count;
  }
  if (!may_complete && barrier.is_complete()) {
    refuse("mbarrier.arrive.noComplete completes its phase");
  }
  write(barrier);
  return before;
}

void Operation::settle() const {
  std::vector<Mbarriers::InFlight>& in_flight = block.mbarriers.in_flight;
  const auto comes_here = [this](const Mbarriers::InFlight& copy) {
    return copy.sent.barrier.offset == offset;
  };
  for (;;) {
    const auto next = std::ranges::find_if(in_flight, comes_here);
    if (next == in_flight.end()) return;
    const Mbarriers::InFlight arriving = std::move(*next);
    in_flight.erase(next);
    arriving.sent.make();
    if (block.history != nullptr) block.history->has_written(arriving.number, knower());
    Mbarrier barrier = read();
    complete(barrier, arriving.sent.bytes, arriving.act);
    write(barrier);
  }
}

memory::SharedPlace place_in(const Warp& warp, const Instruction& instruction, int lane) {
  const bool is_short = (instruction.flags & flag::kShortAddress) != 0;
  const auto offset = static_cast<std::uint64_t>(instruction.offset);
  if (is_short) {
    const std::uint32_t address = source<std::uint32_t>(warp, instruction, 0)[lane];
    return memory::place_of(*warp.memory, address + static_cast<std::uint32_t>(offset));
  }
  const std::uint64_t address = source<std::uint64_t>(warp, instruction, 0)[lane];
  return memory::place_of_wide(*warp.memory, address + offset);
}

Operation operation_on(Warp& warp, const Instruction& instruction, int lane,
                       memory::SharedPlace place) {
  memory::pointer_to(warp, instruction, lane, place, 8, 8, "mbarrier");
  Block& block = warp.engine->block->cluster.block(place.rank);
  return {warp, instruction, lane, block, place.offset};
}

Operation operation_at(Warp& warp, const Instruction& instruction, int lane) {
  const memory::SharedPlace place = place_in(warp, instruction, lane);
  memory::note_use(warp, instruction, lane, place.rank);
  return operation_on(warp, instruction, lane, place);
}

std::uint32_t count_at(const Warp& warp, const Instruction& instruction, int lane) {
  return source<std::uint32_t>(warp, instruction, 1)[lane];
}

void initialise(const Operation& operation, std::uint32_t count) {
  if (count == 0 || count > Mbarrier::kMostCount) {
    operation.refuse("it is to expect " + std::to_string(count) + " arrivals: 1 to " +
                     std::to_string(Mbarrier::kMostCount) + " are possible");
  }
  Mbarriers::Use& use = operation.block.mbarriers.uses[operation.offset];
  use = {};
  use.init = act_of(operation.warp, operation.instruction, operation.lane);
  use.init_in_cluster = operation.block.cluster.memory.times.next();
  operation.write({.count = count, .pending = count});
  if (auto* const history = operation.block.history.get()) {
    use.init_time = history->times().now();
    history->note_written(operation.offset, 8);
  }
}

void arrive(const Operation& operation, std::uint32_t operand) {
  const Instruction& instruction = operation.instruction;
  const auto has = [&](std::uint16_t f) { return (instruction.flags & f) != 0; };
  const std::uint32_t count = has(flag::kCounted) ? operand : 1;
  const std::int64_t bytes = has(flag::kExpectsBytes) ? operand : 0;
  const std::uint64_t before =
      operation.arrive(count, bytes, mbarrier_operation_of(instruction) == MbarrierOp::arrive_drop,
                       !has(flag::kNoCompletion));
  if (!has(flag::kReturnsState)) return;
  destination<std::uint64_t>(operation.warp, instruction)[operation.lane] = before;
}

/// Whether the phase that the lane waits for has completed.
bool has_completed(const Operation& operation) {
  const auto& [warp, instruction, lane, block, offset] = operation;
  const auto test = [&] {
    const bool is_odd = operation.read().is_odd;
    if (mbarrier_operation_of(instruction) == MbarrierOp::wait_parity) {
      return is_odd != ((count_at(warp, instruction, lane) & 1) != 0);
    }
    const std::uint64_t state = source<std::uint64_t>(warp, instruction, 1)[lane];
    return is_odd != (state >> memory::kOddAt != 0);
  };
  if (test()) return true;
  operation.settle();
  return test();
}

/// Lanes that use one barrier are checked once.
struct Checked {
  const Block* block = nullptr;
  std::uint32_t offset = 0;

  bool is_new(const Operation& operation) {
    if (block == &operation.block && offset == operation.offset) return false;
    block = &operation.block;
    offset = operation.offset;
    return true;
  }
};

void wait(Warp& warp, const Instruction& instruction) {
  Mask complete = 0;
  Checked checked;
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Operation operation = operation_at(warp, instruction, lane);
    if (&operation.block != warp.engine->block) {
      operation.refuse("threads may wait for mbarriers of their own block only");
    }
    if (checked.is_new(operation)) operation.check_use(false);
    if (has_completed(operation)) complete |= Mask{1} << lane;
  }
  const Mask active = warp.active;
  if (complete != 0) {
    write_predicate(warp.bases[OperandSlot::frame], instruction, complete, true);
    note_passed(*warp.engine->block, warp.engine->index);
  }
  for (Mask left = active & ~complete; left != 0;) {
    const std::uint32_t offset = place_in(warp, instruction, std::countr_zero(left)).offset;
    Mask same = 0;
    for (Mask rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (place_in(warp, instruction, lane).offset == offset) same |= Mask{1} << lane;
    }
    left &= ~same;
    set_aside(warp, same, &instruction, State::waits_for_phase);
    warp.engine->others[warp.engine->count - 1].waits_on = offset;
  }
}

}  // namespace

void execute_mbarrier(Warp& warp, const Instruction& instruction) {
  const MbarrierOp op = mbarrier_operation_of(instruction);
  if (op == MbarrierOp::wait_state || op == MbarrierOp::wait_parity) {
    wait(warp, instruction);
    return;
  }
  checks::History* const history = warp.engine->block->history.get();
  if (history != nullptr && (instruction.flags & flag::kReleases) != 0) {
    const bool of_cluster = (instruction.flags & flag::kOfCluster) != 0;
    history->release(warp.engine->index, of_cluster ? Scope::cluster : Scope::block);
  }
  Checked checked;
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Operation operation = operation_at(warp, instruction, lane);
    const std::uint32_t operand =
        op == MbarrierOp::invalidate ? 0 : count_at(warp, instruction, lane);
    if (op != MbarrierOp::init && checked.is_new(operation)) operation.check_use(false);
    switch (op) {
      case MbarrierOp::init:
        initialise(operation, operand);
        break;
      case MbarrierOp::invalidate:
        operation.read();
        operation.settle();
        operation.block.mbarriers.uses.erase(operation.offset);
        break;
      case MbarrierOp::expect_bytes: {
        Mbarrier barrier = operation.read();
        operation.expect(barrier, operand);
        operation.write(barrier);
        break;
      }
      case MbarrierOp::complete_bytes: {
        Mbarrier barrier = operation.read();
        operation.complete(barrier, operand, act_of(warp, instruction, lane));
        operation.write(barrier);
        break;
      }
      default:
        arrive(operation, operand);
        break;
    }
  }
}

void execute_pending_count(Warp& warp, const Instruction& instruction) {
  const std::uint64_t* const states = source<std::uint64_t>(warp, instruction, 0);
  std::uint32_t* const counts = destination<std::uint32_t>(warp, instruction);
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    counts[lane] =
        static_cast<std::uint32_t>(states[lane] >> memory::kPendingAt) & Mbarrier::kMostCount;
  }
}

// The thread's copies are made now, which is as soon as they may be. Without .noinc the barrier
// expects one arrival more, which this is.
void execute_arrive_copied(Warp& warp, const Instruction& instruction) {
  memory::execute_wait_all(warp, instruction);
  checks::BlockTimes* const times = warp.engine->block->times();
  if (times != nullptr) times->publish(warp.engine->index);
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const Operation operation = operation_at(warp, instruction, std::countr_zero(left));
    if ((instruction.flags & flag::kNoIncrement) != 0) {
      operation.arrive(1, 0, false, true);
    } else {
      operation.read();
    }
  }
}

void send(Warp& warp, const Instruction& instruction, int lane, Sent sent) {
  const Operation operation = operation_on(warp, instruction, lane, sent.barrier);
  operation.read();
  operation.check_use(true);
  checks::History::CopyNumber number = 0;
  if (checks::History* const history = operation.block.history.get()) {
    number =
        history->begin_write({warp, instruction, lane}, {sent.to.offset, sent.bytes}, sent.reduces);
  }
  operation.block.mbarriers.in_flight.push_back(
      {std::move(sent), number, act_of(warp, instruction, lane)});
}

bool give_up_waiting(Block& block) {
  return wake(block, false, [](const Fragment&) { return true; });
}

void report_missing_bytes(Block& block) {
  if (block.history == nullptr || !block.history->looks_at_copies()) return;
  for (const auto& [offset, use] : block.mbarriers.uses) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, block.shared.data() + offset, sizeof(bits));
    const auto barrier = memory::mbarrier_of(bits);
    const auto comes_here = [at = offset](const Mbarriers::InFlight& in_flight) {
      return in_flight.sent.barrier.offset == at;
    };
    const bool is_under_way = std::ranges::any_of(block.mbarriers.in_flight, comes_here);
    if (!barrier || barrier->bytes == 0 || is_under_way) continue;
    checks::report_wrong_bytes(block.launch.findings, use, phase_text(block, offset));
  }
}

std::string phase_text(const Block& block, std::uint32_t offset) {
  const auto found = block.mbarriers.uses.find(offset);
  const std::string at = "the mbarrier at byte " + std::to_string(offset) + " of shared memory";
  if (found == block.mbarriers.uses.end()) return at;
  const Mbarriers::Use& use = found->second;
  std::uint64_t bits = 0;
  std::memcpy(&bits, block.shared.data() + offset, sizeof(bits));
  const Mbarrier barrier = memory::mbarrier_of(bits).value_or(Mbarrier{});
  return "phase " + std::to_string(use.phase) + " of " + at + " (initialised at " +
         place_of(use.init) + "), where " + std::to_string(barrier.count - barrier.pending) +
         " of " + std::to_string(barrier.count) + " arrivals and " + std::to_string(use.arrived) +
         " of " + std::to_string(use.expected) + " expected bytes have come";
}

}  // namespace warpgauge::emulator::machine::control
