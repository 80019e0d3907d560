// Bulk copies: a copy is checked when it is issued, and made when a thread waits for it.
#include "harness/emulator/machine/control/bulk_copies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>

#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/memory/access_bounds.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/cluster_memory.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/whole_requests.h"

namespace warpgauge::emulator::machine::control {
namespace {

constexpr std::uint32_t kUnit = 16;  // bytes that copies are multiples of

/// How the bytes of one copy get there.
struct Transfer {
  AtomicOperation reduction;
  std::uint8_t element_bytes;
  std::uint16_t byte_mask;
  bool to_global;

  void operator()(std::byte* to, const std::byte* from, std::size_t bytes) const {
    if (reduction != nullptr) {
      reduce(reduction, element_bytes, to_global, to, from, bytes);
    } else if (byte_mask == 0xffff) {
      std::memcpy(to, from, bytes);
    } else {
      for (std::size_t n = 0; n < bytes; ++n) {
        if ((byte_mask >> n % kUnit & 1) != 0) to[n] = from[n];
      }
    }
  }
};

/// Copies of one lane.
class Copier {
 public:
  Copier(Warp& warp, const Instruction& instruction, int lane)
      : warp_(warp),
        instruction_(instruction),
        detail_(*static_cast<const BulkDetail*>(instruction.detail)),
        lane_(lane),
        bytes_(value_of<std::uint32_t>(warp, detail_.size, lane)) {}

  void issue() const {
    if (bytes_ % kUnit != 0) {
      refuse(detail_.name + " of " + std::to_string(bytes_) +
             " bytes: the size must be a multiple of 16");
    }
    const std::byte* const from = source();
    count(from);
    if (!detail_.to_shared) {
      issue_to_global(from);
    } else if (!detail_.multicasts) {
      issue_to_shared(shared_place(warp_, detail_.to, lane_), from);
    } else {
      const auto mask = value_of<std::uint16_t>(warp_, detail_.blocks, lane_);
      const memory::SharedPlace here = shared_place(warp_, detail_.to, lane_);
      for (std::uint32_t rank = 0; rank < memory::ClusterMemory::kMostBlocks; ++rank) {
        if ((mask >> rank & 1) != 0) issue_to_shared({rank, here.offset}, from);
      }
    }
  }

 private:
  void count(const std::byte* from) const {
    using Space = AccessTotals::Space;
    if (detail_.from_shared && detail_.to_shared) {
      if (detail_.counter.counts(warp_, lane_)) {
        memory::count_cluster_request(warp_, detail_.counter.counter);
      }
      return;
    }
    if (repeats()) return;
    const std::uint64_t address = detail_.to_shared ? reinterpret_cast<std::uint64_t>(from)
                                                    : address_of(warp_, detail_.to, lane_);
    memory::count_bulk_copy(warp_, detail_.counter, lane_,
                            detail_.to_shared ? Space::bulk_load : Space::bulk_store, bytes_,
                            memory::sectors_of(address, bytes_));
  }

  bool repeats() const {
    if (detail_.to_shared || detail_.reduction != nullptr) return false;
    return repeats_a_lane(warp_, lane_, [&](int lane) {
      return std::tuple(address_of(warp_, detail_.to, lane), address_of(warp_, detail_.from, lane),
                        value_of<std::uint32_t>(warp_, detail_.size, lane));
    });
  }

  [[noreturn]] void refuse(const std::string& why) const {
    memory::refuse(warp_, instruction_, lane_, Fault::Kind::illegal_instruction, why);
  }

  std::uint64_t global(const BulkAddress& operand, AccessEffect effect,
                       const std::string& what) const {
    const std::uint64_t address = address_of(warp_, operand, lane_);
    if (address % kUnit != 0) {
      memory::refuse(warp_, instruction_, lane_, Fault::Kind::misaligned_address,
                     what + ": the address must be a multiple of 16");
    }
    if (bytes_ != 0) {
      memory::admit_range(warp_, instruction_, effect, lane_, address, bytes_, what.c_str());
    }
    return address;
  }

  std::byte* shared(memory::SharedPlace place, const std::string& what) const {
    return memory::pointer_to(warp_, instruction_, lane_, place, bytes_, kUnit, what.c_str());
  }

  const std::byte* source() const {
    const std::string what = "source of " + detail_.name;
    if (detail_.from_shared) return shared(shared_place(warp_, detail_.from, lane_), what);
    return reinterpret_cast<const std::byte*>(global(detail_.from, AccessEffect::read, what));
  }

  Transfer transfer() const {
    const std::uint16_t mask =
        detail_.masks_bytes ? value_of<std::uint16_t>(warp_, detail_.bytes, lane_) : 0xffff;
    return {detail_.reduction, detail_.element_bytes, mask, !detail_.to_shared};
  }

  void issue_to_global(const std::byte* from) const {
    auto* const to = reinterpret_cast<std::byte*>(
        global(detail_.to, AccessEffect::write, "destination of " + detail_.name));
    const memory::MemoryContext& context = *warp_.memory;
    BulkGroups& groups = warp_.engine->block->warps[warp_.engine->index].bulk_groups;
    const auto number = begin_read(from, true);
    groups.issue(
        lane_, is_lazy(warp_), [=, bytes = bytes_, make = transfer()] { make(to, from, bytes); },
        [=, bytes = bytes_, &context] {
          if (context.history == nullptr) return;
          context.history->has_read(number);
          note_written(context, to, bytes);
        });
  }

  void issue_to_shared(memory::SharedPlace to, const std::byte* from) const {
    std::byte* const at = shared(to, "destination of " + detail_.name);
    const std::uint32_t barrier = shared_place(warp_, detail_.barrier, lane_).offset;
    checks::History* const history = detail_.from_shared ? warp_.memory->history : nullptr;
    const auto number = detail_.from_shared ? begin_read(from, false) : 0;
    send(warp_, instruction_, lane_,
         {.to = to,
          .barrier = {to.rank, barrier},
          .bytes = bytes_,
          .reduces = detail_.reduction != nullptr,
          .make = [=, bytes = bytes_, make = transfer()] {
            make(at, from, bytes);
            if (history != nullptr) history->has_read(number);
          }});
  }

  /// Begins a read of shared memory of the block.
  checks::History::CopyNumber begin_read(const std::byte* from, bool in_group) const {
    const memory::MemoryContext& context = *warp_.memory;
    if (context.history == nullptr) return 0;
    const auto offset = static_cast<std::uint32_t>(from - context.shared);
    return context.history->begin_read({warp_, instruction_, lane_}, {offset, bytes_}, in_group);
  }

  Warp& warp_;
  const Instruction& instruction_;
  const BulkDetail& detail_;
  const int lane_;
  const std::uint32_t bytes_;
};

}  // namespace

void execute_bulk_copy(Warp& warp, const Instruction& instruction) {
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    Copier(warp, instruction, std::countr_zero(left)).issue();
  }
}

void execute_bulk_commit(Warp& warp, const Instruction&) {
  warp.engine->block->warps[warp.engine->index].bulk_groups.commit(warp.active);
}

void execute_bulk_wait(Warp& warp, const Instruction& instruction) {
  warp.engine->block->warps[warp.engine->index].bulk_groups.wait(
      warp.active, static_cast<std::uint32_t>(instruction.offset));
}

void execute_remote_store(Warp& warp, const Instruction& instruction) {
  const auto& detail = *static_cast<const RemoteStoreDetail*>(instruction.detail);
  const std::uint32_t width = std::uint32_t{detail.elements} * detail.element_bytes;
  const std::string what = "destination of " + detail.name;
  memory::count_cluster_request(warp, detail.counter);
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const memory::SharedPlace place = shared_place(warp, detail.to, lane);
    std::byte* const to =
        memory::pointer_to(warp, instruction, lane, place, width, width, what.c_str());
    std::array<std::byte, kUnit> values{};
    for (std::uint32_t n = 0; n < detail.elements; ++n) {
      const OperandSlot slot = detail.values[n];
      std::memcpy(values.data() + n * detail.element_bytes,
                  warp.bases[slot.base] + slot.offset + lane * detail.element_bytes,
                  detail.element_bytes);
    }
    const Transfer make = {detail.reduction, detail.element_bytes, 0xffff, false};
    const std::uint32_t barrier = shared_place(warp, detail.barrier, lane).offset;
    send(warp, instruction, lane,
         {.to = place,
          .barrier = {place.rank, barrier},
          .bytes = width,
          .reduces = detail.reduction != nullptr,
          .make = [=] { make(to, values.data(), width); }});
  }
}

}  // namespace warpgauge::emulator::machine::control
