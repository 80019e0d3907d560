// A mistake that a check has found. A kernel goes on after it, as it would on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/order.h"
#include "metrics/base/source_line.h"

namespace warpgauge::emulator::machine {

/// An order in which a launch does not do what it does in the usual one.
struct BreakingOrder {
  Order order;
  std::vector<std::string> from, to;  ///< the lines of each switch; empty: it had none
};

struct Finding {
  /// Between these instructions of the kernel's body, by their positions.
  struct MissingBarrier {
    std::uint32_t earlier, later;
    bool of_warp;  ///< __syncwarp(), else __syncthreads()
  };
  std::string text;  ///< as Fault::what(): kernel, block, thread, line, and what is wrong
  metrics::SourceLine source;
  std::string rule;   ///< the rule that is broken: "race"
  std::string other;  ///< the other line, "f.cu:12"; empty where the finding is of one line
  std::optional<MissingBarrier> missing_barrier = {};  ///< what may cure it
  /// Of another order than the usual one; nullptr: of a check, or the order is not known.
  std::shared_ptr<const BreakingOrder> order = nullptr;
};

/// An access of memory whose uses are told: Memory::Allocation::tells_uses.
struct MemoryUse {
  const std::byte* memory = nullptr;  ///< where it begins
  std::string who;                    ///< kernel, block, thread and line
  std::string what;  ///< "global write of 4 bytes at byte 0 of cudaMallocAsync #1 (400 bytes)"
  metrics::SourceLine source;
};

}  // namespace warpgauge::emulator::machine
