// Texts on inspected kernels: their table, and how to repeat a verdict.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/inspect/inspect.h"
#include "harness/programs/program_case.h"

namespace warpgauge::inspect {

/// The kernels with most spills, then those with most accesses to local memory, then with most
/// registers: a row for each, with its values over all files and architectures.
class ResourcesTable {
 public:
  void add(const programs::ProgramCase& program_case);
  std::string text() const;

 private:
  /// The smallest and the largest value; none: not known.
  struct Range {
    std::optional<std::pair<double, double>> ends;

    void add(std::optional<double> value);
    double most() const { return ends ? ends->second : 0; }
    std::string text() const;
  };
  static constexpr std::size_t kColumns = 8;
  struct Row {
    std::set<std::string> files, archs;
    std::array<Range, kColumns> values;
    std::size_t place = 0;  ///< by the order of add()
  };

  std::map<std::string, Row> rows_;  ///< by the demangled names of kernels
  std::size_t codes_ = 0;
};

/// Files that were found and not judged, by the reason for it.
class SkippedFiles {
 public:
  /// `reason` stands behind "3 files skipped".
  void add(const std::string& reason, const std::string& file);
  /// A sentence for each reason, with the number of files and the first of them.
  std::vector<std::string> sentences() const;

 private:
  struct Files {
    std::size_t number = 0;
    std::vector<std::string> first;
  };
  std::map<std::string, Files> by_reason_;
};

/// Kernels that are compiled for architectures before those whose machine code is known.
class OlderCode {
 public:
  void add(const std::string& arch, std::size_t kernels);
  /// "12 kernels for sm_60, sm_70 are not judged: ..."; empty without them.
  std::string text(const std::string& first_known) const;

 private:
  std::size_t kernels_ = 0;
  std::set<std::string> archs_;
};

/// The command that gives the verdict on this kernel again.
std::string repeat_inspect(const InspectOptions& options, const metrics::Fact& fact);

}  // namespace warpgauge::inspect
