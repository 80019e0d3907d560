// Coverage of device code: hits of lines, branches and functions by source file, and lcov's format.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// The number of times that warps reached a line, and of lanes that were on then.
struct LineHits {
  std::uint64_t warps = 0, lanes = 0;
  bool operator==(const LineHits&) const = default;
};

/// The place of a conditional branch in the source. Its copies (unrolled, inlined, in template
/// instances) share the place. Jumps backward close loops.
struct BranchPlace {
  int line = 0, column = 0;
  bool backward = false;
  auto operator<=>(const BranchPlace&) const = default;
};

/// Warps with lanes that jumped, and warps with lanes that went on. A divergent warp counts in
/// both.
struct BranchHits {
  std::uint64_t taken = 0, not_taken = 0;
  bool operator==(const BranchHits&) const = default;
};

/// The line where the code of a function begins, 0 if not known yet, and the warps that entered.
struct FunctionHits {
  int line = 0;
  std::uint64_t warps = 0;
  void add(const FunctionHits& more);
  bool operator==(const FunctionHits&) const = default;
};

/// The coverage of a file. Code that never ran has zeros.
struct FileCoverage {
  std::map<int, LineHits> lines;
  std::map<BranchPlace, BranchHits> branches;
  std::map<std::string, FunctionHits> functions;  ///< by name
  bool operator==(const FileCoverage&) const = default;
};

/// Names the file that a program under the emulated runtime appends its coverage to.
inline constexpr const char* kCoverageVariable = "WARPGAUGE_EMULATED_COVERAGE";

using Coverage = std::map<std::string, FileCoverage>;  ///< by file

void add(Coverage& sum, const Coverage& more);

class CoverageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A tracefile of lcov. The block of a branch is its column; its numbers are 0 (jumps) and 1 (goes
/// on), for loops 2 and 3. Lanes are left out, because the format has no place for them.
std::string lcov_text(const Coverage& coverage);

/// Reads tracefiles of lcov_text() in one text and adds them up. Throws CoverageError with the
/// line.
Coverage read_lcov(std::string_view text);

/// The lines and branches that ran, and all. A branch counts twice: taken and not taken.
struct CoverageTotals {
  std::uint64_t lines = 0, lines_hit = 0, branches = 0, branches_hit = 0;
};
CoverageTotals totals(const Coverage& coverage);

/// "coverage: 91.2 % of 1,234 lines, 80.1 % of 456 branches"
std::string headline(const CoverageTotals& totals);

}  // namespace warpgauge::metrics
