// Compares the counts of two sources case by case, and adds up where they agree.
#include "harness/diff/agreement.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <variant>

#include "harness/diff/case_agreement.h"
#include "harness/diff/counted_cases.h"

namespace warpgauge::diff {
namespace {

using metrics::Fact;
using metrics::StoredRun;

/// Adds a case that both sides have.
void add_case(CountComparison& comparison, const CountedKey& key, const CountedCase& a,
              const CountedCase& b) {
  if (!is_same_code(a, b)) {
    comparison.other_code.push_back(case_name(key));
    return;
  }
  if (knows_its_lines(key, a) != knows_its_lines(key, b)) {
    comparison.without_lines.push_back(case_name(key));
  }
  auto [agreement, differences] = compare_case(key, a, b);
  comparison.families[key.first.family] += agreement;
  std::ranges::move(differences, std::back_inserter(comparison.differences));
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
    if (const auto in_b = cases_b.find(key); in_b != cases_b.end()) {
      add_case(comparison, key, in_a, in_b->second);
    } else {
      comparison.only_in_a.push_back(case_name(key));
    }
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
