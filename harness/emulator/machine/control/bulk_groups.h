// Bulk copies out of shared memory that threads of a warp have begun, in their groups.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/emulator/machine/core/lanes.h"

namespace warpgauge::emulator::machine::control {

/// A copy is made at once, as a GPU mostly does, or where `lazy` only when its thread waits for it
/// or exits, as a GPU may: a source that is overwritten before is copied as it is then.
class BulkGroups {
 public:
  /// A copy of the lane, in its open group; `note` is called when the thread has waited for it.
  void issue(int lane, bool lazy, std::function<void()> make, std::function<void()> note);
  /// cp.async.bulk.commit_group.
  void commit(Mask lanes);
  /// Is done with the copies of these lanes except those of the `newest` last committed groups and
  /// of the group that is still open.
  void wait(Mask lanes, std::uint32_t newest);
  /// Is done with all that is left of lanes that exit.
  void finish(Mask lanes);
  void reset();  ///< for the next warp

 private:
  struct Copy {
    int lane;
    std::uint32_t group;
    std::function<void()> make;  ///< empty: made
    std::function<void()> note;
  };
  template <typename Done>
  void perform(Mask lanes, Done done);

  std::vector<Copy> pending_;  ///< in the order of issue
  std::array<std::uint32_t, kLanes> open_{};
};

}  // namespace warpgauge::emulator::machine::control
