// The registry: every family, variant and case of a program, collected before main.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/selection.h"
#include "harness/cases/size_range.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

/// One variant at one size: the unit that is run, measured and judged.
struct Case {
  metrics::CaseId id;
  std::string file;  ///< the file of the registration
  int line = 0;
  std::function<std::unique_ptr<Problem>(const Size&)> make_problem;
  std::function<void(Problem&)> launch;
  Size size = {};                             ///< that of its problem
  std::optional<SizeRange> other_sizes = {};  ///< sizes that its problem may have; none: its own
  bool large = false;                         ///< run only with --large
  bool counted = true;                        ///< false: not the work of kernels of this program
  std::string gpu_only = {};                  ///< why it needs a GPU; empty: it does not
  std::string needs = {};      ///< the architecture that it needs, "sm_90"; empty: none
  std::string yardstick = {};  ///< variant with which its time is compared; empty: none
  metrics::CaseKind kind = metrics::CaseKind::catalogue;

  std::unique_ptr<Problem> problem() const { return make_problem(size); }
  /// The same variant at another size.
  Case at(const Size& other) const;
};

/// All cases, sorted by family in order of registration. Names are checked as they register.
using Cases = std::vector<const Case*>;

class Registry {
 public:
  /// The registry of this program. Families announced before main are registered by the first
  /// call from main on, so that their errors can be reported.
  static Registry& instance();

  void add(Case new_case);  ///< throws std::invalid_argument for a bad or taken name
  const std::vector<Case>& cases() const { return cases_; }
  /// The case called `id`. Throws std::invalid_argument, with the nearest, if there is none.
  const Case& at(std::string_view id) const;
  /// The selected cases. Throws std::invalid_argument, saying why, if there is none, or if a glob
  /// matches no case at all.
  Cases select(const Selection& selection) const;
  /// How many more cases there would be without --exclude.
  std::size_t count_excluded(const Selection& selection) const;
  /// The same as a sentence for the outcome of a run; nothing where there are none.
  std::vector<std::string> left_out(const Selection& selection) const;
  /// The case that `test_case` is timed against, or nullptr: it has none, or this program lacks it.
  const Case* yardstick_of(const Case& test_case) const;

 private:
  std::vector<Case> cases_;
};

}  // namespace warpgauge
