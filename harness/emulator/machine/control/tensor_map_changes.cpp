// Changes tensor maps in memory.
#include "harness/emulator/machine/control/tensor_map_changes.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "harness/emulator/machine/memory/access_bounds.h"
#include "harness/emulator/machine/memory/access_faults.h"

namespace warpgauge::emulator::machine::control {
namespace {

/// The tensor map in shared memory that a lane's operand points at; `what` names it in faults.
std::byte* map_in_shared(const Warp& warp, const Instruction& instruction,
                         const BulkAddress& operand, int lane, const char* what) {
  constexpr auto kAlignment = memory::kTensorMapBytes;
  return memory::pointer_to(warp, instruction, lane, shared_place(warp, operand, lane),
                            memory::kTensorMapBytes, kAlignment, what);
}

/// The same in global memory, where the program may write.
std::byte* map_in_global(const Warp& warp, const Instruction& instruction,
                         const BulkAddress& operand, int lane, const char* what) {
  const std::uint64_t address = address_of(warp, operand, lane);
  memory::admit_range(warp, instruction, AccessEffect::write, lane, address,
                      memory::kTensorMapBytes, what);
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace

void execute_tensor_replace(Warp& warp, const Instruction& instruction) {
  const auto& detail = *static_cast<const TensorReplaceDetail*>(instruction.detail);
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::byte* const at = (detail.is_shared ? map_in_shared : map_in_global)(
        warp, instruction, detail.map, lane, "tensor map of tensormap.replace");
    const std::uint64_t value = detail.is_wide ? value_of<std::uint64_t>(warp, detail.value, lane)
                                               : value_of<std::uint32_t>(warp, detail.value, lane);
    try {
      memory::TensorMap map = memory::read_map_to_change(at);
      memory::replace_field(map, detail.field, detail.ordinal, value);
      memory::write_tensor_map(map, at);
    } catch (const memory::BadTensorMap& bad) {
      memory::refuse(warp, instruction, lane, Fault::Kind::illegal_instruction,
                     std::string("tensormap.replace: ") + bad.what());
    }
  }
}

void execute_tensor_map_copy(Warp& warp, const Instruction& instruction) {
  const auto& detail = *static_cast<const TensorMapCopyDetail*>(instruction.detail);
  const int lane = std::countr_zero(warp.active);
  const char* const what = "tensor map of tensormap.cp_fenceproxy";
  std::byte* const to = map_in_global(warp, instruction, detail.to, lane, what);
  std::memcpy(to, map_in_shared(warp, instruction, detail.from, lane, what),
              memory::kTensorMapBytes);
  note_written(*warp.memory, to, memory::kTensorMapBytes);
}

}  // namespace warpgauge::emulator::machine::control
