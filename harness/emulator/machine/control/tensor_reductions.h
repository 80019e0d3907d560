// Reductions of cp.reduce.async.bulk.tensor: a box of shared memory is combined with the tensor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/memory/atomic_operations.h"
#include "harness/emulator/machine/memory/tensor_box.h"
#include "harness/emulator/machine/memory/tensor_map.h"

namespace warpgauge::emulator::machine::control {

/// The operation on elements of a tensor of this type; null if there is none.
AtomicOperation reduction_on(memory::AtomicOp op, memory::TensorMap::Type type);

/// Does `operation` to all elements of the box that lie inside of the tensor, with those at
/// `address` of shared memory; `shared` points to the memory at address 0.
void reduce_box(const memory::TensorMap& map, const memory::BoxPlace& place,
                AtomicOperation operation, const std::byte* shared, std::uint32_t address);

}  // namespace warpgauge::emulator::machine::control
