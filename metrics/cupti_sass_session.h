// One session of CUPTI SASS metrics: while it lives, kernels run patched and are counted.
#pragma once

#include <cuda.h>

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "metrics/cupti_context.h"
#include "metrics/sass_metrics.h"

namespace warpgauge::metrics {

/// An instruction of a kernel. `pc` is the offset into the kernel's code.
struct Instruction {
  std::uint32_t cubin_crc = 0;
  std::string kernel;
  std::uint32_t pc = 0;
  auto operator<=>(const Instruction&) const = default;
};

using SassRecords = std::map<Instruction, SassValues>;

/// A metric and the number that CUPTI gave it on the chip.
struct SassId {
  SassMetric metric;
  std::uint64_t id = 0;
};

/// The number of `metric` on `chip`. Throws Unmeasured.
SassId sass_id(const std::string& chip, SassMetric metric);

/// What is configured on a device; undone by the destructor.
class SassConfig {
 public:
  SassConfig(int device, std::span<const SassId> metrics);  ///< throws Unmeasured
  ~SassConfig();
  SassConfig(const SassConfig&) = delete;
  SassConfig& operator=(const SassConfig&) = delete;

 private:
  std::uint32_t device_;
};

/// Counting on the context, between constructor and stop().
class SassSession {
 public:
  SassSession(const CuptiContext& context, std::span<const SassId> metrics);  ///< throws Unmeasured
  ~SassSession();  ///< waits for the device: patched kernels may still run
  SassSession(const SassSession&) = delete;
  SassSession& operator=(const SassSession&) = delete;

  /// What was counted since the start or the last call. The device must be idle. Throws Unmeasured.
  SassRecords take();
  /// Ends counting; throws Unmeasured if records were dropped, for then take() was not complete.
  void stop();

 private:
  CUcontext context_;
  std::vector<SassId> metrics_;
  SassConfig config_;
  bool counting_ = true;
};

}  // namespace warpgauge::metrics
