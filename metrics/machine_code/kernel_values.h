// The compile-time values of a kernel, read from its machine code: the one reader of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/architecture/occupancy.h"
#include "metrics/base/source_line.h"
#include "metrics/facts/confidence.h"
#include "metrics/facts/metric_map.h"
#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/kernel_resources.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge::metrics {

/// The part of a compile-time value of a kernel that one line of its source has.
struct CompiledLine {
  std::string_view metric;
  SourceLine source;
  double value = 0;
};

/// The compile-time values of a kernel, by metric.
struct KernelValues {
  MetricMap<double> values = {};
  MetricMap<Trust> doubts = {};  ///< why values are not exact
  /// Why values cannot be known, a sentence each, which many share.
  MetricMap<std::shared_ptr<const std::string>> unknown = {};
  std::vector<CompiledLine> lines = {};
  MetricMap<std::string> cures = {};  ///< where they are not those of the metrics
};

/// Makes metrics unknown, for one reason.
void make_unknown(KernelValues& kernel, std::span<const std::string_view> metrics,
                  std::string reason);

/// Adds what another code of the same kernel has: of each metric the worse value counts.
void add_other_code(KernelValues& kernel, const KernelValues& other);

/// The occupancy of blocks of this kernel; `block` has what a launch decides. Nothing where the
/// registers are not known, or the limits of the architecture.
std::optional<Occupancy> occupancy_of(const KernelValues& kernel, std::string_view arch,
                                      BlockNeeds block);

/// Reads the kernels of a cubin, whose image must outlive it.
class KernelReader {
 public:
  explicit KernelReader(
      std::span<const std::byte> image);  ///< throws CubinError for no or a damaged cubin

  const Cubin& cubin() const { return cubin_; }
  std::vector<std::string> kernels() const;  ///< mangled names; no device functions
  /// Nothing where the cubin does not say it.
  KernelResources resources(const std::string& kernel) const;
  /// Registers, stack, memory, barriers, bytes of code, accesses to local memory: all but what a
  /// launch decides, and the instruction mix.
  KernelValues read(const std::string& kernel) const;
  void add_mix(const std::string& kernel, KernelValues& values) const;
  /// The line of the first instruction that touches local memory and has one; nothing if none does.
  std::optional<SourceLine> first_local_access(const std::string& kernel) const;

 private:
  void add_resources(const std::string& kernel, KernelValues& values) const;
  void add_local(const std::string& kernel, KernelValues& values) const;
  void leave_to_linker(const std::string& kernel, KernelValues& values) const;
  std::optional<SourceLine> line_of(const std::string& function, std::uint64_t pc) const;

  Cubin cubin_;
  std::map<std::string, KernelResources> resources_;
  CallGraph calls_;
  mutable std::optional<SourceLines> lines_;  ///< where they have been asked for, and are there
  mutable bool has_read_lines_ = false;
};

}  // namespace warpgauge::metrics
