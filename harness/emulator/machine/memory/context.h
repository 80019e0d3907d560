// The block, launch and worker as the memory instructions of a warp see them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/memory/access_cache.h"
#include "harness/emulator/machine/memory/async_copies.h"
#include "harness/emulator/machine/memory/memory.h"
#include "metrics/counting/warp_access.h"

namespace warpgauge::emulator::machine::checks {
class Findings;
class History;
}  // namespace warpgauge::emulator::machine::checks

namespace warpgauge::emulator::machine::memory {

struct ClusterMemory;

/// One per warp; the engine fills it. Addresses of .shared, .local and kernel parameters are
/// offsets from the pointers here, their generic addresses are window_base(window) plus that
/// offset. .global and .const addresses are pointers of this process (constants lie in allocations
/// of the Memory with the rights `constant`), and so are their generic addresses.
struct MemoryContext {
  Memory* memory = nullptr;
  AccessCache* caches = nullptr;           ///< the worker's, by counter number: see Counters
  metrics::WarpAccess* records = nullptr;  ///< the same

  // The block.
  std::array<std::uint32_t, 3> block{};  ///< its index in the grid
  std::byte* shared = nullptr;           ///< static variables, then dynamic; aligned to 1024 bytes
  std::uint32_t shared_bytes = 0;
  ClusterMemory* cluster = nullptr;                     ///< its cluster's
  std::uint32_t rank = 0;                               ///< the block's rank there
  bool observed = false;                                ///< some check looks at the accesses
  checks::History* history = nullptr;                   ///< null: none looks at those before
  checks::Findings* findings = nullptr;                 ///< the launch's
  bool checks_stores = false, checks_shuffles = false;  ///< see Checks

  // The warp.
  /// Byte `offset` of lane l's local memory is local[l * local_stride + offset].
  std::byte* local = nullptr;      ///< aligned to 64 bytes
  std::uint64_t local_stride = 0;  ///< best an odd multiple of 64 (caches have sets)
  std::uint64_t local_bytes = 0;   ///< valid offsets are below: end of the running function's frame
  AsyncCopies copies;              ///< reset() at the start of each warp

  // The kernel.
  const std::byte* parameters = nullptr;
  std::uint64_t parameter_bytes = 0;
};

}  // namespace warpgauge::emulator::machine::memory
