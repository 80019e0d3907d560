// The counts of an attached program's processes as facts: a case is a kernel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "harness/attach/attached_process.h"
#include "metrics/budget.h"
#include "metrics/fact.h"

namespace warpgauge::attach {

/// A kernel on a model of GPU, with all launches that all processes made of it.
struct AttachedCase {
  metrics::CaseId id;  ///< program.kernel.hash of its whole name@run
  std::string kernel;  ///< demangled
  metrics::Device device;
  metrics::Budgets budgets;  ///< those of its kernel
  std::uint64_t launches = 0;
  std::uint64_t counted = 0;         ///< those of them that were to be counted
  std::uint64_t warps = 0;           ///< of those
  std::uint64_t counted_warps = 0;   ///< of which counts came back: as many, or some are missing
  std::vector<metrics::Fact> facts;  ///< of the case and of its lines, not judged

  /// Its names in sections of a budget file: with and without template arguments, parameters, etc.
  std::vector<std::string> names() const;
  /// True if the expression finds something in its name, which templates may begin with "void ".
  bool is_called(const std::regex& expression) const;
};

/// The fact that says that the program itself failed, and how.
metrics::Fact program_failure(const std::string& program, std::string how);

/// The cases of a run of `program`, those with most launches first. `folder` has the cubins. A
/// kernel of which nothing was counted has facts without a value, with the reason, for all that
/// `budgets` ask for.
std::vector<AttachedCase> attached_cases(const std::string& program,
                                         const std::vector<AttachedProcess>& processes,
                                         const std::filesystem::path& folder,
                                         const metrics::Budgets& budgets);

}  // namespace warpgauge::attach
