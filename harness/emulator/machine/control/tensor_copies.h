// Tensor copies (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor) and tensormap.replace.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/emulator/machine/control/bulk_operands.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/atomic_operations.h"
#include "harness/emulator/machine/memory/tensor_map.h"
#include "harness/emulator/machine/memory/whole_requests.h"

namespace warpgauge::emulator::machine::control {

/// In Instruction::detail.
struct TensorCopyDetail {
  std::string name;  ///< "cp.async.bulk.tensor", for messages
  enum class Way : std::uint8_t {
    load,      ///< to shared memory, arrives at an mbarrier
    store,     ///< from shared memory, in a bulk group
    prefetch,  ///< checked only
  } way = Way::load;
  int architecture = 90;  ///< ten times the compute capability
  memory::TensorMap::Mode mode = memory::TensorMap::Mode::tiled;
  int rank = 1;
  BulkAddress map;                           ///< generic
  std::array<OperandSlot, 5> coordinates{};  ///< .s32, of dimension 0 first
  int offset_count = 0;                      ///< im2col loads have some
  std::array<OperandSlot, 3> offsets{};      ///< .u16
  BulkAddress shared, barrier;               ///< the box in shared memory; bytes
  bool multicasts = false;
  OperandSlot blocks{};                         ///< a multicast's: .b16
  std::optional<memory::AtomicOp> reduction{};  ///< nothing: it is a copy
  memory::BulkCounter counter{};
};

void execute_tensor_copy(Warp& warp, const Instruction& instruction);

/// tensormap.replace, in Instruction::detail.
struct TensorReplaceDetail {
  memory::TensorMapField field = memory::TensorMapField::global_address;
  int ordinal = 0;  ///< the dimension
  BulkAddress map;  ///< in global memory or in shared memory
  bool is_shared = false;
  bool is_wide = false;  ///< the value has 64 bits
  OperandSlot value{};
};
void execute_tensor_replace(Warp& warp, const Instruction& instruction);

/// tensormap.cp_fenceproxy: copies a tensor map from shared to global memory.
struct TensorMapCopyDetail {
  BulkAddress to, from;
};
void execute_tensor_map_copy(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
