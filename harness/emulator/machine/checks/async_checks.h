// Rules about mbarriers, and about what is still under way when threads and blocks end.
#pragma once

#include <cstdint>
#include <string>

#include "harness/emulator/machine/checks/block_times.h"
#include "harness/emulator/machine/checks/findings.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/core/act.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::checks {

/// The history of an mbarrier, beside its bits.
struct MbarrierUse {
  Act init;
  BlockTimes::Time init_time = 0;     ///< in its block's times, where it has some
  std::uint64_t init_in_cluster = 0;  ///< the same in ClusterTimes
  std::uint64_t phase = 0;            ///< the present one
  std::uint64_t expected = 0;         ///< bytes that the present phase was told of
  std::uint64_t arrived = 0;          ///< and that have arrived
  Act expecter, arriver;              ///< the last that told of bytes, or brought them
  bool is_reported = false;           ///< its initialisation, as not known to all that use it
};

/// A lane of block `user_rank` of the cluster uses an mbarrier of the block of `history`, `offset`
/// bytes into its shared memory. `by_proxy`: a copy is to arrive at it.
void check_mbarrier(History& history, const Maker& user, std::uint32_t user_rank, MbarrierUse& use,
                    std::uint32_t offset, bool by_proxy);
/// These lanes exit.
void check_exit(History& history, const Warp& warp, Mask lanes);
/// A warp exits that has not waited for its product.
void report_unawaited_product(Findings& findings, const Act& product);
/// A phase that `phase` describes waits for bytes of which none is on its way.
void report_wrong_bytes(Findings& findings, const MbarrierUse& use, const std::string& phase);
/// The warps of a block ask for more registers than it was given.
struct RegisterNeed {
  std::uint64_t asked = 0, given = 0;
  std::uint32_t at_launch = 0;  ///< a thread's
};
void report_registers(Findings& findings, const Act& last_change, const RegisterNeed& need);
/// All threads of the block have exited.
void check_end(History& history);

}  // namespace warpgauge::emulator::machine::checks
