// The headline of an outcome: "PASS: 22498 values within budget, 78 unmeasured".
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "harness/files/printable.h"
#include "harness/outcome/outcome.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;
using metrics::Verdict;

std::string plural(int n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

/// The values that had to be measured and were not: the first of them, and how many there are.
std::string missing_text(const Outcome& outcome) {
  const auto is_missing = [&](const JudgedValue& value) {
    return value.fact->verdict == Verdict::unmeasured &&
           outcome.options().requirements.is_wrong(*value.fact);
  };
  const Fact& first = *std::ranges::find_if(outcome.values(), is_missing)->fact;
  const std::string text = files::printable(
      fmt::format("{} of {}{}, {}", first.metric, first.id.str(),
                  first.arch.empty() ? "" : " on " + first.arch, why_not_judged(first)));
  const int others = outcome.required_missing() - 1;
  return others == 0 ? text : fmt::format("{}; and {} more", text, plural(others, "value"));
}

}  // namespace

std::string Outcome::headline() const {
  const int failed = total_.count(Verdict::fail), better = total_.count(Verdict::better);
  const int moved = total_.count(Verdict::moved), missing = total_.count(Verdict::unmeasured);
  if (exit_code() != exit_code_of_values()) {
    return fmt::format("{}: a run ended with exit code {}; see its output",
                       exit_code() == kFault        ? "ERROR"
                       : exit_code() == kOverBudget ? "FAIL"
                                                    : "NOT MEASURED",
                       static_cast<int>(exit_code()));
  }
  switch (exit_code()) {
    case kFault: {
      std::set<std::string> cases;
      for (const JudgedValue& value : values_) {
        if (value.fact->verdict == Verdict::error) cases.insert(value.fact->id.str());
      }
      const std::string over =
          failed == 0 ? "" : fmt::format(", {} over budget", plural(failed, "value"));
      if (!cases.empty()) {
        return fmt::format("ERROR: {} could not be judged{}",
                           plural(static_cast<int>(cases.size()), "case"), over);
      }
      return cut_off_ ? "ERROR: a run was cut off" : "ERROR: nothing was judged";
    }
    case kOverBudget:
      return failed > 0
                 ? fmt::format("FAIL: {} over budget", plural(failed, "value"))
                 : fmt::format("FAIL: {} better than budget (--strict)", plural(better, "value"));
    case kNotMeasured:
      if (lost().size() == 1) return "NOT MEASURED: " + files::printable(lost()[0]);
      if (!lost().empty()) {
        return fmt::format("NOT MEASURED: {} items, see above", lost().size());
      }
      return "NOT MEASURED: " + missing_text(*this);
    case kWithinBudget:
      break;
  }
  return fmt::format("PASS: {} within budget", plural(total_.judged() - moved, "value")) +
         (moved == 0 ? "" : fmt::format(", {} moved", moved)) +
         (missing == 0 ? "" : fmt::format(", {} unmeasured", missing));
}

}  // namespace warpgauge::outcome
