// Loads: ld and ldu of all spaces.
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/isa/memory_move.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

template <Route kRoute, int kBytes, int kElements, bool kConverts>
struct Load {
  static void execute(Warp& warp, const Instruction& instruction) {
    const MoveDetail& detail = *static_cast<const MoveDetail*>(instruction.detail);
    alignas(64) std::byte raw[kConverts ? kElements : 1][kConverts ? kLanes * kBytes : 1] = {};
    std::byte* registers[kElements];
    std::byte* to[kElements];
    for (int n = 0; n < kElements; ++n) {
      registers[n] = warp.bases[OperandSlot::frame] + detail.elements[n].offset;
      to[n] = kConverts ? raw[n] : registers[n];
    }
    AddressBuffers buffers;
    const auto from = active_lanes<kRoute>(warp, instruction, detail.access, buffers);
    load_lanes<kBytes, kElements>(from, to);
    if constexpr (kConverts) {
      for (int n = 0; n < kElements; ++n) {
        convert(raw[n], kBytes, detail.sign_extends, registers[n], detail.register_bytes,
                warp.active);
      }
    }
    if ((instruction.flags & memory_flag::kAcquire) != 0) __atomic_thread_fence(__ATOMIC_ACQUIRE);
  }
};

}  // namespace

Execute load_handler(const MemoryKey& key) { return choose<Load>(key); }

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
