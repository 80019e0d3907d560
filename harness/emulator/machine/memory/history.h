// The history of accesses to shared and global memory, in which races and reads of memory that
// nothing wrote are found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "harness/emulator/machine/memory/access.h"
#include "harness/emulator/machine/memory/block_times.h"
#include "harness/emulator/machine/memory/lane_addresses.h"
#include "harness/emulator/machine/memory/launch_history.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/machine/warp.h"

namespace warpgauge::emulator::machine::memory {

/// That of one block at a time.
class History {
 public:
  History(LaunchHistory& launch, std::size_t warps, std::uint64_t shared_bytes);
  ~History();

  void begin_block(std::uint64_t number);
  BlockTimes& times() { return times_; }
  void sync_lanes(std::uint32_t warp);
  void fence(std::uint32_t warp, bool of_grid);

  /// `look_at_run` may be nullptr.
  void observe_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint32_t>& lanes, LookAtRun look_at_run);
  /// By cp.async, which is done when its thread waits for it: see copied().
  void observe_async(const Warp& warp, const Instruction& instruction, const Access& access,
                     const LaneAddresses<std::uint32_t>& lanes);
  void copied(std::uint32_t warp, int lane, std::uint64_t offset, std::uint64_t bytes);
  void observe_global(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint64_t>& lanes);
  /// Something that is not held against others, as it is ordered by other means, has written to
  /// shared memory.
  void note_written(std::uint64_t offset, std::uint64_t bytes);

 private:
  struct SharedLook;
  struct GlobalLook;

  void look_at_shared(const Warp& warp, const Instruction& instruction, const Access& access,
                      const LaneAddresses<std::uint32_t>& lanes, std::uint64_t in_flight,
                      LookAtRun look_at_run);
  /// False if this block object has reported this pair of instructions before.
  bool is_new(bool of_shared, std::uint64_t first, std::uint64_t second, bool wrote);
  /// Whether something other than a kernel is known to have written there.
  bool knows_written(std::uint64_t address, std::uint64_t bytes) const {
    for (const Memory::Range& range : written_) {
      if (address >= range.begin && address + bytes <= range.end) return true;
    }
    return false;
  }
  /// The present time as traces of global memory keep it.
  std::uint64_t global_time() const { return launch_.begin + (times_.now() - times_.began()); }

  LaunchHistory& launch_;
  std::set<std::tuple<bool, std::uint64_t, std::uint64_t, bool>> found_;
  BlockTimes times_;
  std::vector<WordTraces> shared_;
  bool any_in_flight_ = false;  ///< of them
  // Of global memory.
  std::uint64_t block_ = 0;
  std::uint64_t acquired_ = 0;              ///< all fences up to this one are known
  bool acquires_ = false;                   ///< the last access to global memory acquires
  std::array<Memory::Range, 4> written_{};  ///< where something else has written, lately found
  std::size_t next_written_ = 0;
};

}  // namespace warpgauge::emulator::machine::memory
