// The rare half of a memory access: what happens when its addresses lie otherwise than the last
// time, and the faults. The frequent half is in isa/memory_access.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include "harness/emulator/machine/memory/access.h"
#include "harness/emulator/machine/warp.h"

namespace warpgauge::emulator::machine::memory {

/// The addresses of one execution: lane l's is addresses[l] + offset, in the window's own space
/// (global: a pointer; shared, local: an offset).
template <typename Address>
struct LaneAddresses {
  const Address* addresses;
  std::int64_t offset;
  Mask lanes;  ///< not 0
};

/// What the addresses of the active lanes amount to. Distances are from the first active lane's
/// address, 0 of lanes that are off.
template <typename Address>
struct LaneDistances {
  using Signed = std::make_signed_t<Address>;
  alignas(64) Signed of[kLanes];
  Signed lowest = 0, highest = 0;
  Address low_bits = 0;     ///< bits that are set in any lane's address
  bool contiguous = false;  ///< each lane's is as many widths away as the lane is
};

/// Bring the access's cache up to date and count one execution. They fault if a lane is misaligned.
void remember_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint32_t>& lanes,
                     const LaneDistances<std::uint32_t>& distances);
void remember_global(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint64_t>& lanes,
                     const LaneDistances<std::uint64_t>& distances);
void remember_local(const Warp& warp, const Instruction& instruction, const Access& access,
                    const LaneAddresses<std::uint64_t>& lanes,
                    const LaneDistances<std::uint64_t>& distances);
/// cp.async: both sides at once, for their costs depend on each other. Lanes that read nothing are
/// not in `from`, which is not empty.
void remember_copy(const Warp& warp, const Instruction& instruction, const CopyDetail& copy,
                   const LaneAddresses<std::uint32_t>& to,
                   const LaneDistances<std::uint32_t>& to_distances,
                   const LaneAddresses<std::uint64_t>& from,
                   const LaneDistances<std::uint64_t>& from_distances);

/// Global memory: looks for the allocations that the lanes access and remembers their bounds.
/// Faults if a lane is in none, or in one of which it has not the right to be.
void admit(const Warp& warp, const Instruction& instruction, const Access& access,
           const LaneAddresses<std::uint64_t>& lanes);
/// The same for one lane that accesses `bytes` bytes; remembers nothing.
void admit_lane(const Warp& warp, const Instruction& instruction, const Access& access, int lane,
                std::uint64_t address, std::uint64_t bytes);

/// Faults of accesses that are known to leave the block's shared memory, the thread's frame or the
/// kernel's parameters.
[[noreturn]] void refuse_shared(const Warp& warp, const Instruction& instruction,
                                const Access& access, const LaneAddresses<std::uint32_t>& lanes);
[[noreturn]] void refuse_local(const Warp& warp, const Instruction& instruction,
                               const Access& access, const LaneAddresses<std::uint64_t>& lanes);
[[noreturn]] void refuse_parameter(const Warp& warp, const Instruction& instruction,
                                   const Access& access, const LaneAddresses<std::uint64_t>& lanes);

/// cp.async that is to read more bytes than it copies.
[[noreturn]] void refuse_source_size(const Warp& warp, const Instruction& instruction, int lane,
                                     std::uint32_t bytes, int copied);
/// ldmatrix and stmatrix without all lanes.
[[noreturn]] void refuse_part_of_warp(const Warp& warp, const Instruction& instruction);

/// When uninitialised reads of shared memory are to be found: faults if one byte that is read was
/// never written; notes what is written.
void track_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                  const LaneAddresses<std::uint32_t>& lanes);

}  // namespace warpgauge::emulator::machine::memory
