// cp.async of one warp: copies that were issued and are not known to be done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/emulator/machine/core/lanes.h"

namespace warpgauge::emulator::machine::memory {

/// Data arrives when a thread waits for it, not sooner: a kernel that forgets to wait reads what
/// was in shared memory before. Copies without a wait are never made.
class AsyncCopies {
 public:
  /// One cp.async of a warp. Groups are numbered per lane, by its commits.
  struct Copy {
    Mask mask = 0;  ///< lanes whose copy is still to be made
    std::uint8_t bytes = 0;
    std::array<std::uint8_t, kLanes> source_bytes{};  ///< the rest up to `bytes` becomes 0
    std::array<std::uint32_t, kLanes> group{};
    std::array<std::byte*, kLanes> to{};
    std::array<const std::byte*, kLanes> from{};
  };

  /// Called for the copy of each lane that was made.
  using Made = std::function<void(const Copy&, std::size_t lane)>;

  /// A new copy, in the lanes' open groups; the caller fills in the addresses and source_bytes.
  Copy& issue(Mask lanes, int bytes);
  void commit(Mask lanes);
  /// Makes the copies of these lanes except those of the `newest` last committed groups and of the
  /// group that is still open.
  void wait_group(Mask lanes, std::uint32_t newest, const Made& made = {});
  void wait_all(Mask lanes, const Made& made = {});  ///< the open group too
  void reset();                                      ///< for the next warp

 private:
  template <typename Done>
  void perform(Mask lanes, const Made& made, Done done);

  std::vector<Copy> pending_;  ///< in the order of issue
  std::array<std::uint32_t, kLanes> open_{};
  bool is_fresh_ = true;  ///< nothing was issued or committed yet
};

}  // namespace warpgauge::emulator::machine::memory
