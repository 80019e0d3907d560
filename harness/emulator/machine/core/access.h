// How a decoded instruction accesses memory.
#pragma once

#include <cstdint>

#include "metrics/counting/counting_rules.h"

namespace warpgauge::emulator::machine {

/// The effect of an instruction on memory.
enum class AccessEffect : std::uint8_t { read, write, update };

/// The state space as it is executed. Parameters of device functions are local memory.
enum class AccessSpace : std::uint8_t {
  generic,
  global,
  constant,
  shared,
  cluster,  ///< shared memory of any block of the cluster
  local,
  parameter,        ///< a kernel's
  fixed_parameter,  ///< a kernel's, for all lanes at Instruction::offset: checked in advance
};

/// How one instruction accesses memory and what that counts as; in Instruction::detail.
struct Access {
  AccessEffect effect = AccessEffect::read;
  AccessSpace space = AccessSpace::generic;
  std::uint8_t width = 4;      ///< bytes a lane
  std::uint8_t used_from = 0;  ///< the first of these bytes that matters, as PTX may say of a load
  std::uint8_t used_to = 4;    ///< behind the last one
  bool short_address = false;  ///< the address vector is of 32 bits a lane
  bool is_store = false;       ///< st, with a MoveDetail
  bool is_strong = false;      ///< atomic, volatile, relaxed, acquire, release
  bool is_read_only = false;   ///< ld.global.nc
  bool counts = true;          ///< false: parameters, constants, absorbed accesses, cluster
  bool overwrites = false;     ///< an update whose result does not depend on what was there
  bool cas_loop = false;       ///< an update of shared memory that the GPU does by a loop of CAS
  metrics::AccessKind shared_kind = metrics::AccessKind::shared_load;  ///< how shared ones count
  std::uint8_t counted_width = 4;  ///< bytes a lane of what is counted, at the address rounded down
  /// By Window (global, shared, local): low bits of the first address that matter to the cost, and
  /// the number of the counter in KernelCode, which decoding adds. A space that the instruction
  /// cannot access has no counter.
  std::uint8_t low_mask[3] = {};
  std::uint32_t counters[3] = {};
  std::uint32_t cluster_counter = 0;  ///< for shared memory of the cluster, if it may be accessed

  /// Whether what it does depends on what is in memory.
  bool depends_on_memory() const { return effect != AccessEffect::write && !overwrites; }
  bool is_used_in_part() const { return used_to - used_from < width; }
};

}  // namespace warpgauge::emulator::machine
