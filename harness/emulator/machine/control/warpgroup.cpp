// Warpgroups: who may execute their instructions, and groups of products in flight.
#include "harness/emulator/machine/control/warpgroup.h"

#include <algorithm>
#include <array>
#include <bit>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include "harness/emulator/machine/checks/async_rules.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {
namespace {

constexpr std::uint32_t kWarps = 4;

[[noreturn]] void refuse(const Warp& warp, const Instruction& instruction,
                         const std::string& what) {
  fault(warp, instruction, warp.active, Fault::Kind::illegal_instruction, what.c_str());
}

/// The number of the first warp of its warpgroup.
std::uint32_t first_warp(const Warp& warp) { return warp.engine->index / kWarps * kWarps; }

/// Throws the fault of a warp whose warpgroup is not whole.
void expect_whole_warpgroup(const Warp& warp, const Instruction& instruction) {
  const Block& block = *warp.engine->block;
  const auto& size = block.launch.launch.block;
  const std::uint64_t threads = std::uint64_t{size[0]} * size[1] * size[2];
  const std::uint32_t first = first_warp(warp);
  if (threads < std::uint64_t{first + kWarps} * kLanes) {
    refuse(warp, instruction,
           "an instruction of a warpgroup, which is four whole warps: the block has " +
               std::to_string(threads) + " threads, which are not those of warps " +
               std::to_string(first) + " to " + std::to_string(first + kWarps - 1));
  }
}

/// The warps of the warpgroup, which must be whole.
std::span<WarpState> warpgroup_of(const Warp& warp) {
  return std::span(warp.engine->block->warps).subspan(first_warp(warp), kWarps);
}

/// The least count of the warps of the warpgroup.
std::uint32_t counted_by_all(const Warp& warp, std::uint32_t ProductGroups::*count) {
  const auto counted = [&](const WarpState& state) { return state.engine.products.*count; };
  return std::ranges::min(warpgroup_of(warp) | std::views::transform(counted));
}

/// Lets warps of the warpgroup go on that wait in this state until so many are counted.
template <typename Woken>
void wake(Warp& warp, Fragment::State waits, std::uint32_t counted, Woken woken) {
  for (WarpState& state : warpgroup_of(warp)) {
    if (state.engine.count != 1) continue;  // all lanes of a warp wait together
    Fragment& waiting = state.engine.others[0];
    if (waiting.state != waits || waiting.waits_on > counted) continue;
    waiting.state = Fragment::State::ready;
    ++waiting.pc;
    woken(state.warp, waiting.waits_on);
    ask_scheduler(state.warp);
  }
}

void wait_until(Warp& warp, const Instruction& instruction, Fragment::State waits,
                std::uint32_t counted) {
  set_aside(warp, warp.active, &instruction, waits);
  warp.engine->others[warp.engine->count - 1].waits_on = counted;
}

void add_bytes(const TileRead& read, std::vector<checks::History::Bytes>& bytes) {
  constexpr std::uint32_t kRows = 8, kRowBytes = 16;  // of a core matrix
  for (std::uint32_t mn = read.first; mn < read.first + read.mn; ++mn) {
    for (std::uint32_t row = 0; row < kRows; ++row) {
      for (std::uint32_t k = 0; k < read.k; ++k) {
        const std::uint32_t at = read.tile.address(mn, k, row);
        if (!bytes.empty() && bytes.back().offset + bytes.back().count == at) {
          bytes.back().count += kRowBytes;
        } else {
          bytes.emplace_back(at, kRowBytes);
        }
      }
    }
  }
}

/// The warp has waited for the first `groups` groups.
void note_wait(Warp& warp, std::uint32_t groups) {
  checks::History* const history = warp.memory->history;
  if (history == nullptr) return;
  const checks::BlockTimes::Time now = history->times().now();
  history->product_waits().note_wait(warp.engine->index, now);
  std::erase_if(warp.engine->products.unawaited,
                [&](const auto& product) { return product.group < groups; });
  const auto warps = warpgroup_of(warp);
  ProductGroups& first = warps.front().engine.products;
  if (groups <= first.done) return;
  first.done = groups;
  std::array<checks::BlockTimes::Time, kWarps> closed{};
  for (std::uint32_t n = 0; n < kWarps; ++n) {
    const auto& closed_at = warps[n].engine.products.closed_at;
    closed[n] = closed_at[groups % closed_at.size()];
  }
  history->product_waits().note_group(warps.front().engine.index, closed, now);
}

/// Whether all lanes have come; those that have wait for the others.
bool meet(Warp& warp, const Instruction& instruction) {
  if (present_lanes(warp, instruction) == 0) return false;
  expect_warpgroup(warp, instruction);
  return true;
}

}  // namespace

void expect_warpgroup(const Warp& warp, const Instruction& instruction) {
  if (warp.active != kAllLanes) {
    refuse(warp, instruction, "an instruction of the whole warpgroup without all lanes of a warp");
  }
  expect_whole_warpgroup(warp, instruction);
}

void refuse_operand(const Warp& warp, const Instruction& instruction, const char* what) {
  refuse(warp, instruction, what);
}

void refuse_different(const Warp& warp, const Instruction& instruction, const char* what) {
  refuse(warp, instruction, std::string("wgmma: ") + what + " differs between lanes of the warp");
}

void note_product(const Warp& warp, const Instruction& instruction, const TileRead& a,
                  const TileRead& b) {
  checks::History* const history = warp.memory->history;
  if (history == nullptr) return;
  ProductGroups& products = warp.engine->products;
  const auto known =
      std::ranges::find(products.unawaited, &instruction, &ProductGroups::Unawaited::product);
  if (known == products.unawaited.end()) {
    products.unawaited.emplace_back(&instruction, products.closed);
  } else {
    known->group = products.closed;
  }
  if (a.mn + b.mn == 0) return;
  std::vector<checks::History::Bytes>& bytes = products.bytes;
  bytes.clear();
  add_bytes(a, bytes);
  add_bytes(b, bytes);
  history->multiply({warp, instruction, 0}, bytes);
}

void check_products(Warp& warp, const Instruction& instruction) {
  --warp.engine->counts.steps;  // it is no instruction of the kernel
  const Mask reading = warp.active & guard_of(warp, instruction);
  if (reading == 0) return;
  const auto& products = *static_cast<const Products*>(instruction.detail);
  for (const ProductGroups::Unawaited& known : warp.engine->products.unawaited) {
    if (std::ranges::find(products, known.product) == products.end()) continue;
    const std::string place = source_place(*warp.code, known.product->index);
    report(*warp.memory->findings, act_of(warp, instruction, std::countr_zero(reading)),
           checks::AsyncRule::early_result, place,
           "reads a register that the product at " + place + " writes");
    return;
  }
}

void execute_product_meeting(Warp& warp, const Instruction& instruction) {
  --warp.engine->counts.steps;  // it is no instruction of the kernel
  if (!meet(warp, instruction)) return;
  constexpr auto kWaits = Fragment::State::waits_for_warps;
  const std::uint32_t count = ++warp.engine->products.begun;
  checks::History* const history = warp.memory->history;
  if (history != nullptr) {
    history->times().sync_lanes(warp.engine->index);
    history->product_waits().note_arrival(warp.engine->index, history->times().now());
  }
  if (counted_by_all(warp, &ProductGroups::begun) < count) {
    return wait_until(warp, instruction, kWaits, count);
  }
  if (history != nullptr) history->product_waits().note_meeting(warp.engine->index);
  wake(warp, kWaits, count, [](Warp&, std::uint32_t) {});
}

void execute_product_fence(Warp& warp, const Instruction& instruction) {
  if (!meet(warp, instruction)) return;
  checks::History* const history = warp.memory->history;
  if (history != nullptr) history->times().sync_lanes(warp.engine->index);
}

void execute_product_commit(Warp& warp, const Instruction& instruction) {
  if (!meet(warp, instruction)) return;
  ProductGroups& products = warp.engine->products;
  ++products.closed;
  if (checks::History* const history = warp.memory->history) {
    history->times().sync_lanes(warp.engine->index);
    products.closed_at[products.closed % products.closed_at.size()] = history->times().now();
  }
  wake(warp, Fragment::State::waits_for_groups, counted_by_all(warp, &ProductGroups::closed),
       note_wait);
}

void execute_product_wait(Warp& warp, const Instruction& instruction) {
  if (!meet(warp, instruction)) return;
  const std::uint32_t closed = warp.engine->products.closed;
  const std::uint32_t awaited =
      closed - std::min(closed, static_cast<std::uint32_t>(instruction.offset));
  if (counted_by_all(warp, &ProductGroups::closed) >= awaited) return note_wait(warp, awaited);
  wait_until(warp, instruction, Fragment::State::waits_for_groups, awaited);
}

void execute_set_registers(Warp& warp, const Instruction& instruction) {
  expect_whole_warpgroup(warp, instruction);
  warp.engine->registers = static_cast<std::uint32_t>(instruction.offset);
  warp.engine->block->register_change = act_of(warp, instruction, std::countr_zero(warp.active));
}

}  // namespace warpgauge::emulator::machine::control
