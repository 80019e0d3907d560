// How a decoded instruction accesses memory.
#pragma once

#include <cstdint>

#include "metrics/counting/counting_rules.h"

namespace warpgauge::emulator::machine {

/// What an access does to memory.
enum class AccessEffect : std::uint8_t { read, write, update };

/// The state space that is accessed. Parameters of device functions are in local memory.
enum class AccessSpace : std::uint8_t {
  generic,
  global,
  constant,
  shared,
  cluster,  ///< shared memory of any block of the cluster
  local,
  parameter,        ///< parameters of a kernel
  fixed_parameter,  ///< those at Instruction::offset for all lanes: decoding checks the bounds
};

/// How one instruction accesses memory, and how that is counted. A part of Instruction::detail.
struct Access {
  AccessEffect effect = AccessEffect::read;
  AccessSpace space = AccessSpace::generic;
  std::uint8_t width = 4;      ///< bytes that a lane accesses
  std::uint8_t used_from = 0;  ///< the first byte that the program uses: PTX can mask a load
  std::uint8_t used_to = 4;    ///< the byte after the last one that it uses
  bool short_address = false;  ///< addresses are vectors of 32-bit numbers
  bool is_store = false;       ///< the instruction is st, and the detail a MoveDetail
  bool is_strong = false;      ///< atomic, volatile, relaxed, acquire, release
  bool is_read_only = false;   ///< ld.global.nc
  bool counts = true;          ///< false: parameters, constants, absorbed accesses, cluster
  bool overwrites = false;     ///< an update whose result does not depend on the old value
  bool cas_loop = false;       ///< the GPU makes the update in a loop of compare-and-swap
  /// The counting rule of accesses to shared memory.
  metrics::AccessKind shared_kind = metrics::AccessKind::shared_load;
  std::uint8_t counted_width = 4;  ///< bytes a lane that count, from the address rounded down
  /// The low bits of the first address that the cost depends on; index: Window.
  std::uint8_t low_mask[3] = {};
  /// The numbers of the counters in KernelCode, which decoding adds; index: Window. A window that
  /// the instruction cannot access has no counter.
  std::uint32_t counters[3] = {};
  std::uint32_t cluster_counter = 0;  ///< the counter of the shared memory of other blocks

  /// Whether the old value in memory matters.
  bool depends_on_memory() const { return effect != AccessEffect::write && !overwrites; }
  bool is_used_in_part() const { return used_to - used_from < width; }
};

}  // namespace warpgauge::emulator::machine
