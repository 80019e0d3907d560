// Adds the instructions that CUPTI counted up by kernel and source line. Needs neither CUPTI nor a
// GPU: only the records, and the cubins that they are of.
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
  /// `cubin_of` gives the image with a CRC, valid for as long as this object; empty where it is not
  /// known, and the lines of its kernels with it.
  explicit SassLines(std::function<std::span<const std::byte>(std::uint32_t)> cubin_of)
      : cubin_of_(std::move(cubin_of)) {}

  /// The counts by kernel and line, those of functions with an owner as lines of that; lines that
  /// count nothing are left out. Throws Unmeasured for an
  /// instruction that is not recognised as a load, a store or an atomic.
  std::vector<LineCounts> add_up(const SassRecords& records);

 private:
  using Code = std::pair<std::uint32_t, std::string>;  ///< CRC of the cubin, and kernel
  /// Why the counts of an instruction are not to be trusted, by group of metrics.
  using Doubts = std::map<std::string, Trust, std::less<>>;
  struct KernelDoubts {
    std::map<std::uint64_t, Doubts> of_counts;     ///< by offset; if the instruction executed
    std::map<std::uint64_t, Doubts> of_execution;  ///< it may also execute another time
  };

  SourceLine line_of(const Code& code, std::uint64_t pc);
  const PtxLines* ptx_lines_of(std::uint32_t cubin_crc, const Cubin& cubin);
  KernelDoubts find_doubts(const Code& code);
  const KernelDoubts& doubts_about(const Code& code);

  std::function<std::span<const std::byte>(std::uint32_t)> cubin_of_;
  std::map<std::uint32_t, std::optional<SourceLines>> lines_;  // of each cubin, by its CRC
  std::map<std::uint32_t, std::optional<PtxLines>> ptx_lines_;
  std::map<Code, KernelDoubts> doubts_;
};

}  // namespace warpgauge::metrics
