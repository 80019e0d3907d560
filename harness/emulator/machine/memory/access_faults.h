// The faults of memory accesses, and their messages.
#pragma once

#include <cstdint>
#include <string>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/core/lane_addresses.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/core/window.h"

namespace warpgauge::emulator::machine::memory {

struct MemoryContext;

/// Throws the fault of one lane.
[[noreturn]] void refuse(const Warp& warp, const Instruction& instruction, int lane,
                         Fault::Kind kind, const std::string& what);
/// Throws the fault of the first lane that is misaligned; there is one.
template <typename Address>
[[noreturn]] void refuse_misaligned(const Warp& warp, const Instruction& instruction,
                                    const Access& access, Window window,
                                    const LaneAddresses<Address>& lanes);

/// Faults of accesses that are known to leave the block's shared memory, the thread's frame or the
/// kernel's parameters.
[[noreturn]] void refuse_shared(const Warp& warp, const Instruction& instruction,
                                const Access& access, const LaneAddresses<std::uint32_t>& lanes);
[[noreturn]] void refuse_local(const Warp& warp, const Instruction& instruction,
                               const Access& access, const LaneAddresses<std::uint64_t>& lanes);
[[noreturn]] void refuse_parameter(const Warp& warp, const Instruction& instruction,
                                   const Access& access, const LaneAddresses<std::uint64_t>& lanes);

/// The end of the memory of a window that is not global, for messages: "the block has 100 bytes of
/// shared memory".
std::string end_text(const MemoryContext& memory, Window window);

/// cp.async that is to read more bytes than it copies.
[[noreturn]] void refuse_source_size(const Warp& warp, const Instruction& instruction, int lane,
                                     std::uint32_t bytes, int copied);
/// ldmatrix, stmatrix, wmma.load and wmma.store without all lanes.
[[noreturn]] void refuse_part_of_warp(const Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::memory
