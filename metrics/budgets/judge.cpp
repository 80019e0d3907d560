// Decides verdicts: checks a value, compares it with its limit, and words the reason.
#include "metrics/budgets/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

#include "metrics/facts/catalog.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::metrics {
namespace {

/// A value compared with its limit.
enum class Standing { good, within, beyond };

/// The distance that a value may have from `target`. The factor keeps a value at the bound within:
/// 29% of 100 is a little less than 29 in binary.
double slack(double target, double tolerance) { return tolerance * std::abs(target) * (1 + 1e-12); }

Standing stand_to_equal(double value, double target, double tolerance, Direction direction) {
  const double difference = value - target;
  if (std::abs(difference) <= slack(target, tolerance)) return Standing::within;
  if (direction == Direction::none) return Standing::beyond;
  const bool worse = (direction == Direction::lower) == (difference > 0);
  if (worse) return Standing::beyond;
  return target == 0 ? Standing::within : Standing::good;
}

Standing stand_to_bounds(double value, const Limit& limit, Direction direction) {
  const auto above = [&](double bound) { return value > bound + slack(bound, limit.tolerance); };
  const auto below = [&](double bound) { return value < bound - slack(bound, limit.tolerance); };
  if ((limit.max && above(*limit.max)) || (limit.min && below(*limit.min))) {
    return Standing::beyond;
  }
  if ((limit.max && limit.min) || !limit.of.empty()) return Standing::within;
  const bool good =
      (direction == Direction::lower && limit.max && *limit.max != 0 && below(*limit.max)) ||
      (direction == Direction::higher && limit.min && *limit.min != 0 && above(*limit.min));
  return good ? Standing::good : Standing::within;
}

Standing stand(const Value& value, const Limit& limit, Direction direction) {
  if (std::holds_alternative<std::string>(value)) {
    return value == limit.equal ? Standing::within : Standing::beyond;
  }
  const double number = std::get<double>(value);
  if (const double* equal = std::get_if<double>(&limit.equal)) {
    return stand_to_equal(number, *equal, limit.tolerance, direction);
  }
  return stand_to_bounds(number, limit, direction);
}

/// True where the confidence interval of a value reaches another standing.
bool is_unsure(const Fact& fact, const Limit& limit, Direction direction) {
  if (!fact.interval) return false;
  const Standing standing = stand(fact.value, limit, direction);
  return stand(fact.interval->low, limit, direction) != standing ||
         stand(fact.interval->high, limit, direction) != standing;
}

/// Why `value` is impossible for `metric`; empty if it is possible. Info metrics may be anything.
std::string_view fault(const Metric& metric, const Value& value) {
  if (metric.cls == Class::info) return "";
  const double* number = std::get_if<double>(&value);
  if (is_word(metric)) return number ? "which is not a word" : "";
  if (!number) return "which is not a number";
  if (!std::isfinite(*number)) return "which is not finite";
  if (*number < 0) return "which is negative";
  const double most = metric.unit == "%" ? 100 : metric.unit == "fraction" ? 1 : HUGE_VAL;
  const double noise = metric.cls == Class::bounded ? 0.05 : 1e-6;
  return *number > most * (1 + noise) ? "which is more than all" : "";
}

/// The value as text, exact ones to the last digit: a reason must never read "0.666667, budget =
/// 0.666667".
std::string measured(const Metric& metric, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const bool all_digits = number && metric.cls == Class::exact;
  return fmt::format("{} is {}", metric.id, all_digits ? exact_text(*number) : to_text(value));
}

/// Decides whether the case has changed or the machine, for a value beyond its limit.
void judge_excess(Fact& fact, const std::string& text, const Limit& limit) {
  const std::string& code = fact.context->code_hash;
  fact.verdict = Verdict::fail;
  fact.reason = fmt::format("{}, budget {}", text, limit.str());
  if (limit.code.empty() || code.empty()) return;
  if (limit.code == code) {
    fact.verdict = Verdict::moved;
    fact.cause = "environment";
    fact.reason +=
        "; machine code and launches are those of the budget: clocks, driver or load have changed";
  } else {
    fact.reason += fmt::format(
        "; machine code or launches are not those of the budget ({}, now {})", limit.code, code);
  }
}

/// The reference of the ratio `limit`.
const Fact* reference_of(const Fact& fact, const Metric& metric, const Limit& limit,
                         const References& references) {
  if (limit.of == kIdeal) return references.find(fact.id, fact.arch, metric.ideal);
  return references.find(fact.id.other(limit.of), fact.arch, fact.metric);
}

/// Gives the limit of `fact` its reference. Returns why there is none; empty if it has one or needs
/// none.
std::string add_reference(Fact& fact, const Metric& row, const References& references) {
  if (fact.limit->of.empty()) return "";
  const Fact* reference = reference_of(fact, row, *fact.limit, references);
  if (reference == nullptr) return "not measured in this run";
  const double* number = std::get_if<double>(&reference->value);
  if (std::holds_alternative<std::monostate>(reference->value)) {
    return reference->reason.empty() ? "not measured" : reference->reason;
  }
  if (const auto why = fault(metric(reference->metric), reference->value); !why.empty()) {
    return fmt::format("{}, {}", measured(metric(reference->metric), reference->value), why);
  }
  fact.limit->reference = *number;
  fact.limit->reference_confidence =
      confidence_from(reference->confidence).value_or(Confidence::exact);
  return "";
}

void judge_by(Fact& fact, const Metric& metric, const Limit& limit,
              std::chrono::year_month_day today, const std::string& no_reference) {
  const Limit absolute = limit.absolute();
  const Standing standing = stand(fact.value, absolute, metric.direction);
  const bool unsure = is_unsure(fact, absolute, metric.direction);
  const std::string text = measured(metric, fact.value);
  if (limit.until && today > *limit.until) {
    fact.verdict = Verdict::fail;
    fact.reason = fmt::format("{}, waiver expired on {}", text, to_text(*limit.until));
  } else if (!no_reference.empty()) {
    fact.verdict = Verdict::unmeasured;
    fact.reason = fmt::format("{}, budget {}, and {} is not known: {}", text, limit.str(), limit.of,
                              no_reference);
  } else if (standing == Standing::beyond && unsure) {
    fact.verdict = Verdict::unmeasured;
    fact.would = Verdict::fail;
    fact.reason = fmt::format(
        "{} (95 % interval {} to {}), which budget {} would fail; time it again, for longer or "
        "on an idle machine",
        text, to_text(fact.interval->low), to_text(fact.interval->high), limit.str());
  } else if (standing == Standing::beyond) {
    judge_excess(fact, text, limit);
  } else if (limit.until) {
    fact.verdict = Verdict::waived;
    fact.reason = fmt::format("{}, waived until {}: {}", text, to_text(*limit.until), limit.reason);
  } else if (standing == Standing::good && !unsure) {
    fact.verdict = Verdict::better;
    fact.reason = fmt::format("{}, better than budget {}", text, limit.str());
  } else {
    fact.verdict = Verdict::pass;
  }
  if (fact.machine && !fact.machine->disturbance.empty()) {
    fact.reason +=
        (fact.reason.empty() ? "disturbed: " : "; disturbed: ") + fact.machine->disturbance;
  }
}

/// True if the fact is as sure as `gate_on` demands. Noisy metrics always are: the tolerance of
/// their limits allows for noise.
bool is_sure_enough(const Fact& fact, const Metric& metric) {
  const std::optional<Confidence> confidence = judged_confidence(fact);
  return metric.cls != Class::exact || !confidence || *confidence <= fact.limit->gate_on;
}

void withhold(Fact& fact, const Metric& metric) {
  fact.would = fact.verdict == Verdict::fail ? Verdict::fail : Verdict::pass;
  fact.verdict = Verdict::unmeasured;
  fact.cause.clear();
  const std::string_view confidence = to_string(judged_confidence(fact).value());
  fact.reason = fmt::format(
      "{} ({}: {}), which budget {} would {}; gate_on = \"{}\" in the budget file would judge it",
      measured(metric, fact.value), confidence,
      confidence == fact.confidence ? fact.confidence_reason : "that of " + fact.limit->of,
      fact.limit->str(), to_string(*fact.would), confidence);
}

/// Waives the finding if a waiver names it that has not expired. If one nearly does, or has
/// expired, its place becomes the cure.
void judge_finding(Fact& finding, const Budgets& budgets, std::chrono::year_month_day today) {
  for (const Waiver* waiver : budgets.waivers(finding.id, finding.arch)) {
    if (!waiver->names(finding)) {
      if (finding.cure.empty() && waiver->is_near(finding)) {
        finding.cure = fmt::format("{} waives a {} at {}: if it is this one, write its lines there",
                                   waiver->origin, waiver->rule, fmt::join(waiver->lines, ", "));
      }
    } else if (waiver->until && today > *waiver->until) {
      finding.cure =
          fmt::format("its waiver in {} expired on {}", waiver->origin, to_text(*waiver->until));
    } else {
      finding.verdict = Verdict::waived;
      finding.cure.clear();
      finding.reason = fmt::format("waived{} by {} ({}): {}",
                                   waiver->until ? " until " + to_text(*waiver->until) : "",
                                   waiver->origin, waiver->reason, finding.reason);
      return;
    }
  }
}

}  // namespace

const Fact* References::find(const CaseId& id, std::string_view arch,
                             std::string_view metric) const {
  const auto latest_in = [&](std::span<const Fact> facts) -> const Fact* {
    const auto found = std::ranges::find_if(facts | std::views::reverse, [&](const Fact& fact) {
      return fact.scope == Scope::whole_case && fact.metric == metric && fact.arch == arch &&
             fact.id == id;
    });
    return found == facts.rend() ? nullptr : &*found;
  };
  const Fact* found = latest_in(together_);
  return found == nullptr && before_ ? latest_in(before_()) : found;
}

std::optional<Confidence> judged_confidence(const Fact& fact) {
  const std::optional<Confidence> own = confidence_from(fact.confidence);
  if (!own || !fact.limit) return own;
  return std::max(*own, fact.limit->reference_confidence);
}

std::chrono::sys_days today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

void judge(Fact& fact, const Budgets& budgets, std::chrono::year_month_day today,
           const References& references) {
  if (fact.verdict == Verdict::error) {
    if (!fact.rule.empty()) judge_finding(fact, budgets, today);
    return;
  }
  if (fact.scope != Scope::whole_case || is_waived_finding(fact)) return;
  const Metric& row = metric(fact.metric);
  const Limit* limit = budgets.find(fact.id, fact.arch, fact.metric);
  fact.limit = limit ? std::optional(*limit) : std::nullopt;
  if (limit) fact.limit->gate_on = budgets.gate_on();
  fact.would.reset();
  fact.cause.clear();
  if (std::holds_alternative<std::monostate>(fact.value)) {
    fact.verdict = Verdict::unmeasured;
    if (fact.reason.empty()) fact.reason = fmt::format("{} was not measured", row.id);
    return;
  }
  fact.reason.clear();
  if (const std::string_view why = fault(row, fact.value); !why.empty()) {
    fact.verdict = Verdict::error;
    fact.reason = fmt::format("{}, {}", measured(row, fact.value), why);
  } else if (!limit) {
    fact.verdict = Verdict::unbudgeted;
  } else {
    const std::string no_reference = add_reference(fact, row, references);
    judge_by(fact, row, *fact.limit, today, no_reference);
    if (no_reference.empty() && !is_sure_enough(fact, row)) withhold(fact, row);
  }
}

}  // namespace warpgauge::metrics
