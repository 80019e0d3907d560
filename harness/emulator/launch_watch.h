// The interface by which a process watches its launches and decides about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace warpgauge::metrics {
struct Launch;
struct ReportedCode;
}  // namespace warpgauge::metrics

namespace warpgauge::emulator {

/// The work of a launch.
struct LaunchWork {
  std::span<const std::byte> arguments;
  std::uint64_t global_sectors = 0;
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
  /// After it. `work`: nothing if its counts were not kept.
  virtual void ends(const std::string& kernel, const metrics::Launch& launch,
                    const std::optional<LaunchWork>& work) = 0;
};

}  // namespace warpgauge::emulator
