// The kernels of a program as cases with facts, whatever has counted them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/budgets/budget.h"
#include "metrics/counting/line_counts.h"
#include "metrics/facts/fact.h"
#include "metrics/machine_code/kernel_values.h"

namespace warpgauge::programs {

/// A way to count the kernels of programs, or to look at their code.
struct Counter {
  std::string_view command;  ///< "attach"
  metrics::CaseKind kind;
  std::string_view source;        ///< the source of counts in facts; empty: it counts nothing
  std::string_view compile;       ///< the source of compile-time values in facts
  std::string_view size = "run";  ///< the last part of the ids of its cases
};

/// A kernel on a model of GPU, with all launches that all processes made of it.
struct CountedKernel {
  std::string name;  ///< mangled
  metrics::Device device;
  std::string arch;                      ///< the architecture of the code that ran
  std::string sass_hash;                 ///< the hash of that code; empty: not known
  std::uint64_t launches = 0;            ///< all of them
  std::vector<metrics::Launch> counted;  ///< the launches that were to be counted, by shape
  std::uint64_t counted_warps = 0;       ///< the warps whose counts came back; 0: not known
  metrics::KernelValues compiled;
  std::vector<metrics::LineCounts> lines;
  std::string why_no_lines;      ///< a sentence, where they cannot be had
  std::string source_hash = {};  ///< empty: not known
};

/// The same, with its facts.
struct ProgramCase {
  metrics::CaseId id;  ///< program.kernel.hash of its whole name@run
  std::string kernel;  ///< demangled
  metrics::Device device;
  metrics::Budgets budgets;  ///< the budgets of its kernel
  std::uint64_t launches = 0;
  std::uint64_t counted = 0;         ///< the launches that were to be counted
  std::uint64_t warps = 0;           ///< the warps of those launches
  std::uint64_t counted_warps = 0;   ///< the warps whose counts came back; 0: not known
  std::vector<metrics::Fact> facts;  ///< facts of the case and of its lines, not judged
  /// The fewest and most sectors of launches with equal arguments; nothing: none differ.
  std::optional<std::array<std::uint64_t, 2>> unequal_sectors = std::nullopt;

  /// Its names in sections of a budget file: with and without template arguments, parameters, etc.,
  /// and those of its id.
  std::vector<std::string> names() const;
};

/// True if the expression finds something in the name of a kernel, which templates may begin with
/// "void ". Searches its first 4,096 characters.
bool is_called(const std::string& kernel, const std::regex& expression);

/// The first part of the ids of a program's cases.
std::string family_of(const std::string& program);
/// The second one; `kernel` is a mangled name.
std::string variant_of(const std::string& kernel);

/// The fact that says that the program itself failed, and how.
metrics::Fact program_failure(const Counter& counter, const std::string& program, std::string how);

/// The case of a kernel of `program`. One of which nothing was counted has facts without a value,
/// with the reason, for all that `budgets` ask for.
ProgramCase case_of(const Counter& counter, const std::string& program, const CountedKernel& kernel,
                    const metrics::Budgets& budgets);

/// The cases of a run of `program`, those with most launches first.
std::vector<ProgramCase> cases_of(const Counter& counter, const std::string& program,
                                  const std::vector<CountedKernel>& kernels,
                                  const metrics::Budgets& budgets);

}  // namespace warpgauge::programs
