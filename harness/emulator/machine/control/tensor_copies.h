// Tensor copies: cp.async.bulk.tensor, its prefetches, and cp.reduce.async.bulk.tensor.
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

/// In Instruction::detail. Operands are of each lane.
struct TensorCopyDetail {
  enum class Way : std::uint8_t {
    load,      ///< to shared memory, arrives at an mbarrier
    store,     ///< from shared memory, in a bulk group
    prefetch,  ///< checked only
  };
  std::string name;  ///< "cp.async.bulk.tensor", for messages
  Way way = Way::load;
  int architecture = 90;  ///< ten times the compute capability: whose rules tensor maps keep
  memory::TensorMap::Mode mode = memory::TensorMap::Mode::tiled;  ///< that the map must have
  int rank = 1;                                                   ///< the same
  bool has_rows = false;  ///< .tile::gather4, .tile::scatter4: coordinates 1 to 4 are four rows
  memory::BulkCounter counter{};

  BulkAddress map;                                                            ///< generic
  std::array<OperandSlot, memory::TensorMap::kMostDimensions> coordinates{};  ///< .s32
  int coordinate_count = 1;              ///< the rank, or 5 with rows
  std::array<OperandSlot, 3> offsets{};  ///< `offset_count` .u16: im2col loads have some
  int offset_count = 0;
  BulkAddress shared;                 ///< the box; a prefetch has none
  BulkAddress barrier;                ///< of loads
  std::optional<OperandSlot> blocks;  ///< of multicasts: a .b16 mask of the cluster's blocks
  std::optional<memory::AtomicOp> reduction;  ///< of stores; nothing: it is a copy
};

void execute_tensor_copy(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
