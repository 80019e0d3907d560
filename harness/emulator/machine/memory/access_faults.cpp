// Messages of the faults of memory accesses.
#include "harness/emulator/machine/memory/access_faults.h"

#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {

void refuse(const Warp& warp, const Instruction& instruction, int lane, Fault::Kind kind,
            const std::string& what) {
  fault(warp, instruction, Mask{1} << lane, kind, what.c_str());
}

template <typename Address>
void refuse_misaligned(const Warp& warp, const Instruction& instruction, const Access& access,
                       Window window, const LaneAddresses<Address>& lanes) {
  const int lane =
      first_lane(lanes, [&](std::uint64_t address) { return address % access.width != 0; });
  refuse(warp, instruction, lane, Fault::Kind::misaligned_address,
         "misaligned " + title(access, window, address_of(lanes, lane)) +
             ": the address must be a multiple of " + std::to_string(access.width));
}
template void refuse_misaligned(const Warp&, const Instruction&, const Access&, Window,
                                const LaneAddresses<std::uint32_t>&);
template void refuse_misaligned(const Warp&, const Instruction&, const Access&, Window,
                                const LaneAddresses<std::uint64_t>&);

void refuse_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                   const LaneAddresses<std::uint32_t>& lanes) {
  const std::uint64_t bytes = warp.memory->shared_bytes;
  const int lane =
      first_lane(lanes, [&](std::uint64_t address) { return address + access.used_to > bytes; });
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         "invalid " + title(access, Window::shared, address_of(lanes, lane)) + ": " +
             end_text(*warp.memory, Window::shared));
}

void refuse_local(const Warp& warp, const Instruction& instruction, const Access& access,
                  const LaneAddresses<std::uint64_t>& lanes) {
  const std::uint64_t bytes = warp.memory->local_bytes;
  const int lane = first_lane(lanes, [&](std::uint64_t address) {
    return address > bytes || address + access.used_to > bytes;
  });
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         "invalid " + title(access, Window::local, address_of(lanes, lane)) + ": " +
             end_text(*warp.memory, Window::local));
}

void refuse_parameter(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint64_t>& lanes) {
  const std::uint64_t bytes = warp.memory->parameter_bytes;
  const int lane = first_lane(lanes, [&](std::uint64_t address) {
    return address > bytes || address + access.used_to > bytes;
  });
  refuse(warp, instruction, lane, Fault::Kind::illegal_address,
         "invalid " + title(access, Window::parameter, address_of(lanes, lane)) + ": " +
             end_text(*warp.memory, Window::parameter));
}

std::string end_text(const MemoryContext& memory, Window window) {
  if (window == Window::local) {
    return "the thread's local memory ends at " + hexadecimal(memory.local_bytes);
  }
  if (window == Window::parameter) {
    return "the kernel has " + bytes_text(memory.parameter_bytes) + " of parameters";
  }
  if (memory.shared_bytes == 0) return "the block has no shared memory";
  return "the block has " + bytes_text(memory.shared_bytes) + " of shared memory";
}

void refuse_source_size(const Warp& warp, const Instruction& instruction, int lane,
                        std::uint32_t bytes, int copied) {
  refuse(warp, instruction, lane, Fault::Kind::illegal_instruction,
         "cp.async of " + std::to_string(copied) + " bytes is to read " + std::to_string(bytes));
}

void refuse_part_of_warp(const Warp& warp, const Instruction& instruction) {
  fault(warp, instruction, warp.active, Fault::Kind::illegal_instruction,
        "ldmatrix, stmatrix and wmma need all 32 lanes of the warp");
}

}  // namespace warpgauge::emulator::machine::memory
