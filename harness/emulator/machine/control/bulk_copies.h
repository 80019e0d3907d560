// Bulk copies (cp.async.bulk, cp.reduce.async.bulk) and the single values that arrive likewise
// (st.async, red.async).
#pragma once

#include <cstdint>
#include <string>

#include "harness/emulator/machine/control/bulk_operands.h"
#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/operand_slot.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/whole_requests.h"

namespace warpgauge::emulator::machine::control {

/// In Instruction::detail.
struct BulkDetail {
  std::string name;         ///< "cp.async.bulk", for messages
  bool to_shared = false;   ///< the destination is shared memory, of the cluster
  bool from_shared = true;  ///< the source is the block's own shared memory
  BulkAddress to, from;     ///< bytes, multiples of 16
  OperandSlot size{};       ///< .u32, bytes, a multiple of 16
  BulkAddress barrier{};    ///< the bytes arrive at it, where the destination is shared memory
  bool multicasts = false;
  OperandSlot blocks{};  ///< a multicast's: .b16, bit n: the block of rank n
  bool masks_bytes = false;
  OperandSlot bytes{};  ///< .b16, bit n: byte n of each 16 is copied
  /// The operation in place of a copy; nullptr: it is a copy.
  AtomicOperation reduction = nullptr;
  std::uint8_t element_bytes = 1;  ///< the reduction's
  memory::BulkCounter counter{};
};

/// Values of registers that arrive in shared memory of the cluster; in Instruction::detail.
struct RemoteStoreDetail {
  std::string name;
  BulkAddress to, barrier;
  std::uint8_t elements = 1, element_bytes = 4;
  OperandSlot values[4]{};
  AtomicOperation reduction = nullptr;  ///< nullptr: a store
  std::uint32_t counter = 0;
};

void execute_bulk_copy(Warp& warp, const Instruction& instruction);
void execute_bulk_commit(Warp& warp, const Instruction& instruction);
/// offset: how many of the newest groups need not be done. Reading done is all done here.
void execute_bulk_wait(Warp& warp, const Instruction& instruction);
void execute_remote_store(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
