// The interface by which a process watches its launches and decides about them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpgauge::metrics {
struct Launch;
struct ReportedCode;
}  // namespace warpgauge::metrics

namespace warpgauge::emulator {

/// A launch whose counts were kept.
struct KeptLaunch {
  /// The fewest and the most sectors of global memory that it and those with equal arguments moved;
  /// nothing: all as many.
  std::optional<std::array<std::uint64_t, 2>> unequal_sectors;
};

/// Calls come one at a time, and must not call the emulator.
class LaunchWatch {
 public:
  virtual ~LaunchWatch() = default;
  /// Before the first launch of this process, and of each process that is forked from it.
  virtual void process_launches() = 0;
  /// Before a kernel (a mangled name) runs. False: its counts are not to be kept.
  virtual bool begins(const std::string& kernel, const metrics::Launch& launch,
                      const metrics::ReportedCode& code) = 0;
  /// While it runs: how far long work is.
  virtual void progresses(std::string_view text) = 0;
  /// After it. `kept`: nothing if its counts were not.
  virtual void ends(const std::string& kernel, const metrics::Launch& launch,
                    const std::optional<KeptLaunch>& kept) = 0;
};

}  // namespace warpgauge::emulator
