// How the memory instructions of a kernel count.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "metrics/counting/counting_rules.h"

namespace warpgauge::emulator::machine {

/// How a memory instruction of the PTX text counts, according to its SASS counterpart.
struct AccessPlan {
  enum class Role : std::uint8_t {
    as_written,   ///< counts by its own kind and width
    leader,       ///< counts as an access of `width` bytes a lane at its own address rounded down
    absorbed,     ///< belongs to a leader: counts nothing
    one_for_all,  ///< a shared atomic done once for all lanes that share its address: by one of
                  ///< them, or (adding 1, result not used) by ATOMS.POPC.INC; a bulk copy done
                  ///< once for all lanes of a warp
    compare_and_swap,  ///< a shared atomic that SASS does by a loop of CAS
  };
  Role role = Role::as_written;
  int width = 0;                                     ///< bytes a lane, for leader
  metrics::CopyMask mask = metrics::CopyMask::none;  ///< of cp.async
};

/// By line of the PTX text; lines that are not there count as written.
struct AccessPlans {
  struct Entry {
    int text_line;
    AccessPlan plan;
  };
  std::vector<Entry> entries;  ///< ascending
  std::set<int> watched;       ///< lines of branches; the outcome tells whether lanes took them
};

}  // namespace warpgauge::emulator::machine
