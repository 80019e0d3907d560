// Places in the shared memory of a cluster.
#include "harness/emulator/machine/memory/cluster_memory.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "harness/emulator/machine/checks/async_rules.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/whole_requests.h"
#include "metrics/counting/counting_rules.h"

namespace warpgauge::emulator::machine::memory {
namespace {

constexpr SharedPlace kNowhere = {ClusterMemory::kMostBlocks, 0};

std::string text_of(SharedPlace place, const MemoryContext& context) {
  const std::string text = "byte " + std::to_string(place.offset) + " of shared memory";
  if (context.cluster->blocks == 1) return text;
  return text + " of block " + std::to_string(place.rank) + " of the cluster";
}

/// Lanes that access the block's own shared memory count as an access to that, the others as one to
/// the cluster's.
class Requests {
 public:
  void add(const MemoryContext& context, int lane, SharedPlace place) {
    const bool is_own = place.rank == context.rank;
    (is_own ? own_ : others_) |= Mask{1} << lane;
    offsets_[static_cast<std::size_t>(lane)] = place.offset;
  }
  void count(const Warp& warp, const Access& access) const {
    if (others_ != 0) count_cluster_request(warp, access.cluster_counter);
    if (own_ == 0) return;
    const metrics::SharedCost cost =
        metrics::shared_cost(access.shared_kind, access.width, offsets_.data(), own_);
    const bool is_known = cost.exact && !access.cas_loop;
    memory::count(warp, access.counters[1],
                  {.space = AccessTotals::Space::shared,
                   .requests = 1,
                   .wavefronts = cost.wavefronts,
                   .wavefronts_ideal = cost.ideal,
                   .estimates = is_known ? 0U : 1U,
                   .estimate_reason = "such an access to a block's own memory by an address of "
                                      "the cluster was never measured"});
  }

 private:
  std::array<std::uint32_t, kLanes> offsets_{};
  Mask own_ = 0, others_ = 0;
};

/// A strong access to another block's memory orders what is before or behind it.
void learn(const Warp& warp, const Instruction& instruction, const Access& access) {
  const Scope scope = std::max(memory_flag::scope_in(instruction.flags), Scope::cluster);
  warp.memory->history->order_by(warp, instruction, access, scope, access.cluster_counter);
}

}  // namespace

SharedPlace place_of(const MemoryContext& context, std::uint32_t address) {
  const std::uint32_t named = address >> kRankShift;
  if (named == 0) return {context.rank, address};
  return {named - 1, address & ((1U << kRankShift) - 1)};
}

SharedPlace place_of_wide(const MemoryContext& context, std::uint64_t address) {
  constexpr std::uint64_t kBase = window_base(Window::shared);
  const std::uint64_t in_window = address >= kBase ? address - kBase : address;
  if (in_window >> 32 != 0) return kNowhere;
  return place_of(context, static_cast<std::uint32_t>(in_window));
}

std::byte* pointer_to(const Warp& warp, const Instruction& instruction, int lane, SharedPlace place,
                      std::uint64_t bytes, std::uint32_t alignment, const char* what) {
  const MemoryContext& context = *warp.memory;
  const auto complain = [&](Fault::Kind kind, const std::string& problem) {
    refuse(warp, instruction, lane, kind, std::string(what) + ": " + problem);
  };
  if (place.rank == ClusterMemory::kMostBlocks) {
    complain(Fault::Kind::illegal_address, "the address is not in shared memory");
  }
  if (place.rank >= context.cluster->blocks) {
    complain(Fault::Kind::illegal_address, text_of(place, context) + ": the cluster has " +
                                               std::to_string(context.cluster->blocks) +
                                               " blocks, numbered from 0");
  }
  if (place.offset % alignment != 0) {
    complain(Fault::Kind::misaligned_address, text_of(place, context) +
                                                  " is misaligned: it must be a multiple of " +
                                                  std::to_string(alignment));
  }
  if (place.offset + bytes > context.shared_bytes) {
    complain(Fault::Kind::illegal_address, std::to_string(bytes) + " bytes at " +
                                               text_of(place, context) + ", which ends at byte " +
                                               std::to_string(context.shared_bytes));
  }
  const ClusterMemory::Part& part = context.cluster->parts[place.rank];
  if (part.has_ended && part.history != nullptr && part.history->looks_at_copies()) {
    report(*context.findings, act_of(warp, instruction, lane), checks::AsyncRule::ended_block, "",
           std::string(what) + ", at " + text_of(place, context) + ", which has ended");
  }
  return part.shared + place.offset;
}

void ClusterMemory::begin() {
  for (Part& part : std::span(parts).first(blocks)) part.has_ended = false;
  times.begin(blocks);
}

void note_use(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t rank) {
  const MemoryContext& context = *warp.memory;
  if (rank == context.rank || context.history == nullptr) return;
  context.cluster->times.note_use(rank, context.rank, act_of(warp, instruction, lane));
}

void find_in_cluster(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint64_t>& lanes, std::uint64_t* pointers) {
  const MemoryContext& context = *warp.memory;
  Requests requests;
  const int first = std::countr_zero(lanes.lanes);
  const std::string what = title(access, Window::shared, address_of(lanes, first));
  for (Mask rest = lanes.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const SharedPlace place = place_of_wide(context, address_of(lanes, lane));
    std::byte* const at =
        pointer_to(warp, instruction, lane, place, access.used_to, access.width, what.c_str());
    pointers[lane] = reinterpret_cast<std::uint64_t>(at);
    requests.add(context, lane, place);
    note_use(warp, instruction, lane, place.rank);
    checks::History* const history = context.cluster->parts[place.rank].history;
    if (history != nullptr && access.effect != AccessEffect::read) {
      history->note_written(place.offset, access.width);
    }
  }
  requests.count(warp, access);
  if (context.history != nullptr && access.is_strong) learn(warp, instruction, access);
}

}  // namespace warpgauge::emulator::machine::memory
