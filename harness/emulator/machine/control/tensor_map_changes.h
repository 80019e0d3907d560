// Changes of tensor maps: tensormap.replace and tensormap.cp_fenceproxy.
#pragma once

#include "harness/emulator/machine/control/bulk_operands.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/operand_slot.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/tensor_map.h"

namespace warpgauge::emulator::machine::control {

/// tensormap.replace, in Instruction::detail.
struct TensorReplaceDetail {
  memory::TensorMapField field = memory::TensorMapField::global_address;
  int ordinal = 0;         ///< the dimension
  BulkAddress map;         ///< in global memory or in shared memory
  bool is_shared = false;  ///< the map is in shared memory
  bool is_wide = false;    ///< the value has 64 bits
  OperandSlot value{};
};
void execute_tensor_replace(Warp& warp, const Instruction& instruction);

/// tensormap.cp_fenceproxy, in Instruction::detail: copies a tensor map from shared to global
/// memory.
struct TensorMapCopyDetail {
  BulkAddress to, from;
};
void execute_tensor_map_copy(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
