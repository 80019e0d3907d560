// The access of each source line that shows most, over any number of launches.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "metrics/line_access.h"

namespace warpgauge::emulator::machine {
struct LaunchOutcome;
}

namespace warpgauge::emulator::counting {

struct KernelTrust;

class AccessTable {
 public:
  /// Of accesses that show the same that of the earliest warp stays.
  void add(const std::string& kernel, const machine::LaunchOutcome& outcome,
           const KernelTrust& trust);

  /// All that was added since the last call, ordered by kernel, file and line. A line that accesses
  /// shared and global memory is there twice, shared first.
  std::vector<metrics::LineAccess> take();

 private:
  using Key = std::tuple<std::string, std::string, int, bool>;  // kernel, file, line, not shared
  std::map<Key, metrics::LineAccess> lines_;
};

}  // namespace warpgauge::emulator::counting
