// The asynchronous matrix products of a warp that are not done.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/core/instruction.h"

namespace warpgauge::emulator::machine::control {

/// Groups of products of a warp. A warp makes its part of a product when it executes it, and may
/// have come further than others of its warpgroup; wgmma.wait_group waits for theirs, too.
struct ProductGroups {
  std::uint32_t begun = 0;   ///< products, since the block began
  std::uint32_t closed = 0;  ///< by wgmma.commit_group, since the block began
  std::uint32_t done = 0;    ///< in the first warp of a warpgroup: those that one has waited for
  /// An instruction whose last product the warp has not waited for.
  struct Unawaited {
    const Instruction* product;
    std::uint32_t group;
  };
  std::vector<Unawaited> unawaited;
  std::vector<checks::History::Bytes> bytes;  ///< bytes of the last product
  /// When the last groups were closed, by their numbers.
  std::array<checks::BlockTimes::Time, 8> closed_at{};
};

}  // namespace warpgauge::emulator::machine::control
