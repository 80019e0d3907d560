// Compares the counts of two sources, place by place, and adds up how far they agree.
#include "harness/diff/agreement.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "harness/diff/counted_cases.h"

namespace warpgauge::diff {
namespace {

using metrics::Confidence;
using metrics::Fact;
using metrics::StoredRun;

/// A kernel that the other side does not have is other code, too: its lines have no counterpart.
bool is_same_code(const CountedCase& a, const CountedCase& b) {
  if (a.code.empty() || b.code.empty()) return true;  // not known
  return std::ranges::all_of(a.code, [&](const auto& kernel) {
    const auto other = b.code.find(kernel.first);
    return other != b.code.end() && other->second == kernel.second;
  });
}

/// The metrics to compare, given both sides' counts of the whole case.
std::vector<std::string_view> metrics_of(const Counts& a, const Counts& b) {
  std::vector<std::string_view> compared(std::begin(kCompared), std::end(kCompared));
  const auto is_exact = [](const Counts& counts, std::string_view metric) {
    const auto found = counts.find(metric);
    return found != counts.end() && found->second.trust.confidence == Confidence::exact;
  };
  for (const std::string_view metric : kComparedIfExact) {
    if (is_exact(a, metric) && is_exact(b, metric)) compared.push_back(metric);
  }
  return compared;
}

struct ComparedPlace {
  Agreement agreement;  ///< nothing where neither side counted
  std::vector<CountDifference> differences;
};

ComparedPlace compare_place(const CountedLine& place, const std::vector<std::string_view>& metrics,
                            const Counts& a, const Counts& b) {
  static const Count kNothing;
  const auto count_in = [](const Counts& counts, std::string_view metric) -> const Count& {
    const auto found = counts.find(metric);
    return found == counts.end() ? kNothing : found->second;
  };
  ComparedPlace compared;
  bool counted = false, refuted = false;
  Confidence worst = Confidence::exact;
  for (const std::string_view metric : metrics) {
    counted = counted || a.contains(metric) || b.contains(metric);
    const Count &in_a = count_in(a, metric), &in_b = count_in(b, metric);
    const metrics::Trust& trust =
        in_a.trust.confidence >= in_b.trust.confidence ? in_a.trust : in_b.trust;
    worst = std::max(worst, trust.confidence);
    if (in_a.value == in_b.value) continue;
    refuted = refuted || trust.confidence == Confidence::exact;
    compared.differences.push_back({place, std::string(metric), in_a.value, in_b.value, trust});
  }
  Agreement& agreement = compared.agreement;
  const auto index = static_cast<std::size_t>(refuted ? Confidence::exact : worst);
  if (counted) ++(compared.differences.empty() ? agreement.equal : agreement.different)[index];
  return compared;
}

/// Whether a side says on which lines it counted: it has lines, or its counts are all 0.
bool knows_its_lines(const CountedKey& key, const CountedCase& counted) {
  const bool has_lines = std::ranges::any_of(
      counted.places, [](const auto& place) { return !place.first.is_whole_case(); });
  if (has_lines) return true;
  const Counts& sums = counted.places.at(whole_case(key));
  return std::ranges::all_of(
      kCompared, [&](std::string_view metric) { return sums.find(metric)->second.value == 0; });
}

struct ComparedCase {
  FamilyAgreement agreement;
  std::vector<CountDifference> differences;
};

/// Compares the case line by line, where both sides know their lines, and as a whole.
ComparedCase compare_case(const CountedKey& key, const CountedCase& a, const CountedCase& b) {
  static const Counts kNothing;
  const auto counts_at = [](const CountedCase& counted, const CountedLine& place) -> const Counts& {
    const auto found = counted.places.find(place);
    return found == counted.places.end() ? kNothing : found->second;
  };
  const auto metrics = metrics_of(counts_at(a, whole_case(key)), counts_at(b, whole_case(key)));
  const bool with_lines = knows_its_lines(key, a) && knows_its_lines(key, b);
  std::set<CountedLine> places;
  for (const CountedCase* counted : {&a, &b}) {
    for (const auto& [place, counts] : counted->places) {
      if (with_lines || place.is_whole_case()) places.insert(place);
    }
  }
  ComparedCase compared{.agreement = {.cases = 1}};
  for (const CountedLine& place : places) {
    auto [agreement, differences] =
        compare_place(place, metrics, counts_at(a, place), counts_at(b, place));
    FamilyAgreement& family = compared.agreement;
    (place.is_whole_case() ? family.whole_cases : family.lines) += agreement;
    std::ranges::move(differences, std::back_inserter(compared.differences));
  }
  return compared;
}

}  // namespace

std::size_t Agreement::total() const {
  std::size_t total = 0;
  for (std::size_t i = 0; i < equal.size(); ++i) total += equal[i] + different[i];
  return total;
}

Agreement& Agreement::operator+=(const Agreement& other) {
  for (std::size_t i = 0; i < equal.size(); ++i) {
    equal[i] += other.equal[i];
    different[i] += other.different[i];
  }
  return *this;
}

FamilyAgreement& FamilyAgreement::operator+=(const FamilyAgreement& other) {
  cases += other.cases;
  lines += other.lines;
  whole_cases += other.whole_cases;
  return *this;
}

FamilyAgreement CountComparison::total() const {
  FamilyAgreement total;
  for (const auto& [name, family] : families) total += family;
  return total;
}

CountComparison compare_counts(const std::vector<StoredRun>& a, const std::vector<StoredRun>& b) {
  const CountedCases cases_a = counted_cases(a), cases_b = counted_cases(b);
  CountComparison comparison;
  for (const auto& [key, in_a] : cases_a) {
    const auto found = cases_b.find(key);
    if (found == cases_b.end()) {
      comparison.only_in_a.push_back(case_name(key));
      continue;
    }
    const CountedCase& in_b = found->second;
    if (!is_same_code(in_a, in_b)) {
      comparison.other_code.push_back(case_name(key));
      continue;
    }
    if (knows_its_lines(key, in_a) != knows_its_lines(key, in_b)) {
      comparison.without_lines.push_back(case_name(key));
    }
    auto [agreement, differences] = compare_case(key, in_a, in_b);
    comparison.families[key.first.family] += agreement;
    std::ranges::move(differences, std::back_inserter(comparison.differences));
  }
  for (const auto& [key, in_b] : cases_b) {
    if (!cases_a.contains(key)) comparison.only_in_b.push_back(case_name(key));
  }
  std::ranges::stable_sort(comparison.differences, {}, [](const CountDifference& difference) {
    return std::tuple(difference.trust.confidence, -std::abs(difference.a - difference.b));
  });
  return comparison;
}

std::set<std::string> counters_of_memory(const std::vector<StoredRun>& runs) {
  std::set<std::string> sources;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      const bool is_whole = fact.scope == metrics::Scope::whole_case;
      const bool has_value = !std::holds_alternative<std::monostate>(fact.value);
      if (is_whole && has_value && is_compared(fact)) sources.insert(fact.source);
    }
  }
  return sources;
}

bool are_other_counters(const std::set<std::string>& a, const std::set<std::string>& b) {
  const auto is_in_b = [&](const std::string& source) { return b.contains(source); };
  return !a.empty() && !b.empty() && std::ranges::none_of(a, is_in_b);
}

}  // namespace warpgauge::diff
