// Runs any program, and judges what its kernels did: the common part of
// `warpgauge attach` and `warpgauge emulate`.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/measuring/provenance.h"
#include "harness/outcome/exit_code.h"
#include "harness/programs/judge_kernels.h"
#include "harness/programs/launch_filter.h"
#include "harness/programs/program_case.h"
#include "metrics/facts/fact.h"

namespace warpgauge::programs {

struct ProgramOptions : JudgeOptions {
  std::vector<std::string> command;  ///< program and arguments
  LaunchFilter choice;
  std::chrono::seconds launch_limit = kUsualLaunchLimit;
};

/// The counts of a run of a program.
struct Counted {
  std::vector<CountedKernel> kernels;
  std::vector<metrics::Fact> faults;  ///< faults of kernels
  std::vector<std::string> lost;      ///< a sentence for each thing that could not be counted
  std::vector<std::string> remarks;   ///< a sentence for each thing that decides nothing
  std::string why_no_kernel;          ///< a sentence, for a run without kernels
};

/// A way to count the kernels of a program.
class Source {
 public:
  virtual ~Source() = default;
  virtual const Counter& counter() const = 0;
  /// The options of its command that the common ones do not have, as words of a shell.
  virtual std::vector<std::string> own_options() const { return {}; }
  /// The checks that it makes, by names with commas between; empty: none.
  virtual std::string checks() const { return ""; }
  /// A file that the run reads, which may be in its folder of outputs; empty: none.
  virtual std::filesystem::path reads() const { return {}; }
  /// What to try where the program ended with a code of its own for failure; empty: nothing.
  virtual std::string cure() const { return ""; }
  /// The request that the run records.
  virtual metrics::RunRequest asked() const { return {}; }
  /// Changes to the environment of the program and of all that it starts, which leave their counts
  /// in `folder`. What is to be preloaded is in LD_PRELOAD alone.
  virtual std::map<std::string, std::string> variables(
      const std::filesystem::path& folder) const = 0;
  /// The counts that the processes of the program have left in `folder`.
  virtual Counted counted(const std::string& program,
                          const std::filesystem::path& folder) const = 0;
};

/// Runs the program, judges the counts of its kernels, and writes facts.jsonl, results.json and
/// summary.md. Prints to stderr, because stdout is the program's. A program that fails is a fault,
/// even if its kernels are within budget. Throws on errors before the program runs.
outcome::ExitCode run_program(const ProgramOptions& options, const Source& source);

/// Runs a program with its output in a file, and adds the counts of its kernels to a file of facts,
/// without judging them. Throws std::runtime_error for a program or kernel that fails, or takes
/// longer than the limit, and for what is not counted.
void record_program(const std::vector<std::string>& command, const Source& source,
                    const std::filesystem::path& output, const std::filesystem::path& facts,
                    const Compilation& compilation, std::chrono::seconds time_limit);

}  // namespace warpgauge::programs
