// The access of each source line that shows most, over any number of launches.
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/emulator/counting/known_lines.h"
#include "harness/emulator/counting/memory_state.h"
#include "metrics/counting/line_access.h"
#include "metrics/counting/line_counts.h"

namespace warpgauge::emulator::machine {
struct LaunchOutcome;
}

namespace warpgauge::emulator::counting {

struct KernelTrust;

class AccessTable {
 public:
  /// The access of the earliest warp stays, of those that show the same.
  void add(const std::string& kernel, const machine::LaunchOutcome& outcome,
           const KernelTrust& trust, const MemoryState& memory = {});

  /// Gives lines the cures of what was added since the last take().
  void add_cures(std::vector<metrics::LineCounts>& lines) const;

  /// All that was added since the last call, ordered by kernel, file and line. A line that accesses
  /// several spaces is there once for each, shared memory first.
  std::vector<metrics::LineAccess> take();

 private:
  using Key = std::tuple<std::string, std::string, int, metrics::WarpAccess::Space>;

  struct Kernel {
    int widest = 0;  // access to shared memory, in bytes
    /// In lines_, by space.
    KnownLines<std::array<metrics::LineAccess*, 4>> lines;
  };

  std::string cure(const metrics::LineAccess& line) const;

  std::map<Key, metrics::LineAccess> lines_;  // by kernel, file, line and space
  std::map<std::string, Kernel> kernels_;
};

}  // namespace warpgauge::emulator::counting
