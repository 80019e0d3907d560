// The frequent half of a memory access: are the lanes' addresses as far from each other as the last
// time, are they inside of bounds, and where do they lie? For the files of this folder only.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/isa/access_patterns.h"
#include "harness/emulator/machine/isa/lanes.h"
#include "harness/emulator/machine/isa/trace_run.h"
#include "harness/emulator/machine/memory/access_bounds.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/checked_access.h"
#include "harness/emulator/machine/memory/cluster_memory.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// Addresses that were checked: lane l's memory is at base + index[l]. Shared addresses of 32 bits
/// are signed here, so that a register below the variable and an offset that makes up for it work.
template <typename Index>
struct Checked {
  u64 base;
  const Index* index;
  Pattern pattern;
  Mask lanes;  ///< not 0

  std::byte* at(int lane) const {
    return reinterpret_cast<std::byte*>(base + static_cast<u64>(static_cast<s64>(index[lane])));
  }
  int lead() const { return __builtin_ctz(lanes); }
};

/// True if the cost and the distances that the cache holds are those of this execution.
template <typename Address, typename Distance>
WARPGAUGE_INLINE bool repeats(const memory::AccessCache& cache, const Address* addresses,
                              Address offset, const Distance* distances, Mask lanes) {
  const Address lead = addresses[__builtin_ctz(lanes)];
  const bool same_place =
      (static_cast<u32>(lead + offset) & cache.now.low_mask) == cache.now.low_bits;
  return cache.now.mask == lanes && same_place && same_distances(addresses, lead, distances, lanes);
}

/// True if the accesses that the cache describes, from `lead` on, lie in [begin, end). Works for
/// any lead: one that is far outside cannot come back in by overflow, as lowest <= 0 < behind.
WARPGAUGE_INLINE bool inside(const memory::AccessCache& cache, u64 lead, u64 begin, u64 end) {
  return static_cast<s64>(lead + static_cast<u64>(cache.now.lowest)) >= static_cast<s64>(begin) &&
         lead + static_cast<u64>(cache.now.behind) <= end;
}

WARPGAUGE_INLINE Checked<s32> shared_lanes(const Warp& warp, const Instruction& instruction,
                                           const Access& access, const u32* addresses, s64 offset,
                                           Mask lanes) {
  const memory::MemoryContext& context = *warp.memory;
  memory::AccessCache& cache = context.caches[access.counters[1]];
  const u32 short_offset = static_cast<u32>(offset);
  if (repeats(cache, addresses, short_offset, cache.distances.of_32_bits, lanes)) {
    ++cache.repeats;
  } else {
    remember_shared(warp, instruction, access, {addresses, offset, lanes});
  }
  const u32 lead = addresses[__builtin_ctz(lanes)] + short_offset;
  if (!inside(cache, lead, 0, context.shared_bytes)) [[unlikely]] {
    memory::refuse_shared(warp, instruction, access, {addresses, offset, lanes});
  }
  if (context.observed) [[unlikely]] {
    memory::observe_shared(warp, instruction, access, {addresses, offset, lanes}, kLookAtRun);
  }
  const u64 base = reinterpret_cast<u64>(context.shared) + static_cast<u64>(offset);
  return {base, reinterpret_cast<const s32*>(addresses), cache.now.pattern, lanes};
}

WARPGAUGE_INLINE Checked<u64> global_lanes(const Warp& warp, const Instruction& instruction,
                                           const Access& access, const u64* addresses, s64 offset,
                                           Mask lanes) {
  const memory::MemoryContext& context = *warp.memory;
  memory::AccessCache& cache = context.caches[access.counters[0]];
  const u64 long_offset = static_cast<u64>(offset);
  if (repeats(cache, addresses, long_offset, cache.distances.of_64_bits, lanes)) {
    ++cache.repeats;
  } else {
    remember_global(warp, instruction, access, {addresses, offset, lanes});
  }
  const u64 lead = addresses[__builtin_ctz(lanes)] + long_offset;
  const bool known = inside(cache, lead, cache.begin, cache.end) &&
                     cache.generation == context.memory->generation();
  if (!known) [[unlikely]]
    memory::admit(warp, instruction, access, {addresses, offset, lanes});
  if (context.observed) [[unlikely]] {
    memory::observe_global(warp, instruction, access, {addresses, offset, lanes});
  }
  return {long_offset, addresses, cache.now.pattern, lanes};
}

/// `pointers` gets the addresses: a lane's local memory lies together, the lanes' far apart.
WARPGAUGE_INLINE Checked<u64> local_lanes(const Warp& warp, const Instruction& instruction,
                                          const Access& access, const u64* addresses, s64 offset,
                                          Mask lanes, u64* pointers) {
  const memory::MemoryContext& context = *warp.memory;
  memory::AccessCache& cache = context.caches[access.counters[2]];
  const u64 long_offset = static_cast<u64>(offset);
  if (repeats(cache, addresses, long_offset, cache.distances.of_64_bits, lanes)) {
    ++cache.repeats;
  } else {
    remember_local(warp, instruction, access, {addresses, offset, lanes});
  }
  const u64 lead = addresses[__builtin_ctz(lanes)] + long_offset;
  if (!inside(cache, lead, 0, context.local_bytes)) [[unlikely]] {
    memory::refuse_local(warp, instruction, access, {addresses, offset, lanes});
  }
  const u32 stride = static_cast<u32>(context.local_stride);  // below 4 GiB: a warp has 32 of them
  for (int lane = 0; lane < kLanes; ++lane) {
    pointers[lane] = addresses[lane] + u64{static_cast<u32>(lane)} * stride;
  }
  const u64 base = reinterpret_cast<u64>(context.local) + long_offset;
  return {base, pointers, Pattern::general, lanes};
}

/// Kernel parameters that are read at computed addresses; they count nothing.
WARPGAUGE_INLINE Checked<u64> parameter_lanes(const Warp& warp, const Instruction& instruction,
                                              const Access& access, const u64* addresses,
                                              s64 offset, Mask lanes) {
  const memory::MemoryContext& context = *warp.memory;
  bool valid = access.effect == AccessEffect::read;
  for_lanes(lanes, [&](int lane) {
    const u64 address = addresses[lane] + static_cast<u64>(offset);
    valid = valid && address <= context.parameter_bytes &&
            context.parameter_bytes - address >= access.width && address % access.width == 0;
  });
  if (!valid) memory::refuse_parameter(warp, instruction, access, {addresses, offset, lanes});
  const u64 base = reinterpret_cast<u64>(context.parameters) + static_cast<u64>(offset);
  return {base, addresses, Pattern::general, lanes};
}

/// Space for addresses that differ from those in the register.
struct AddressBuffers {
  alignas(64) u64 wide[kLanes];
  alignas(64) u64 offsets[kLanes];
  alignas(64) u64 pointers[kLanes];
  alignas(64) u64 mixed[kLanes];
  alignas(64) u32 narrow[kLanes];
};

/// Shared addresses of 64 bits; those that do not fit become one that no offset brings into bounds.
WARPGAUGE_INLINE const u32* narrowed(const u64* addresses, u64 window, u32* buffer) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const u64 address = addresses[lane] - window;
    const u64 extended = static_cast<u64>(static_cast<s64>(static_cast<s32>(address)));
    buffer[lane] = address == extended ? static_cast<u32>(address) : 0x7ffffff0;
  }
  return buffer;
}

/// The lanes of which the generic address is in the window.
WARPGAUGE_INLINE Mask lanes_in(Window window, const u64* addresses, s64 offset) {
  return mask_of<u64>([&](int lane) {
    return (addresses[lane] + static_cast<u64>(offset)) >> kWindowShift == static_cast<u64>(window);
  });
}

/// The address vector of 64 bits a lane.
WARPGAUGE_INLINE const u64* wide_addresses(const Warp& warp, const Instruction& instruction,
                                           const Access& access, u64* buffer) {
  if (!access.short_address) return lanes<u64>(warp, instruction, 0);
  const u32* const narrow = lanes<u32>(warp, instruction, 0);
  for (int lane = 0; lane < kLanes; ++lane) buffer[lane] = narrow[lane];
  return buffer;
}

/// Whether any of these generic addresses of shared memory is that of a block by its rank.
WARPGAUGE_INLINE bool any_names_block(const u64* addresses, s64 offset, Mask lanes) {
  const u64 to_window = static_cast<u64>(offset) - window_base(Window::shared);
  u64 named = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    named |= memory::names_block(addresses[lane] + to_window) & (lanes >> lane & 1);
  }
  return named != 0;
}

/// The lanes of one window of generic addresses.
WARPGAUGE_INLINE Checked<u64> window_lanes(const Warp& warp, const Instruction& instruction,
                                           const Access& access, const u64* addresses, Mask lanes,
                                           Window window, AddressBuffers& buffers) {
  const s64 offset = instruction.offset;
  if (window == Window::shared && any_names_block(addresses, offset, lanes)) {
    memory::find_in_cluster(warp, instruction, access, {addresses, offset, lanes},
                            buffers.pointers);
    return {0, buffers.pointers, Pattern::general, lanes};
  }
  if (window == Window::shared) {
    const u32* const narrow = narrowed(addresses, window_base(window), buffers.narrow);
    const Checked<s32> in = shared_lanes(warp, instruction, access, narrow, offset, lanes);
    for (int lane = 0; lane < kLanes; ++lane) {
      buffers.pointers[lane] = static_cast<u64>(static_cast<s64>(in.index[lane]));
    }
    return {in.base, buffers.pointers, in.pattern, lanes};
  }
  if (window == Window::local || window == Window::parameter) {
    for (int lane = 0; lane < kLanes; ++lane) {
      buffers.offsets[lane] = addresses[lane] - window_base(window);
    }
    return window == Window::local
               ? local_lanes(warp, instruction, access, buffers.offsets, offset, lanes,
                             buffers.pointers)
               : parameter_lanes(warp, instruction, access, buffers.offsets, offset, lanes);
  }
  // Addresses that are in no window fault as global ones.
  return global_lanes(warp, instruction, access, addresses, offset, lanes);
}

WARPGAUGE_INLINE Checked<u64> generic_lanes(const Warp& warp, const Instruction& instruction,
                                            const Access& access, const u64* addresses,
                                            AddressBuffers& buffers) {
  const s64 offset = instruction.offset;
  Mask rest = warp.active;
  while (true) {
    const u64 lead = addresses[__builtin_ctz(rest)] + static_cast<u64>(offset);
    const Window window = window_of(lead);
    const Mask lanes = rest & lanes_in(window, addresses, offset);
    const Checked<u64> checked =
        window_lanes(warp, instruction, access, addresses, lanes, window, buffers);
    if (lanes == warp.active) return checked;
    for_lanes(lanes, [&](int lane) { buffers.mixed[lane] = checked.base + checked.index[lane]; });
    rest &= ~lanes;
    if (rest == 0) return {0, buffers.mixed, Pattern::general, warp.active};
  }
}

/// Any space but the two frequent ones. One function, for a handler each would be much code.
[[gnu::noinline, maybe_unused]] Checked<u64> other_lanes(const Warp& warp,
                                                         const Instruction& instruction,
                                                         const Access& access,
                                                         AddressBuffers& buffers) {
  const u64* const addresses = wide_addresses(warp, instruction, access, buffers.wide);
  if (access.space == AccessSpace::generic) {
    return generic_lanes(warp, instruction, access, addresses, buffers);
  }
  if (access.space == AccessSpace::cluster) {
    memory::find_in_cluster(warp, instruction, access, {addresses, instruction.offset, warp.active},
                            buffers.pointers);
    return {0, buffers.pointers, Pattern::general, warp.active};
  }
  if (access.space == AccessSpace::local) {
    return local_lanes(warp, instruction, access, addresses, instruction.offset, warp.active,
                       buffers.pointers);
  }
  return parameter_lanes(warp, instruction, access, addresses, instruction.offset, warp.active);
}

WARPGAUGE_INLINE Checked<s32> shared_lanes(const Warp& warp, const Instruction& instruction,
                                           const Access& access, AddressBuffers& buffers) {
  const u32* const addresses = access.short_address
                                   ? lanes<u32>(warp, instruction, 0)
                                   : narrowed(lanes<u64>(warp, instruction, 0), 0, buffers.narrow);
  return shared_lanes(warp, instruction, access, addresses, instruction.offset, warp.active);
}

WARPGAUGE_INLINE Checked<u64> global_lanes(const Warp& warp, const Instruction& instruction,
                                           const Access& access, AddressBuffers& buffers) {
  const u64* const addresses = wide_addresses(warp, instruction, access, buffers.wide);
  return global_lanes(warp, instruction, access, addresses, instruction.offset, warp.active);
}

/// The code that handlers are made for: spaces that share it have no handlers of their own.
enum class Route { shared, global, fixed_parameter, other };

template <Route kRoute>
WARPGAUGE_INLINE auto active_lanes(const Warp& warp, const Instruction& instruction,
                                   const Access& access, AddressBuffers& buffers) {
  if constexpr (kRoute == Route::shared) {
    return shared_lanes(warp, instruction, access, buffers);
  } else if constexpr (kRoute == Route::global) {
    return global_lanes(warp, instruction, access, buffers);
  } else if constexpr (kRoute == Route::fixed_parameter) {
    const u64 address =
        reinterpret_cast<u64>(warp.memory->parameters) + static_cast<u64>(instruction.offset);
    return Checked<u64>{address, kNoDistances, Pattern::uniform, warp.active};
  } else {
    return other_lanes(warp, instruction, access, buffers);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
