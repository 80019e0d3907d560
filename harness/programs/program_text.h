// Texts on a program's kernels: their table, what was not counted, and how to repeat it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/programs/program_case.h"
#include "harness/programs/run_program.h"

namespace warpgauge::programs {

/// A row for each kernel, those with most launches first.
std::string kernels_table(const std::vector<ProgramCase>& cases);
/// A line for each kernel of which launches with equal arguments did unequal work.
std::string unequal_text(const std::vector<ProgramCase>& cases);

/// The sections of the budget file that fit no kernel.
class UnusedSections {
 public:
  UnusedSections(const JudgeOptions& options, const metrics::Budgets& budgets);

  /// Takes away those that fit this kernel.
  void use(const ProgramCase& program_case);
  /// A sentence on each that is left.
  std::vector<std::string> text() const;

 private:
  std::string file_;
  std::set<std::string> left_;
};

/// Launches without counts, a sentence each. `is_partial`: only some were to be counted.
std::vector<std::string> not_counted(const std::vector<ProgramCase>& cases, bool is_partial);

/// Why no kernel is left: of `launched` kernels, `kept` are left by --skip; `why_no_kernel` says
/// why none was launched.
std::string why_nothing(const ProgramOptions& options, std::size_t launched, std::size_t kept,
                        const std::string& why_no_kernel);

/// "skipped: 12 launches of 1 kernel (--skip 'nccl*')".
std::string skipped_text(const std::string& glob, std::size_t launches, std::size_t kernels);

/// "not counted: 12 launches of 1 kernel (--limit-launches 10)".
std::string late_text(std::uint64_t limit, std::size_t launches, std::size_t kernels);

/// Cut where it would fill the screen: names of templates can have thousands of characters.
std::string shortened(const std::string& name);

/// The value of the whole case, "12"; "-" where it is not known.
std::string value_of(const ProgramCase& program_case, std::string_view metric);

/// The options that select the kernel of a fact and judge it: " --kernels add --budgets b.toml".
std::string judge_options(const JudgeOptions& options, const metrics::Fact& fact);

/// The command that gives the verdict on this kernel again.
std::string repeat_program(const Source& source, const ProgramOptions& options,
                           const metrics::Fact& fact);

}  // namespace warpgauge::programs
