// The findings of a launch: checks report them as numbers, here they get their texts.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/machine/checks/watched_memory.h"
#include "harness/emulator/machine/core/act.h"
#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/core/launch.h"

namespace warpgauge::emulator::machine::checks {

/// Keeps each pair of lines once: of the lowest block, which is the same however many threads ran
/// the blocks. Used by several threads.
class Findings {
 public:
  Findings(const KernelCode& kernel, const Launch& launch, const WatchedMemory& memory)
      : kernel(kernel), launch(launch), memory(memory) {}

  /// `rule`, which is one of metrics::check_rules(), and `other`, the place of the other access if
  /// there is one, say which findings at one place are the same.
  void report(const Act& act, const char* rule, const std::string& other, const std::string& what,
              std::optional<Finding::MissingBarrier> missing_barrier = std::nullopt);
  std::vector<Finding> take();

  const KernelCode& kernel;
  const Launch& launch;
  const WatchedMemory& memory;

 private:
  struct Key {
    std::string rule;
    std::string first, second;  ///< places
    auto operator<=>(const Key&) const = default;
  };
  struct Kept {
    std::uint64_t block;
    Finding finding;
  };

  std::mutex mutex_;
  std::map<Key, Kept> kept_;
};

}  // namespace warpgauge::emulator::machine::checks
