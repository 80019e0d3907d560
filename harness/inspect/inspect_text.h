// Texts on inspected kernels: their table, and how to repeat a verdict.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/inspect/inspect.h"
#include "harness/programs/program_case.h"

namespace warpgauge::inspect {

/// The kernels with most spills, then those with most accesses to local memory, then with most
/// registers: a row for each kernel and architecture.
class ResourcesTable {
 public:
  void add(const programs::ProgramCase& program_case);
  std::string text() const;

 private:
  using Key = std::tuple<double, double, double, std::size_t>;  ///< the last by the order of add()

  std::map<Key, std::string> rows_;  ///< the rows that are shown
  std::size_t kernels_ = 0;
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

/// The command that gives the verdict on this kernel again.
std::string repeat_inspect(const InspectOptions& options, const metrics::Fact& fact);

}  // namespace warpgauge::inspect
