// Adds up CUPTI's counts of instructions by kernel and source line. Needs neither CUPTI nor a GPU:
// only the records and their cubins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metrics/counting/line_counts.h"
#include "metrics/cupti/sass_metrics.h"
#include "metrics/facts/confidence.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge::metrics {

class SassLines {
 public:
  /// `cubin_of` returns the image with a CRC, valid as long as this object; empty where it is not
  /// known. The kernels of an unknown cubin have no lines.
  explicit SassLines(std::function<std::span<const std::byte>(std::uint32_t)> cubin_of)
      : cubin_of_(std::move(cubin_of)) {}

  /// The counts by kernel and line. Counts of a function with an owner go to the owner's lines.
  /// Lines that count nothing are left out. Throws Unmeasured for an instruction that is not
  /// recognised as a load, a store or an atomic.
  std::vector<LineCounts> add_up(const SassRecords& records);

 private:
  using Code = std::pair<std::uint32_t, std::string>;  ///< CRC of the cubin, and kernel
  /// Why the counts of an instruction are not to be trusted, by group of metrics.
  using Doubts = std::map<std::string, Trust, std::less<>>;
  struct KernelDoubts {
    std::map<std::uint64_t, Doubts> of_counts;     ///< by offset: holds if the instruction executed
    std::map<std::uint64_t, Doubts> of_execution;  ///< by offset: holds even if it did not execute
  };

  SourceLine line_of(const Code& code, std::uint64_t pc);
  const PtxLines* ptx_lines_of(std::uint32_t cubin_crc, const Cubin& cubin);
  KernelDoubts find_doubts(const Code& code);
  const KernelDoubts& doubts_about(const Code& code);

  std::function<std::span<const std::byte>(std::uint32_t)> cubin_of_;
  std::map<std::uint32_t, std::optional<SourceLines>> lines_;  // lines of each cubin, by its CRC
  std::map<std::uint32_t, std::optional<PtxLines>> ptx_lines_;
  std::map<Code, KernelDoubts> doubts_;
};

}  // namespace warpgauge::metrics
