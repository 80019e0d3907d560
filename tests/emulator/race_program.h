// Small random kernels that access a few words of shared and of global memory, in the words of
// docs/checks.md, and their PTX.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/lanes.h"

namespace warpgauge::emulator::machine {

inline constexpr std::uint32_t kRegionBytes = 512;  ///< of shared memory, and of global memory

/// One line of a kernel: what warps do in the order of their numbers. No kernel has a loop.
struct Step {
  enum class Kind : std::uint8_t {
    access,
    barrier,        ///< of all threads of the block
    named_barrier,  ///< bar.sync of a number of threads
    named_arrival,  ///< bar.arrive
    lane_barrier,   ///< bar.warp.sync of these lanes
    fence,
    let_dependents,  ///< griddepcontrol.launch_dependents
    wait_for_others  ///< griddepcontrol.wait
  };
  enum class Op : std::uint8_t { load, read_only_load, store, add, exchange };
  Kind kind = Kind::access;
  int line = 0;
  std::uint32_t warps = 0;  ///< bit n: warp n of the grid takes part
  Mask lanes = kAllLanes;
  // Barriers: the number, and how many warps meet.
  std::uint32_t number = 0, warps_that_meet = 0;
  bool of_block = false;  ///< fences and strong accesses: of scope .cta
  // Accesses.
  Op op = Op::load;
  bool is_global = false;
  std::string order;  ///< "", ".volatile", ".relaxed", ".acquire", ".release", ".acq_rel"
  std::uint32_t width = 4, offset = 0, stride = 0;  ///< bytes; of a lane
  std::uint32_t value = 0;                          ///< that lanes store
  bool adds_thread = false;                         ///< and the number of their thread is added

  bool is_atomic() const { return op == Op::add || op == Op::exchange; }
  bool is_load() const { return op == Op::load || op == Op::read_only_load; }
  bool is_strong() const { return is_atomic() || !order.empty(); }
  bool acquires() const { return is_atomic() || order == ".acquire" || order == ".acq_rel"; }
  bool releases() const { return order == ".release" || order == ".acq_rel"; }
  std::uint32_t offset_of(std::uint32_t lane) const {
    return (offset + lane * stride) % kRegionBytes;
  }
};

/// Launches, one behind the other, of a kernel each.
struct RaceProgram {
  struct Launch {
    std::vector<Step> steps;
    std::vector<std::size_t> concurrent;  ///< earlier launches that may run at the same time
    bool until_wait = false;              ///< that is so until griddepcontrol.wait
  };
  std::uint32_t blocks = 1, warps = 1;  ///< warps of a block
  std::uint32_t threads = 32;           ///< of a block
  bool has_lanes = false;               ///< the check `lanes` is made
  bool has_uninitialised = false;       ///< and the check `uninitialised`
  bool is_unwritten = false;            ///< nothing has written the global memory before
  std::vector<Launch> launches;

  Mask live_lanes(std::uint32_t warp_of_block) const {
    const std::uint32_t left = threads - warp_of_block * kLanes;
    return left >= kLanes ? kAllLanes : (Mask{1} << left) - 1;
  }
};

RaceProgram random_program(std::uint64_t seed);

/// A module with the kernels k0, k1, ... of the launches: their parameters are the addresses of the
/// global region, and of a word for each thread.
std::string ptx_of(const RaceProgram& program);

}  // namespace warpgauge::emulator::machine
