// The outcome of a run: verdicts counted by family, what failed, what was not measured.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/outcome/exit_code.h"
#include "metrics/fact.h"

namespace warpgauge {

/// Verdicts of the facts of some cases.
struct Tally {
  std::set<std::string> cases;  ///< ids
  std::map<metrics::Verdict, int> verdicts;
  int checks() const;  ///< facts that were held against a budget, or should have been
  int judged() const;  ///< those of them that were measured and compared with their budget
};

/// What must have been measured for a run to be a success.
struct Requirements {
  bool strict = false;  ///< better than budget is not good enough: tighten the budget
  bool ptxas = false;   ///< every compile-time fact must be there
  bool cupti = false;   ///< every run-time fact must be there
  bool device = false;  ///< every kernel must have been run
};

class Summary {
 public:
  /// Counts the facts of whole cases. `lost`: what else should have been measured and was not, a
  /// sentence each.
  explicit Summary(const std::vector<metrics::StoredFact>& facts,
                   std::vector<std::string> lost = {});

  const std::map<std::string, Tally>& families() const { return families_; }
  Tally total() const;
  /// Facts with one of these verdicts, those of one case together.
  std::vector<const metrics::Fact*> with(std::initializer_list<metrics::Verdict> verdicts) const;
  /// Why facts were not judged: "unmeasured: ..." or, of those that have a value, "only estimated:
  /// ..." -> how many.
  std::map<std::string, int> unmeasured_reasons() const;
  /// Facts that would fail if they were sure enough to be judged.
  std::vector<const metrics::Fact*> unsure_failures() const;
  const std::vector<std::string>& lost() const { return lost_; }
  /// Unmeasured facts that `requirements` name.
  std::vector<const metrics::Fact*> missing(const Requirements& requirements) const;
  /// Faults before excesses before what is missing. That nothing at all was judged is a fault too:
  /// a gate that has compared nothing has nothing to say.
  ExitCode exit_code(const Requirements& requirements) const;

 private:
  std::vector<metrics::Fact> facts_;
  std::vector<std::string> lost_;
  std::map<std::string, Tally> families_;
};

}  // namespace warpgauge
