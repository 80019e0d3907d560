// The outcome of a run: order, groups, counts, headline and exit code, worked out once for the
// terminal and for every output.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/outcome/exit_code.h"
#include "harness/outcome/finding.h"
#include "harness/outcome/requirements.h"
#include "metrics/facts/fact.h"

namespace warpgauge::outcome {

/// Verdicts of the values of some cases.
struct Tally {
  std::set<std::string> cases;  ///< ids
  std::map<metrics::Verdict, int> verdicts;
  int waived_findings = 0;  ///< those of `waived` that a check has found: no values
  int count(metrics::Verdict verdict) const;
  int checks() const;  ///< values that were held against a budget, or should have been
  int judged() const;  ///< the values that were measured and compared with their budget
};

/// Why a value was not judged: "unmeasured: ..." or, of one that is there, "only estimated: ...".
std::string why_not_judged(const metrics::Fact& fact);

/// Values that were not judged, by the reason for it.
struct Unmeasured {
  std::string reason;  ///< why_not_judged()
  int count = 0;
  int required = 0;  ///< how many of them make the run red
};

/// How an outcome is worked out.
struct OutcomeOptions {
  Requirements requirements;
  std::vector<std::string>
      lost;  ///< a sentence for each other thing that should have been measured
  std::vector<std::string> left_out;  ///< a sentence for each thing that was left out on purpose
  std::vector<std::string> remarks;   ///< a sentence for each thing that decides nothing
  /// The command that gives a verdict again; empty: repeat_command().
  std::function<std::string(const JudgedValue&)> repeat;
  bool kernels = false;  ///< findings name their kernels, of which ids have but a part
  bool whole = true;     ///< runs must have an end; a run that is still going on has none
  /// The number of values beside the facts, which no budget judges, by family.
  std::map<std::string, int> unbudgeted;
};

class Outcome {
 public:
  /// Where a metric of a case has several values, as from several runs, the worst counts.
  Outcome(std::vector<metrics::StoredRun> runs, OutcomeOptions options);
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;

  const std::vector<metrics::StoredRun>& runs() const { return runs_; }
  const OutcomeOptions& options() const { return options_; }
  /// The values of whole cases, those of one case and architecture together.
  const std::vector<JudgedValue>& values() const { return values_; }
  const std::vector<Finding>& findings() const { return findings_; }
  const std::map<std::string, Tally>& families() const { return families_; }
  const Tally& total() const { return total_; }
  /// The most frequent reason first.
  const std::vector<Unmeasured>& unmeasured() const { return unmeasured_; }
  /// Other missing values, and runs that were cut off, a sentence each.
  const std::vector<std::string>& lost() const { return options_.lost; }
  int required_missing() const;
  std::string repeat(const JudgedValue& value) const;

  /// Faults before excesses before what is missing. That nothing at all was judged is a fault, too,
  /// unless the requirements say otherwise, and so is a run that was cut off. Never better than the
  /// exit codes that the runs ended with.
  ExitCode exit_code() const;
  /// A line such as "FAIL: 1 value over budget".
  std::string headline() const;

 private:
  ExitCode exit_code_of_values() const;
  /// Whether there is nothing to judge but values that built-in limits would judge if they were
  /// sure.
  bool is_unsure() const;

  std::vector<metrics::StoredRun> runs_;
  OutcomeOptions options_;
  bool cut_off_ = false;
  std::vector<JudgedValue> values_;
  std::vector<Finding> findings_;
  std::map<std::string, Tally> families_;
  Tally total_;
  std::vector<Unmeasured> unmeasured_;
};

}  // namespace warpgauge::outcome
