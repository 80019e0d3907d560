// The headline of an outcome: "PASS: 22498 values within budget, 78 unmeasured".
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "harness/files/printable.h"
#include "harness/outcome/finding_text.h"
#include "harness/outcome/outcome.h"
#include "metrics/base/check_rules.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;
using metrics::Verdict;

std::string plural(int n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

/// The findings of checks, and the cases in which something else went wrong: "2 races found, 1 case
/// could not be judged".
std::string errors_text(const Outcome& outcome) {
  std::map<std::string_view, int> found;  // by mistake
  for (const Finding& finding : outcome.findings()) {
    const metrics::CheckRule* rule = metrics::find_check_rule(finding.shown().fact->rule);
    if (rule != nullptr) ++found[rule->mistakes];
  }
  std::string text;
  for (const metrics::CheckRule& rule : metrics::check_rules()) {
    const int n = std::exchange(found[rule.mistakes], 0);
    if (n == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", n, n == 1 ? rule.mistake : rule.mistakes);
  }
  if (!text.empty()) text += " found";
  std::set<std::string> cases;
  for (const JudgedValue& value : outcome.values()) {
    if (value.fact->verdict != Verdict::error) continue;
    if (metrics::find_check_rule(value.fact->rule) != nullptr) continue;
    cases.insert(value.fact->id.str());
  }
  if (!cases.empty()) {
    text += fmt::format("{}{} could not be judged", text.empty() ? "" : ", ",
                        plural(static_cast<int>(cases.size()), "case"));
  }
  return text;
}

/// A value that is not judged, and why.
std::string unmeasured_text(const Fact& fact) {
  return files::printable(fmt::format("{} of {}{}, {}", fact.metric, fact.id.str(), on_arch(fact),
                                      why_not_judged(fact)));
}

/// The values that had to be measured and were not: the first of them, and how many there are.
std::string missing_text(const Outcome& outcome) {
  const auto is_missing = [&](const JudgedValue& value) {
    return value.fact->verdict == Verdict::unmeasured &&
           outcome.options().requirements.is_wrong(*value.fact);
  };
  const std::string text =
      unmeasured_text(*std::ranges::find_if(outcome.values(), is_missing)->fact);
  const int others = outcome.required_missing() - 1;
  return others == 0 ? text : fmt::format("{}; and {} more", text, plural(others, "value"));
}

/// Why nothing was judged, and what to do.
std::string nothing_text(const Outcome& outcome) {
  const auto find = [&](Verdict verdict) {
    return std::ranges::find_if(
        outcome.values(), [&](const JudgedValue& value) { return value.fact->verdict == verdict; });
  };
  if (const auto missing = find(Verdict::unmeasured); missing != outcome.values().end()) {
    return "ERROR: nothing was judged: " + unmeasured_text(*missing->fact);
  }
  if (outcome.total().checks() == 0 && outcome.total().count(Verdict::unbudgeted) == 0) {
    return "ERROR: nothing was judged: there are no values";
  }
  const bool of_tests = std::ranges::any_of(outcome.values(), [](const JudgedValue& value) {
    return value.fact->context->kind == metrics::CaseKind::measured;
  });
  return std::string("ERROR: nothing was judged: no value has a budget; ") +
         (of_tests
              ? "hold launches to one with EXPECT_BUDGET, or compare runs with `warpgauge diff`"
              : "write one, or let `warpgauge accept --baseline --metric METRIC` do so");
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
      const std::string over =
          failed == 0 ? "" : fmt::format(", {} over budget", plural(failed, "value"));
      if (total_.count(Verdict::error) > 0) return "ERROR: " + errors_text(*this) + over;
      return cut_off_ ? "ERROR: a run was cut off" : nothing_text(*this);
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
  if (is_unsure()) return fmt::format("UNSURE: {} only estimated", plural(missing, "value"));
  return fmt::format("PASS: {} within budget", plural(total_.judged() - moved, "value")) +
         (moved == 0 ? "" : fmt::format(", {} moved", moved)) +
         (missing == 0 ? "" : fmt::format(", {} unmeasured", missing));
}

}  // namespace warpgauge::outcome
