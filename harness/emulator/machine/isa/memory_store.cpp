// Stores: st of all spaces; and the choice between loads and stores.
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/isa/memory_move.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

template <Route kRoute, int kBytes, int kElements, bool kConverts>
struct Store {
  static void execute(Warp& warp, const Instruction& instruction) {
    const MoveDetail& detail = *static_cast<const MoveDetail*>(instruction.detail);
    if ((instruction.flags & memory_flag::kRelease) != 0) __atomic_thread_fence(__ATOMIC_RELEASE);
    alignas(64) std::byte raw[kConverts ? kElements : 1][kConverts ? kLanes * kBytes : 1];
    const std::byte* from[kElements];
    for (int n = 0; n < kElements; ++n) {
      const OperandSlot slot = detail.elements[n];
      from[n] = warp.bases[slot.base] + slot.offset;
      if constexpr (kConverts) {
        convert(from[n], detail.register_bytes, false, raw[n], kBytes, kAllLanes);
        from[n] = raw[n];
      }
    }
    AddressBuffers buffers;
    const auto to = active_lanes<kRoute>(warp, instruction, detail.access, buffers);
    store_lanes<kBytes, kElements>(to, from);
  }
};

}  // namespace

Execute store_handler(const MemoryKey& key) { return choose<Store>(key); }

Execute memory_handler(const MemoryKey& key) {
  return key.store ? store_handler(key) : load_handler(key);
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
