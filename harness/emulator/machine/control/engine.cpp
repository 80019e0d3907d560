// The inner loop of a warp and its scheduler.
#include "harness/emulator/machine/control/engine.h"

#include <algorithm>
#include <bit>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {
namespace {

using State = Fragment::State;

// Rounds of a polling loop before others get their turn, and for how many instructions they get it.
constexpr int kPatience = 64;
constexpr std::uint64_t kTurn = 2000;

// Deepest frame first: its lanes return to where the others wait. Of frames of the same depth the
// latest. Then the lowest place: code is laid out so that lanes meet further on.
bool goes_before(const Fragment& a, const Fragment& b) {
  if (a.frame == b.frame) return a.pc < b.pc;
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  return a.frame->serial > b.frame->serial;
}

/// Whether lanes that come to its place go on with it. Others have arrived where they wait.
bool can_be_met(const Fragment& fragment) {
  switch (fragment.state) {
    case State::ready:
    case State::yielded:
    case State::waits_for_lanes:
    case State::waits_in_warp:
      return true;
    default:
      return false;
  }
}

void remove(WarpEngine& engine, int n) {
  --engine.count;
  std::copy(engine.others + n + 1, engine.others + engine.count + 1, engine.others + n);
}

void wake_yielded(WarpEngine& engine) {
  for (int n = 0; n < engine.count; ++n) {
    if (engine.others[n].state == State::yielded) engine.others[n].state = State::ready;
  }
  engine.polling.rotating = false;
}

// Number of the fragment that runs next; -1: none can.
int choose(const WarpEngine& engine) {
  int best = -1;
  for (int n = 0; n < engine.count; ++n) {
    if (engine.others[n].state != State::ready) continue;
    if (best < 0 || goes_before(engine.others[n], engine.others[best])) best = n;
  }
  return best;
}

// Where the running fragment next meets another one, or comes behind one.
void set_limit(Warp& warp) {
  const WarpEngine& engine = *warp.engine;
  warp.limit = no_limit();
  bool unordered = false;
  for (int n = 0; n < engine.count; ++n) {
    const Fragment& other = engine.others[n];
    if (other.frame != engine.frame || !can_be_met(other)) continue;
    if (other.pc > warp.next) {
      warp.limit = std::min(warp.limit, other.pc);
    } else {
      unordered = true;
    }
  }
  warp.engine->unordered = unordered;
}

}  // namespace

void switch_to(Warp& warp, Frame& frame) {
  warp.engine->frame = &frame;
  warp.code = frame.code;
  warp.bases[OperandSlot::frame] = frame.registers;
  warp.memory->local_bytes = frame.local + frame.code->local_bytes;
}

bool reschedule(Warp& warp) {
  WarpEngine& engine = *warp.engine;
  if (warp.mask != 0) set_aside(warp, warp.mask, warp.next);
  int best = choose(engine);
  if (best < 0 && engine.polling.rotating) {
    wake_yielded(engine);
    best = choose(engine);
  }
  if (best < 0) return false;
  const Fragment chosen = engine.others[best];
  remove(engine, best);
  warp.mask = chosen.mask;
  warp.next = chosen.pc;
  for (int n = engine.count - 1; n >= 0; --n) {
    const Fragment& other = engine.others[n];
    if (other.pc != chosen.pc || other.frame != chosen.frame || !can_be_met(other)) continue;
    warp.mask |= other.mask;
    remove(engine, n);
  }
  if (chosen.frame != engine.frame) switch_to(warp, *chosen.frame);
  set_limit(warp);
  return true;
}

void set_aside(Warp& warp, Mask lanes, const Instruction* pc, State state, Mask members) {
  WarpEngine& engine = *warp.engine;
  engine.others[engine.count++] = {pc, engine.frame, lanes, members, state, 0};
  warp.mask &= ~lanes;
  if (warp.mask == 0) {
    ask_scheduler(warp);
  } else if (pc > warp.next) {
    warp.limit = std::min(warp.limit, pc);
  } else {
    engine.unordered = true;
  }
}

void poll(Warp& warp) {
  WarpEngine& engine = *warp.engine;
  const bool lanes_left =
      (warp.mask & ~engine.polling.lanes) == 0 && warp.mask != engine.polling.lanes;
  if (lanes_left) engine.polling.rounds = 0;  // what they waited for comes, if slowly
  engine.polling.lanes = warp.mask;
  if (++engine.polling.rounds < kPatience) return;
  engine.polling.rounds = 0;
  engine.polling.yields = true;
  ask_scheduler(warp);
  if (engine.count == 0) return;
  set_aside(warp, warp.mask, warp.next, State::yielded);
  engine.polling.rotating = true;
}

void wake_waiting_for_lanes(Warp& warp) {
  WarpEngine& engine = *warp.engine;
  for (int n = 0; n < engine.count; ++n) {
    Fragment& other = engine.others[n];
    if (other.state == State::waits_for_lanes || other.state == State::waits_in_warp) {
      other.state = State::ready;
      ask_scheduler(warp);
    }
  }
}

namespace {

void count(Warp& warp, const Instruction* place, const Instruction& instruction) {
  const WarpEngine& engine = *warp.engine;
  const Code& code = *engine.frame->code;
  InstructionHits& hits = (*engine.counts.hits)[code.number][place - code.instructions.data()];
  ++hits.warps;
  hits.lanes += static_cast<unsigned>(std::popcount(warp.mask));
  const Mask active = warp.mask & guard_of(warp, instruction);
  hits.guard_held += active != 0;
  hits.guard_failed += active != warp.mask;
}

/// Executes instructions until the scheduler finds none or `left` is used up.
template <bool kCovered>
Pause run_instructions(Warp& warp, std::uint64_t& left) {
  const Instruction* pc = warp.next;
  while (left != 0) {
    if (pc >= warp.limit) [[unlikely]] {
      warp.next = pc;
      if (warp.engine->polling.yields) {
        warp.engine->polling.yields = false;
        return Pause::yields;
      }
      if (!reschedule(warp)) return warp.engine->live == 0 ? Pause::finished : Pause::waits;
      pc = warp.next;
    }
    --left;
    Mask active = warp.mask;
    const Instruction* instruction = pc;
    if constexpr (kCovered) {  // each by itself
      if (pc->fused != 0) instruction = static_cast<const Instruction*>(pc->detail);
      count(warp, pc, *instruction);
    }
    if (instruction->guarded) {
      active &= guard_of(warp, *instruction);
      if (active == 0) {
        ++pc;
        continue;
      }
    }
    warp.next = pc + 1;
    warp.active = active;
    instruction->execute(warp, *instruction);
    pc = warp.next;
  }
  warp.next = pc;
  return Pause::slice;
}

}  // namespace

Pause run(Warp& warp, std::uint64_t steps) {
  WarpEngine& engine = *warp.engine;
  if (engine.polling.rotating) steps = std::min(steps, kTurn);
  if (warp.mask == 0 || engine.polling.rotating) ask_scheduler(warp);
  std::uint64_t left = steps;
  const Pause pause = engine.counts.hits == nullptr ? run_instructions<false>(warp, left)
                                                    : run_instructions<true>(warp, left);
  engine.counts.steps += steps - left;
  engine.counts.executed += steps - left;
  if (pause == Pause::slice && engine.polling.rotating && !engine.polling.yields) {
    wake_yielded(engine);
    ask_scheduler(warp);
  }
  return pause;
}

bool can_go_on(const Warp& warp) {
  const WarpEngine& engine = *warp.engine;
  return warp.mask != 0 || engine.polling.rotating || choose(engine) >= 0;
}

Act next_act(Warp& warp) {
  const WarpEngine& engine = *warp.engine;
  if (engine.polling.yields || engine.polling.rotating) return {};
  if ((warp.mask == 0 || warp.next >= warp.limit) && !reschedule(warp)) return {};
  return act_of(warp, *warp.next, std::countr_zero(warp.mask));
}

}  // namespace warpgauge::emulator::machine::control
