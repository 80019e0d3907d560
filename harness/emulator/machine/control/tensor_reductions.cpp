// Combines boxes of shared memory with tensors.
#include "harness/emulator/machine/control/tensor_reductions.h"

#include <vector>

#include "harness/emulator/machine/control/bulk_operands.h"

namespace warpgauge::emulator::machine::control {
namespace {

using memory::TensorMap;

/// The type whose operations a reduction does; none: there are none.
ptx::Type type_of(TensorMap::Type type) {
  using Type = TensorMap::Type;
  switch (type) {
    case Type::u32:
      return ptx::Type::u32;
    case Type::s32:
      return ptx::Type::s32;
    case Type::u64:
      return ptx::Type::u64;
    case Type::s64:
      return ptx::Type::s64;
    case Type::f16:
      return ptx::Type::f16;
    case Type::bf16:
      return ptx::Type::bf16;
    case Type::f32:
    case Type::f32_ftz:
      return ptx::Type::f32;
    case Type::f64:
      return ptx::Type::f64;
    default:
      return ptx::Type::none;
  }
}

}  // namespace

AtomicOperation reduction_on(memory::AtomicOp op, TensorMap::Type type) {
  ptx::Type as = type_of(type);
  const bool is_bitwise = op == memory::AtomicOp::bit_and || op == memory::AtomicOp::bit_or ||
                          op == memory::AtomicOp::bit_xor;
  if (is_bitwise) as = memory::element_bytes(type) == 8 ? ptx::Type::b64 : ptx::Type::b32;
  // The sum of 64 bits has the same bits with and without sign, and PTX knows that of .u64 only.
  if (op == memory::AtomicOp::add && as == ptx::Type::s64) as = ptx::Type::u64;
  return as == ptx::Type::none ? nullptr : memory::atomic_operation(op, as);
}

void reduce_box(const TensorMap& map, const memory::BoxPlace& place, AtomicOperation operation,
                const std::byte* shared, std::uint32_t address) {
  std::vector<std::byte> row;
  memory::for_each_run(memory::as_stored(map), place, [&](const memory::BoxRun& run) {
    if (!run.inside) return;
    row.resize(run.bytes);
    memory::copy_from_swizzled(map.swizzle, row.data(), shared, address + run.offset, run.bytes);
    reduce(operation, memory::element_bytes(map.type), /*to_global=*/true,
           reinterpret_cast<std::byte*>(run.address), row.data(), run.bytes);
  });
}

}  // namespace warpgauge::emulator::machine::control
