// cp.async, ldmatrix and stmatrix: data that moves between memory and shared memory or matrices in
// registers; and the choice between these and the moves of fragments.
#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/isa/matrix_rows.h"
#include "harness/emulator/machine/isa/memory_fragment.h"
#include "harness/emulator/machine/isa/memory_lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// How many bytes each lane reads, and which lanes read any, or fewer than all.
struct SourceSizes {
  u8 bytes[kLanes];
  Mask reading = 0, partial = 0;
};

WARPGAUGE_INLINE SourceSizes source_sizes(const Warp& warp, const Instruction& instruction,
                                          const CopyDetail& detail) {
  SourceSizes sizes;
  const std::byte* const size = warp.bases[detail.size.base] + detail.size.offset;
  const std::byte* const flag = warp.bases[detail.ignored.base] + detail.ignored.offset;
  Mask ignored = 0;
  if (detail.source == CopyDetail::Source::ignorable) {
    ignored = *reinterpret_cast<const Mask*>(flag);
    if (detail.ignored_negated) ignored = ~ignored;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 bytes = (ignored >> lane & 1) != 0 ? 0 : detail.bytes;
    if (detail.source == CopyDetail::Source::sized)
      bytes = reinterpret_cast<const u32*>(size)[lane];
    if ((warp.active >> lane & 1) != 0 && bytes > detail.bytes) {
      memory::refuse_source_size(warp, instruction, lane, bytes, detail.bytes);
    }
    sizes.bytes[lane] = static_cast<u8>(bytes);
    sizes.reading |= bytes != 0 ? Mask{1} << lane : 0;
    sizes.partial |= bytes != detail.bytes ? Mask{1} << lane : 0;
  }
  sizes.reading &= warp.active;
  sizes.partial &= sizes.reading;
  return sizes;
}

/// Counts one execution of both sides.
WARPGAUGE_INLINE void count_copy(const Warp& warp, const Instruction& instruction,
                                 const CopyDetail& detail, const LaneAddresses<u32>& to,
                                 const LaneAddresses<u64>& from) {
  memory::AccessCache& shared = warp.memory->caches[detail.to.counters[1]];
  memory::AccessCache& global = warp.memory->caches[detail.from.counters[0]];
  if (from.lanes == 0) {
    const bool read_nothing_before = global.repeats != 0 && global.cost.lane_groups == 0;
    if (read_nothing_before && repeats(shared, to.addresses, static_cast<u32>(to.offset),
                                       shared.distances.of_32_bits, to.lanes)) {
      ++shared.repeats;
      ++global.repeats;
    } else {
      memory::remember_zeros(warp, instruction, detail, to, distances_of(to, detail.bytes));
    }
  } else if (repeats(shared, to.addresses, static_cast<u32>(to.offset), shared.distances.of_32_bits,
                     to.lanes) &&
             repeats(global, from.addresses, static_cast<u64>(from.offset),
                     global.distances.of_64_bits, from.lanes)) {
    ++shared.repeats;
    ++global.repeats;
  } else {
    memory::remember_copy(warp, instruction, detail, to, distances_of(to, detail.bytes), from,
                          distances_of(from, detail.bytes));
  }
}

WARPGAUGE_INLINE void check_copy(const Warp& warp, const Instruction& instruction,
                                 const CopyDetail& detail, const LaneAddresses<u32>& to,
                                 const LaneAddresses<u64>& from, const SourceSizes& sizes) {
  const memory::MemoryContext& context = *warp.memory;
  const memory::AccessCache& shared = context.caches[detail.to.counters[1]];
  const u32 to_lead = to.addresses[__builtin_ctz(to.lanes)] + static_cast<u32>(to.offset);
  if (!inside(shared, to_lead, 0, context.shared_bytes)) {
    memory::refuse_shared(warp, instruction, detail.to, to);
  }
  const auto from_address = [&](int lane) {
    return from.addresses[lane] + static_cast<u64>(from.offset);
  };
  for_lanes(sizes.partial, [&](int lane) {
    memory::admit_lane(warp, instruction, detail.from, lane, from_address(lane), sizes.bytes[lane]);
  });
  if (from.lanes == 0) return;
  const memory::AccessCache& global = context.caches[detail.from.counters[0]];
  const bool known =
      sizes.partial == 0 &&
      inside(global, from_address(__builtin_ctz(from.lanes)), global.begin, global.end) &&
      global.generation == context.memory->generation();
  const Mask whole = from.lanes & ~sizes.partial;
  if (!known && whole != 0) {
    memory::admit(warp, instruction, detail.from, {from.addresses, from.offset, whole});
  }
}

void execute_copy(Warp& warp, const Instruction& instruction) {
  const CopyDetail& detail = *static_cast<const CopyDetail*>(instruction.detail);
  memory::MemoryContext& context = *warp.memory;
  AddressBuffers buffers;
  const SourceSizes sizes = source_sizes(warp, instruction, detail);
  const u32* const to_addresses =
      detail.to.short_address ? lanes<u32>(warp, instruction, 0)
                              : narrowed(lanes<u64>(warp, instruction, 0), 0, buffers.narrow);
  const LaneAddresses<u32> to{to_addresses, detail.to_offset, warp.active};
  const LaneAddresses<u64> from{lanes<u64>(warp, instruction, 1), detail.from_offset,
                                sizes.reading};
  count_copy(warp, instruction, detail, to, from);
  check_copy(warp, instruction, detail, to, from, sizes);
  if (context.observed) memory::observe_copy(warp, instruction, detail, to, from);

  memory::AsyncCopies::Copy& copy = context.copies.issue(warp.active, detail.bytes);
  for_lanes(warp.active, [&](int lane) {
    const u32 offset = to.addresses[lane] + static_cast<u32>(to.offset);
    copy.source_bytes[lane] = sizes.bytes[lane];
    copy.to[lane] = context.shared + offset;
    copy.from[lane] =
        reinterpret_cast<const std::byte*>(from.addresses[lane] + static_cast<u64>(from.offset));
  });
}

/// Lane l has the address of row l.
WARPGAUGE_INLINE Rows matrix_rows(const Warp& warp, const Instruction& instruction,
                                  const MatrixMoveDetail& detail) {
  if (warp.active != kAllLanes) memory::refuse_part_of_warp(warp, instruction);
  const Access& access = detail.access;
  AddressBuffers buffers;
  const u64 window = access.space == AccessSpace::generic ? window_base(Window::shared) : 0;
  const u32* const addresses =
      access.short_address ? lanes<u32>(warp, instruction, 0)
                           : narrowed(lanes<u64>(warp, instruction, 0), window, buffers.narrow);
  const Mask with_address = kAllLanes >> (kLanes - 8 * detail.matrices);
  const Checked<s32> checked =
      shared_lanes(warp, instruction, access, addresses, instruction.offset, with_address);
  Rows rows;
  for (int lane = 0; lane < 8 * detail.matrices; ++lane) rows.at[lane] = checked.at(lane);
  return rows;
}

void execute_load_matrix(Warp& warp, const Instruction& instruction) {
  if (control::present_lanes(warp, instruction) == 0) return;
  const MatrixMoveDetail& detail = *static_cast<const MatrixMoveDetail*>(instruction.detail);
  const Rows rows = matrix_rows(warp, instruction, detail);
  for (int n = 0; n < detail.matrices; ++n) {
    load_matrix(
        rows, n, detail.transposed,
        reinterpret_cast<u32*>(warp.bases[OperandSlot::frame] + detail.registers[n].offset));
  }
}

void execute_store_matrix(Warp& warp, const Instruction& instruction) {
  if (control::present_lanes(warp, instruction) == 0) return;
  const MatrixMoveDetail& detail = *static_cast<const MatrixMoveDetail*>(instruction.detail);
  const Rows rows = matrix_rows(warp, instruction, detail);
  for (int n = 0; n < detail.matrices; ++n) {
    const OperandSlot slot = detail.registers[n];
    store_matrix(rows, n, detail.transposed,
                 reinterpret_cast<const u32*>(warp.bases[slot.base] + slot.offset));
  }
}

}  // namespace

Execute transfer_handler(const TransferKey& key) {
  switch (key.op) {
    case TransferKey::Op::copy:
      return execute_copy;
    case TransferKey::Op::load_matrix:
      return execute_load_matrix;
    case TransferKey::Op::store_matrix:
      return execute_store_matrix;
    case TransferKey::Op::load_fragment:
      return execute_load_fragment;
    case TransferKey::Op::store_fragment:
      return execute_store_fragment;
  }
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
