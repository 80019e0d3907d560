// The findings of a launch: checks report them as numbers, here they get their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/machine/checks/watched_memory.h"
#include "harness/emulator/machine/core/act.h"
#include "harness/emulator/machine/core/checks.h"
#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/core/launch.h"
#include "metrics/base/check_rules.h"

namespace warpgauge::emulator::machine::checks {

/// Keeps each pair of lines once a rule: of the lowest block, which is the same however many
/// threads ran the blocks. Used by several threads.
class Findings {
 public:
  Findings(const KernelCode& kernel, const Launch& launch, const WatchedMemory& memory)
      : kernel(kernel), launch(launch), memory(memory) {}

  /// `rule`, which is one of metrics::check_rules(), and `other`, the place of the other access if
  /// there is one, say which findings at one place are the same.
  void report(const Act& act, const char* rule, const std::string& other, const std::string& what,
              std::optional<Finding::MissingBarrier> missing_barrier = std::nullopt);
  /// What these checks have found: the worst rules first, as they stand in the table.
  std::vector<Finding> take(const Checks& wanted);
  std::vector<Finding> races() const;  ///< what the check of races has found so far

  /// An access of `bytes` bytes at `address`, in the allocation that begins at `used`. Kept as
  /// findings are: once for each line and allocation.
  void note_use(const Act& act, const std::string& what, const std::byte* used,
                std::uint64_t address, std::uint64_t bytes);
  std::vector<MemoryUse> take_uses();

  const KernelCode& kernel;
  const Launch& launch;
  const WatchedMemory& memory;

 private:
  struct Key {
    const metrics::CheckRule* rule;  ///< of the table
    std::string first, second;       ///< places
    auto operator<=>(const Key&) const = default;
  };
  template <typename What>
  struct Kept {
    std::uint64_t block;
    What what;
  };
  /// "kernel k, block (0,0,0), thread (1,0,0) (warp 0, lane 1), f.cu:12"
  std::string who(const Act& act, const std::string& place) const;

  mutable std::mutex mutex_;
  std::map<Key, Kept<Finding>> kept_;
  std::map<std::pair<std::string, const std::byte*>, Kept<MemoryUse>> uses_;  ///< by place
};

}  // namespace warpgauge::emulator::machine::checks
