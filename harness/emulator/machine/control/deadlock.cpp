// The message of a cluster in which no thread can go on.
#include <string>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/core/act.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::control {
namespace {

std::string waits_for(const Fragment& fragment, const Warp& warp, std::uint32_t at_cluster,
                      std::uint32_t threads_of_cluster) {
  const Block& block = *warp.engine->block;
  if (fragment.state == Fragment::State::waits_in_block) {
    const Barrier& barrier = block.barriers[fragment.waits_on];
    const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block.live_threads;
    return "waiting at barrier " + std::to_string(fragment.waits_on) + ", where " +
           std::to_string(barrier.arrived) + " of " + std::to_string(expected) +
           " threads have arrived";
  }
  if (fragment.state == Fragment::State::waits_in_cluster) {
    return "waiting at the barrier of the cluster, where " + std::to_string(at_cluster) + " of " +
           std::to_string(threads_of_cluster) + " threads have arrived";
  }
  if (fragment.state == Fragment::State::waits_for_phase) {
    return "waiting for " + phase_text(block, fragment.waits_on);
  }
  if (fragment.state == Fragment::State::waits_for_warps) {
    return "waiting for the other warps of its warpgroup";
  }
  if (fragment.state == Fragment::State::waits_for_groups) {
    return "waiting for groups of wgmma of the other warps of its warpgroup";
  }
  const Mask missing = fragment.members & warp.engine->live & ~fragment.mask;
  const ptx::Instruction& at = fragment.frame->code->function->body.at(fragment.pc->index);
  return "waiting in " + at.full_name() + " for " + lanes_text(missing);
}

}  // namespace

void Cluster::report_deadlock() const {
  constexpr int kMostShown = 8;
  const Block& lead = *blocks_.front();
  const bool alone = blocks_.size() == 1;
  std::string text = "kernel " + launch_.code.display +
                     (alone ? ", block " : ", cluster of block ") + index_text(lead.index) +
                     ": deadlock, no thread can go on";
  int shown = 0;
  metrics::SourceLine first;  // of the threads that are named first
  const auto show = [&](const Block& block, const WarpState& state, const Fragment& fragment) {
    if (++shown > kMostShown) return;
    if (shown == 1) first = source_line(*fragment.frame->code, fragment.pc->index);
    text += "; " + source_place(*fragment.frame->code, fragment.pc->index) + ": ";
    if (!alone) text += "block " + index_text(block.index) + ", ";
    text += "warp " + std::to_string(state.engine.index) + ", " + lanes_text(fragment.mask) + ", " +
            waits_for(fragment, state.warp, arrived_, live_threads());
  };
  for (const auto& block : blocks_) {
    for (const WarpState& state : block->warps) {
      for (int n = 0; n < state.engine.count; ++n) show(*block, state, state.engine.others[n]);
    }
  }
  if (shown > kMostShown) text += "; and " + std::to_string(shown - kMostShown) + " more";
  throw Fault(Fault::Kind::deadlock, text, launch_.code.name, first);
}

}  // namespace warpgauge::emulator::machine::control
