// The facts of a gate, as its processes write and read them.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/cases/family_budgets.h"
#include "harness/cases/registry.h"
#include "metrics/facts/fact.h"

namespace warpgauge::gate {

/// Of one run, in a file that its processes append to.
class RunFacts {
 public:
  /// Of a run of `cases` that begins. Keeps the budgets. Throws FactError.
  RunFacts(std::filesystem::path file, metrics::Run run, const FamilyBudgets& budgets,
           const Cases& cases);

  /// Appends them, judged. Throws FactError.
  void write(std::vector<metrics::Fact> facts);
  /// What all processes have written so far. Throws FactError.
  const std::vector<metrics::Fact>& so_far();
  /// In a process that was forked from the one that made this. It writes the same run, and reads
  /// only of cases that budgets are multiples of: by them it judges.
  void begin_fork();
  /// The run with all that was written, for good. Throws FactError.
  std::vector<metrics::StoredRun> take();

  metrics::FactWriter& writer() { return writer_; }

 private:
  const std::filesystem::path file_;
  const FamilyBudgets& budgets_;
  const std::chrono::year_month_day today_;
  std::set<std::string> references_;  ///< ids of cases that budgets are multiples of
  metrics::FactWriter writer_;        ///< of this process and its forks
  /// A fork has its own, as both would read on where the other has read to, and keeps what it got:
  /// it would have to copy all of it to free it.
  std::unique_ptr<metrics::FactReader> reader_, reader_of_parent_;
};

}  // namespace warpgauge::gate
