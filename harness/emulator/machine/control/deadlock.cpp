// The message of a cluster in which no thread can go on.
#include <chrono>
#include <cstdint>
#include <cstring>
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
  fail_stuck(Fault::Kind::deadlock, "deadlock, no thread can go on", false, "");
}

void Cluster::report_spinning(const std::string& why) const {
  fail_stuck(Fault::Kind::deadlock, "deadlock, all threads wait in loops for what nothing changes",
             true, why);
}

void Cluster::report_long_wait(std::chrono::milliseconds limit) const {
  fail_stuck(Fault::Kind::time_limit,
             "the launch has waited in loops for longer than its limit of " +
                 std::to_string(limit.count()) + " ms",
             true, "");
}

/// Names fragments that wait; before them those that run, if they only go round a loop.
void Cluster::fail_stuck(Fault::Kind kind, std::string text, bool with_running,
                         const std::string& why) const {
  constexpr int kMostShown = 8;
  const Block& lead = *blocks_.front();
  const bool alone = blocks_.size() == 1;
  text = "kernel " + launch_.code.display + (alone ? ", block " : ", cluster of block ") +
         index_text(lead.index) + ": " + text;
  int shown = 0;
  metrics::SourceLine first;  // of the threads that are named first
  const auto spins = [](const Fragment& fragment) {
    return fragment.state == Fragment::State::ready || fragment.state == Fragment::State::yielded;
  };
  const auto show = [&](const Block& block, const WarpState& state, const Fragment& fragment) {
    if (++shown > kMostShown) return;
    if (shown == 1) first = source_line(*fragment.frame->code, fragment.pc->index);
    text += "; " + source_place(*fragment.frame->code, fragment.pc->index) + ": ";
    if (!alone) text += "block " + index_text(block.index) + ", ";
    text += "warp " + std::to_string(state.engine.index) + ", " + lanes_text(fragment.mask) + ", " +
            (spins(fragment) ? "going round a loop"
                             : waits_for(fragment, state.warp, arrived_, live_threads()));
  };
  const auto show_all = [&](bool of_loops) {
    for (const auto& block : blocks_) {
      for (const WarpState& state : block->warps) {
        const WarpEngine& engine = state.engine;
        if (of_loops && state.warp.mask != 0 && engine.live != 0) {
          show(*block, state, {state.warp.next, engine.frame, state.warp.mask});
        }
        for (int n = 0; n < engine.count; ++n) {
          const Fragment& fragment = engine.others[n];
          if (!with_running || spins(fragment) == of_loops) show(*block, state, fragment);
        }
      }
    }
  };
  if (with_running) show_all(true);
  show_all(false);
  if (shown > kMostShown) text += "; and " + std::to_string(shown - kMostShown) + " more";
  throw Fault(kind, text + why, launch_.code.name, first);
}

std::uint64_t Cluster::fingerprint() const {
  std::uint64_t sum = 0;
  const auto mixed = [](std::uint64_t hash, std::uint64_t word) {
    return (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 29);
  };
  const auto add = [&](const Block& block, const WarpEngine& engine, const Fragment& fragment) {
    std::uint64_t hash = mixed(block.number + 1, engine.index);
    hash = mixed(hash, reinterpret_cast<std::uintptr_t>(fragment.pc));
    hash = mixed(hash, fragment.mask);
    const std::byte* const registers = fragment.frame->registers;
    for (std::uint64_t at = 0; at + 8 <= fragment.frame->code->register_bytes; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, registers + at, sizeof word);
      hash = mixed(hash, word);
    }
    sum += hash;  // in whatever order the scheduler has them
  };
  for (const auto& block : blocks_) {
    sum = mixed(sum, block->live_threads);
    for (const WarpState& state : block->warps) {
      const WarpEngine& engine = state.engine;
      if (state.warp.mask != 0 && engine.live != 0) {
        add(*block, engine, {state.warp.next, engine.frame, state.warp.mask});
      }
      for (int n = 0; n < engine.count; ++n) add(*block, engine, engine.others[n]);
    }
  }
  return sum;
}

}  // namespace warpgauge::emulator::machine::control
