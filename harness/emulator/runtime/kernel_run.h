// A launch of one kernel, from its checks to what it leaves behind.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/launch_watch.h"
#include "harness/emulator/machine/core/device_work.h"
#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/launcher.h"
#include "harness/emulator/runtime/launch_order.h"
#include "harness/emulator/runtime/state.h"
#include "harness/emulator/runtime/work.h"
#include "metrics/counting/order_file.h"
#include "metrics/facts/fact.h"

namespace warpgauge::emulator::runtime {

/// Fails with cudaErrorInvalidConfiguration for a grid or a block that no launch can have.
void check_dimensions(const KernelCall& call);

/// A launch under a watch, if there is one.
class Watched {
 public:
  /// What `launch` refers to must live as long.
  Watched(LaunchWatch* watch, const Function& function, const machine::Launch& launch);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  bool counts() const { return counts_; }
  void kept(const KeptLaunch& kept) { kept_ = kept; }
  const metrics::Launch& launch() const { return launch_; }

 private:
  LaunchWatch* watch_;
  const std::string& kernel_;
  const metrics::Launch launch_;
  bool counts_ = true;
  std::optional<KeptLaunch> kept_;
};

/// A launch of one kernel.
class KernelRun {
 public:
  /// Throws Failure.
  KernelRun(State& state, const KernelCall& call, const LaunchOrder::Place& place);

  Module& module() const { return *function_.module; }
  /// False: it waits for memory. Needs no lock.
  bool run(std::optional<std::chrono::milliseconds> patience);
  /// Keeps its counts or its fault. Returns what the kernel has launched.
  std::vector<machine::DeviceWork> finish();

 private:
  /// Compares what it moved with what others with equal arguments did.
  void compare(State::Results& results);
  void replay_order();
  void keep_findings();
  bool memory_decides_counts();

  State& state_;
  const KernelCall call_;
  Function& function_;
  const LaunchOrder::Place place_;
  std::vector<machine::FunctionHits> hits_;
  std::vector<machine::Finding> findings_, races_;
  std::vector<machine::MemoryUse> uses_;
  std::optional<metrics::OrderFile> file_;  ///< where orders are written or replayed
  std::string why_not_replayed_;            ///< of the launch that ought to be; else empty
  machine::Launch launch_;
  Watched watched_;
  std::unique_ptr<machine::LaunchRun> run_;
  machine::LaunchOutcome outcome_;
  std::exception_ptr problem_;
};

}  // namespace warpgauge::emulator::runtime
