// Works out the outcome of a run: order, counts, headline and exit code.
#include "harness/outcome/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "harness/outcome/repeat_command.h"

namespace warpgauge::outcome {

using metrics::Fact;
using metrics::Verdict;

namespace {

/// Of facts at one place the worst counts. What a check finds has its line, for a case may break
/// several rules.
using Place = std::tuple<const metrics::CaseId&, std::string_view, std::string_view,
                         std::string_view, std::string_view, int, std::string_view>;

Place place_of(const Fact& fact) {
  if (fact.rule.empty()) return {fact.id, fact.arch, fact.metric, "", "", 0, ""};
  return {fact.id, fact.arch, fact.metric, fact.rule, fact.file, fact.line, fact.other};
}

}  // namespace

std::string why_not_judged(const Fact& fact) {
  if (std::holds_alternative<std::monostate>(fact.value)) return "unmeasured: " + fact.reason;
  if (fact.confidence == "predicted") return "only predicted: " + fact.confidence_reason;
  if (fact.confidence == "estimate") return "only estimated: " + fact.confidence_reason;
  return "unmeasured: " + fact.reason;
}

int Tally::count(Verdict verdict) const {
  const auto found = verdicts.find(verdict);
  return found == verdicts.end() ? 0 : found->second;
}

int Tally::checks() const {
  int checks = 0;
  for (const auto& [verdict, n] : verdicts) checks += verdict == Verdict::unbudgeted ? 0 : n;
  return checks;
}

int Tally::judged() const {
  return checks() - count(Verdict::unmeasured) - count(Verdict::error) - waived_findings;
}

Outcome::Outcome(std::vector<metrics::StoredRun> runs, OutcomeOptions options)
    : runs_(std::move(runs)), options_(std::move(options)) {
  std::vector<JudgedValue> lines;
  std::map<Place, std::size_t> places;  // the facts stay where they are
  for (const metrics::StoredRun& run : runs_) {
    if (run.end) std::ranges::copy(run.end->left_out, std::back_inserter(options_.left_out));
    if (options_.whole && !run.end) {
      cut_off_ = true;
      options_.lost.push_back(fmt::format("run {} was cut off: its end is missing", run.run.id));
    }
    for (const Fact& fact : run.facts) {
      const JudgedValue value{&fact, &run.run};
      if (fact.scope != metrics::Scope::whole_case) {
        lines.push_back(value);
        continue;
      }
      const auto [place, is_new] = places.try_emplace(place_of(fact), values_.size());
      if (is_new) {
        values_.push_back(value);
      } else if (JudgedValue& known = values_[place->second];
                 is_worse(fact, *known.fact, options_.requirements)) {
        known = value;
      }
    }
  }
  for (const auto& [family, n] : options_.unbudgeted) {
    for (Tally* tally : {&families_[family], &total_}) tally->verdicts[Verdict::unbudgeted] += n;
  }
  std::map<std::string, Unmeasured> reasons;
  for (const JudgedValue& value : values_) {
    const Fact& fact = *value.fact;
    for (Tally* tally : {&families_[fact.id.family], &total_}) {
      tally->cases.insert(fact.id.str());
      ++tally->verdicts[fact.verdict];
      if (metrics::is_waived_finding(fact)) ++tally->waived_findings;
    }
    if (fact.verdict != Verdict::unmeasured) continue;
    Unmeasured& reason = reasons[why_not_judged(fact)];
    ++reason.count;
    reason.required += options_.requirements.is_wrong(fact) ? 1 : 0;
  }
  for (auto& [text, reason] : reasons) {
    reason.reason = text;
    unmeasured_.push_back(std::move(reason));
  }
  std::ranges::stable_sort(unmeasured_, std::greater(), &Unmeasured::count);
  findings_ = findings_of(values_, lines, options_.requirements);
}

int Outcome::required_missing() const {
  int required = 0;
  for (const Unmeasured& reason : unmeasured_) required += reason.required;
  return required;
}

std::string Outcome::repeat(const JudgedValue& value) const {
  return options_.repeat ? options_.repeat(value) : repeat_command(value);
}

ExitCode Outcome::exit_code() const {
  ExitCode code = exit_code_of_values();
  for (const metrics::StoredRun& run : runs_) {
    if (run.end) code = worse(code, static_cast<ExitCode>(run.end->exit_code));
  }
  return code;
}

bool Outcome::is_unsure() const {
  return !values_.empty() && std::ranges::all_of(values_, [](const JudgedValue& value) {
    return is_unsure_by_default(*value.fact) || value.fact->verdict == Verdict::unbudgeted;
  }) && total_.count(Verdict::unmeasured) > 0;
}

ExitCode Outcome::exit_code_of_values() const {
  const Requirements& required = options_.requirements;
  const bool nothing = required.judged && total_.judged() == 0 && required_missing() == 0 &&
                       !(required.counts && is_unsure());
  if (total_.count(Verdict::error) > 0 || nothing || cut_off_) return kFault;
  if (total_.count(Verdict::fail) > 0) return kOverBudget;
  if (required.strict && total_.count(Verdict::better) > 0) return kOverBudget;
  if (required_missing() > 0 || !lost().empty()) return kNotMeasured;
  return kWithinBudget;
}

}  // namespace warpgauge::outcome
