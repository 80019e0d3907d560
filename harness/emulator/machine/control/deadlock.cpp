// The message of a block in which no thread can go on.
#include <bit>
#include <string>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::control {
namespace {

std::string lanes_text(Mask lanes) {
  if (lanes == kAllLanes) return "all lanes";
  std::string text;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    int last = lane;
    while (last + 1 < kLanes && (lanes >> (last + 1) & 1) != 0) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(lane);
    if (last > lane) text += "-" + std::to_string(last);
    lane = last;
  }
  return (std::popcount(lanes) == 1 ? "lane " : "lanes ") + text;
}

std::string waits_for(const Fragment& fragment, const Warp& warp) {
  const Block& block = *warp.engine->block;
  if (fragment.state == Fragment::State::waits_in_block) {
    const Barrier& barrier = block.barriers[fragment.barrier];
    const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block.live_threads;
    return "waiting at barrier " + std::to_string(fragment.barrier) + ", where " +
           std::to_string(barrier.arrived) + " of " + std::to_string(expected) +
           " threads have arrived";
  }
  const Mask missing = fragment.members & warp.engine->live & ~fragment.mask;
  const ptx::Instruction& at = fragment.frame->code->function->body.at(fragment.pc->index);
  return "waiting in " + at.full_name() + " for " + lanes_text(missing);
}

}  // namespace

void Block::report_deadlock() const {
  constexpr int kMostShown = 8;
  std::string text = "kernel " + launch.code.display + ", block " + index_text(index) +
                     ": deadlock, no thread can go on";
  int shown = 0;
  metrics::SourceLine first;  // of the threads that are named first
  for (const WarpState& state : warps) {
    for (int n = 0; n < state.engine.count; ++n) {
      const Fragment& fragment = state.engine.others[n];
      if (++shown > kMostShown) continue;
      if (shown == 1) first = source_line(*fragment.frame->code, fragment.pc->index);
      text += "; " + source_place(*fragment.frame->code, fragment.pc->index) + ": warp " +
              std::to_string(state.engine.index) + ", " + lanes_text(fragment.mask) + ", " +
              waits_for(fragment, state.warp);
    }
  }
  if (shown > kMostShown) text += "; and " + std::to_string(shown - kMostShown) + " more";
  throw Fault(Fault::Kind::deadlock, text, launch.code.name, first);
}

}  // namespace warpgauge::emulator::machine::control
