// Compares the counts of a case, place by place.
#include "harness/diff/case_agreement.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace warpgauge::diff {
namespace {

using metrics::Confidence;
using metrics::Trust;

/// The count of a metric; what was not counted is 0, for sure.
const Count& count_of(const Counts& counts, std::string_view metric) {
  static const Count kZero;
  const auto found = counts.find(metric);
  return found == counts.end() ? kZero : found->second;
}

const Counts& counts_at(const CountedCase& counted, const CountedLine& place) {
  static const Counts kNone;
  const auto found = counted.places.find(place);
  return found == counted.places.end() ? kNone : found->second;
}

/// The metrics to compare, given both sides' counts of the whole case.
std::vector<std::string_view> metrics_of(const Counts& a, const Counts& b) {
  std::vector<std::string_view> compared(std::begin(kCompared), std::end(kCompared));
  const auto is_exact = [](const Counts& counts, std::string_view metric) {
    return counts.contains(metric) &&
           count_of(counts, metric).trust.confidence == Confidence::exact;
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
  ComparedPlace compared;
  std::optional<Confidence> least_sure;  // nothing while neither side counted
  for (const std::string_view metric : metrics) {
    if (!a.contains(metric) && !b.contains(metric)) continue;
    const Count &in_a = count_of(a, metric), &in_b = count_of(b, metric);
    const Trust& trust = in_a.trust.confidence >= in_b.trust.confidence ? in_a.trust : in_b.trust;
    least_sure = std::max(least_sure.value_or(Confidence::exact), trust.confidence);
    if (in_a.value != in_b.value) {
      compared.differences.push_back({place, std::string(metric), in_a.value, in_b.value, trust});
    }
  }
  if (!least_sure) return compared;
  if (compared.differences.empty()) {
    ++compared.agreement.equal[static_cast<std::size_t>(*least_sure)];
  } else {
    const bool is_refuted = std::ranges::any_of(compared.differences, CountComparison::is_exact);
    const Confidence confidence = is_refuted ? Confidence::exact : *least_sure;
    ++compared.agreement.different[static_cast<std::size_t>(confidence)];
  }
  return compared;
}

/// The places that either side has, or the whole case alone.
std::set<CountedLine> places_of(const CountedCase& a, const CountedCase& b, bool with_lines) {
  std::set<CountedLine> places;
  for (const CountedCase* counted : {&a, &b}) {
    for (const auto& [place, counts] : counted->places) {
      if (with_lines || place.is_whole_case()) places.insert(place);
    }
  }
  return places;
}

}  // namespace

bool is_same_code(const CountedCase& a, const CountedCase& b) {
  if (a.code.empty() || b.code.empty()) return true;  // not known
  return std::ranges::all_of(a.code, [&](const auto& kernel) {
    const auto other = b.code.find(kernel.first);
    return other != b.code.end() && other->second == kernel.second;
  });
}

bool knows_its_lines(const CountedKey& key, const CountedCase& counted) {
  const bool has_lines = std::ranges::any_of(
      counted.places, [](const auto& place) { return !place.first.is_whole_case(); });
  if (has_lines) return true;
  const Counts& sums = counted.places.at(whole_case(key));
  return std::ranges::all_of(
      kCompared, [&](std::string_view metric) { return count_of(sums, metric).value == 0; });
}

ComparedCase compare_case(const CountedKey& key, const CountedCase& a, const CountedCase& b) {
  const auto metrics = metrics_of(counts_at(a, whole_case(key)), counts_at(b, whole_case(key)));
  const bool with_lines = knows_its_lines(key, a) && knows_its_lines(key, b);
  ComparedCase compared{.agreement = {.cases = 1}};
  for (const CountedLine& place : places_of(a, b, with_lines)) {
    auto [agreement, differences] =
        compare_place(place, metrics, counts_at(a, place), counts_at(b, place));
    FamilyAgreement& family = compared.agreement;
    (place.is_whole_case() ? family.whole_cases : family.lines) += agreement;
    std::ranges::move(differences, std::back_inserter(compared.differences));
  }
  return compared;
}

}  // namespace warpgauge::diff
