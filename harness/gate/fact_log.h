// The facts of a gate, as its processes write and read them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/cases/family_budgets.h"
#include "harness/cases/registry.h"
#include "metrics/facts/fact.h"

namespace warpgauge::gate {

/// The facts of one run, in a file that its processes append to.
class FactLog {
 public:
  /// Begins a run of `cases`. Keeps the budgets. Throws FactError.
  FactLog(std::filesystem::path file, metrics::Run run, const FamilyBudgets& budgets,
          const Cases& cases);

  /// Judges the facts and appends them. Throws FactError.
  void write(std::vector<metrics::Fact> facts);
  /// Adds a device to the run, if it is not known yet. Throws FactError.
  void add_device(const metrics::Device& device) { writer_.add_device(device); }
  /// Reads what all processes have written so far. Throws FactError.
  const std::vector<metrics::Fact>& so_far();
  /// Returns the cases that `is_wanted` takes by the verdicts on their results so far: none for a
  /// case that has not run.
  Cases by_result(const Cases& cases,
                  const std::function<bool(const std::set<metrics::Verdict>&)>& is_wanted);

  /// Prepares a process that was forked from the one that made this log. It writes the same run,
  /// and reads only cases that budgets are multiples of: it judges by them.
  void begin_fork();
  /// Takes away a torn line that a process left when it died.
  void mend() { writer_.reopen(); }

  /// Takes all that was written; the log reads no more. Throws FactError.
  std::vector<metrics::StoredRun> take();
  /// Ends the run in the file. Throws FactError.
  void write_end(const metrics::RunEnd& end) { writer_.write_end(end); }

 private:
  const std::filesystem::path file_;
  const FamilyBudgets& budgets_;
  const std::chrono::year_month_day today_;
  std::set<std::string> references_;  ///< ids of cases that budgets are multiples of
  metrics::FactWriter writer_;        ///< is shared by this process and its forks
  std::unique_ptr<metrics::FactReader> reader_;
  /// In a fork: the reader of the parent, which would read on where the fork has read to. It is
  /// kept, as the fork would have to copy all of it to free it.
  std::unique_ptr<metrics::FactReader> reader_of_parent_;
};

}  // namespace warpgauge::gate
