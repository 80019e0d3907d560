// Calls of device functions, returns from them, exits.
#include "harness/emulator/machine/control/calls.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/emulator/machine/checks/async_checks.h"
#include "harness/emulator/machine/control/barriers.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/control/frames.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::control {
namespace {

/// These lanes exit: what they have begun is to be done.
void check_exit(const Warp& warp, Mask lanes, Block& block) {
  checks::History* const history = block.history.get();
  if (history == nullptr || !history->looks_at_copies()) return;
  checks::check_exit(*history, warp, lanes);
  for (const ProductGroups::Unawaited& known : warp.engine->products.unawaited) {
    report_unawaited_product(block.launch.findings,
                             act_of(warp, *known.product, std::countr_zero(lanes)));
  }
}

WarpState& state_of(const Warp& warp) { return warp.engine->block->warps[warp.engine->index]; }

template <typename Copy>
void copy_each(const PassedValues& to, const PassedValues& from, Mask lanes, const Copy& copy) {
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint64_t>(std::countr_zero(left));
    copy(to.data + lane * to.stride, from.data + lane * from.stride);
  }
}

void copy(const PassedValues& to, const PassedValues& from, std::uint32_t bytes, Mask lanes) {
  if (lanes == kAllLanes && to.stride == bytes && from.stride == bytes) {
    std::memcpy(to.data, from.data, std::size_t{kLanes} * bytes);
  } else if (bytes == 4) {
    copy_each(to, from, lanes, [](auto* a, const auto* b) { std::memcpy(a, b, 4); });
  } else if (bytes == 8) {
    copy_each(to, from, lanes, [](auto* a, const auto* b) { std::memcpy(a, b, 8); });
  } else {
    copy_each(to, from, lanes, [=](auto* a, const auto* b) { std::memcpy(a, b, bytes); });
  }
}

void pass(const Warp& warp, const Frame& to, const std::vector<Passed>& targets, const Frame& from,
          const std::vector<Passed>& values, Mask lanes) {
  const std::size_t count = std::min(targets.size(), values.size());
  for (std::size_t n = 0; n < count; ++n) {
    copy(passed_values(warp, to, targets[n]), passed_values(warp, from, values[n]),
         std::min(targets[n].bytes, values[n].bytes), lanes);
  }
}

// A frame for `lanes`, which call `code` in the running frame.
Frame& make_frame(Warp& warp, const Instruction& instruction, const CallSite& site,
                  const Code& code, Mask lanes) {
  WarpState& state = state_of(warp);
  Frame& caller = *warp.engine->frame;
  const std::uint64_t local = next_frame(caller.local, *caller.code);
  if (local + code.local_bytes > state.memory.local_stride) {
    fault(warp, instruction, lanes, Fault::Kind::stack_overflow,
          ("call of " + display_name(code.function->name) + ": the stack of " +
           std::to_string(state.memory.local_stride) + " bytes a thread is full, " +
           std::to_string(caller.depth + 1) + " calls deep")
              .c_str());
  }
  Frame& frame = state.frames.take(code);
  frame.caller = &caller;
  frame.site = &site;
  frame.return_to = &instruction + 1;
  frame.local = local;
  frame.serial = ++warp.engine->frame_serial;
  frame.depth = caller.depth + 1;
  frame.lanes = lanes;
  write_local_addresses(frame);
  pass(warp, frame, code.parameters, caller, site.arguments, lanes);
  return frame;
}

const Code* find_target(const Warp& warp, std::uint64_t address) {
  const auto& known = warp.engine->block->launch.code.addressed;
  const auto found = std::lower_bound(
      known.begin(), known.end(), address,
      [](const AddressedFunction& function, std::uint64_t a) { return function.address < a; });
  return found != known.end() && found->address == address ? found->code : nullptr;
}

void exit_lanes(Warp& warp, Mask lanes) {
  WarpEngine& engine = *warp.engine;
  engine.live &= ~lanes;
  warp.mask &= ~lanes;
  for (Frame* frame = engine.frame; frame != nullptr;) {
    Frame* const caller = frame->caller;
    frame->lanes &= ~lanes;
    if (frame->lanes == 0 && caller != nullptr) {
      switch_to(warp, *caller);
      state_of(warp).frames.give_back(*frame);
    }
    frame = caller;
  }
  if (warp.mask == 0) ask_scheduler(warp);
  if (engine.count != 0) wake_waiting_for_lanes(warp);
  Block& block = *engine.block;
  check_exit(warp, lanes, block);
  block.warps[engine.index].bulk_groups.finish(lanes);
  block.live_threads -= static_cast<std::uint32_t>(std::popcount(lanes));
  if (block.barriers_in_use != 0) barriers_after_exit(block);
  block.cluster.lanes_exited(engine, lanes);
}

}  // namespace

void call(Warp& warp, const Instruction& instruction) {
  const auto& site = *static_cast<const CallSite*>(instruction.detail);
  const Mask lanes = warp.active;
  Frame& frame = make_frame(warp, instruction, site, *site.code, lanes);
  const Mask others = warp.mask & ~lanes;
  if (others != 0) set_aside(warp, others, warp.next);
  switch_to(warp, frame);
  warp.next = site.code->instructions.data();
  warp.limit = no_limit();  // no other fragment is in this frame
  warp.engine->unordered = false;
}

void call_indirect(Warp& warp, const Instruction& instruction) {
  const auto& site = *static_cast<const CallSite*>(instruction.detail);
  const std::uint64_t* const addresses = source<std::uint64_t>(warp, instruction, 0);
  WarpEngine& engine = *warp.engine;
  for (Mask left = warp.active; left != 0;) {
    const std::uint64_t address = addresses[std::countr_zero(left)];
    Mask lanes = 0;
    for (Mask rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (addresses[lane] == address) lanes |= Mask{1} << lane;
    }
    left &= ~lanes;
    const Code* const code = find_target(warp, address);
    if (code == nullptr) {
      fault(warp, instruction, lanes, Fault::Kind::illegal_instruction,
            "call through a pointer that does not point to a function of this module");
    }
    Frame& frame = make_frame(warp, instruction, site, *code, lanes);
    warp.mask &= ~lanes;
    engine.others[engine.count++] = {code->instructions.data(), &frame, lanes};
  }
  ask_scheduler(warp);
}

void call_builtin(Warp& warp, const Instruction& instruction) {
  const auto& site = *static_cast<const CallSite*>(instruction.detail);
  site.builtin(warp, instruction, site);
}

void execute_return(Warp& warp, const Instruction&) {
  WarpEngine& engine = *warp.engine;
  Frame& frame = *engine.frame;
  Frame& caller = *frame.caller;
  const Instruction* const return_to = frame.return_to;
  const Mask lanes = warp.active;
  pass(warp, caller, frame.site->results, frame, frame.code->results, lanes);
  frame.lanes &= ~lanes;
  warp.mask &= ~lanes;
  if (frame.lanes == 0) state_of(warp).frames.give_back(frame);
  if (warp.mask == 0) switch_to(warp, caller);
  if (engine.count == 0 && warp.mask == 0) {
    warp.mask = lanes;
    warp.next = return_to;
    warp.limit = no_limit();
    return;
  }
  engine.others[engine.count++] = {return_to, &caller, lanes};
  ask_scheduler(warp);
}

void execute_exit(Warp& warp, const Instruction&) { exit_lanes(warp, warp.active); }

}  // namespace warpgauge::emulator::machine::control
