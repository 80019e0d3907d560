// The parts that bulk and tensor copies share: operands of each lane, and how bytes are moved or
// reduced.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/core/operand_slot.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/cluster_memory.h"

namespace warpgauge::emulator::machine::control {

/// An address operand, of each lane.
struct BulkAddress {
  OperandSlot slot{};
  bool is_short = false;  ///< 32 bits
  std::int64_t offset = 0;
};

template <typename T>
T value_of(const Warp& warp, OperandSlot slot, int lane) {
  return reinterpret_cast<const T*>(warp.bases[slot.base] + slot.offset)[lane];
}
std::uint64_t address_of(const Warp& warp, const BulkAddress& operand, int lane);

/// Whether an active lane before this one has the same `operands(lane)`. Of stores the machine code
/// then makes one for both; loads and reductions it makes for each lane.
template <typename Operands>
bool repeats_a_lane(const Warp& warp, int lane, Operands operands) {
  const auto own = operands(lane);
  for (Mask before = warp.active & ((Mask{1} << lane) - 1); before != 0; before &= before - 1) {
    if (operands(std::countr_zero(before)) == own) return true;
  }
  return false;
}
memory::SharedPlace shared_place(const Warp& warp, const BulkAddress& operand, int lane);

/// Whether copies out of shared memory are made as late as can be: in other orders than the usual.
bool is_lazy(const Warp& warp);

/// Does `operation` to all elements of `bytes` bytes. `to_global`: other threads of the host may
/// access `to` at the same time.
void reduce(AtomicOperation operation, std::uint32_t element_bytes, bool to_global, std::byte* to,
            const std::byte* from, std::size_t bytes);

/// Tells the checks of the launch that bytes of global memory were written.
void note_written(const memory::MemoryContext& context, const std::byte* to, std::uint64_t bytes);

}  // namespace warpgauge::emulator::machine::control
