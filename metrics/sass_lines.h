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

#include "metrics/confidence.h"
#include "metrics/line_counts.h"
#include "metrics/line_table.h"
#include "metrics/sass_metrics.h"

namespace warpgauge::metrics {

class SassLines {
 public:
  /// `cubin_of` gives the image with a CRC, valid for as long as this object; empty where it is not
  /// known, and the lines of its kernels with it.
  explicit SassLines(std::function<std::span<const std::byte>(std::uint32_t)> cubin_of)
      : cubin_of_(std::move(cubin_of)) {}

  /// The counts by kernel and line; lines that count nothing are left out. Throws Unmeasured for an
  /// instruction that is not recognised as a load, a store or an atomic.
  std::vector<LineCounts> add_up(const SassRecords& records);

 private:
  /// Why the counts of an instruction are not to be trusted, by group of metrics.
  using Doubts = std::map<std::string, Trust, std::less<>>;

  SourceLine line_of(const Instruction& instruction);
  const Doubts& doubts_about(const Instruction& instruction);

  std::function<std::span<const std::byte>(std::uint32_t)> cubin_of_;
  std::map<std::uint32_t, std::optional<SourceLines>> lines_;  // of each cubin, by its CRC
  std::map<std::pair<std::uint32_t, std::string>, std::map<std::uint64_t, Doubts>> doubts_;
};

}  // namespace warpgauge::metrics
