#include "harness/diff/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace warpgauge::diff {
namespace {

using metrics::Confidence;
using metrics::Fact;
using metrics::FactError;
using metrics::StoredRun;

/// The metrics to compare. All other counts follow from these.
constexpr std::string_view kCompared[] = {
    "shared.wavefronts",     "shared.wavefronts_ideal", "shared.requests",
    "global.load.sectors",   "global.load.requests",    "global.store.sectors",
    "global.store.requests", "global.atomic.sectors",   "global.atomic.requests",
    "global.sectors_ideal",  "global.l1_tags",          "local.sectors",
    "local.requests"};
/// Compared only where both sides are exact, because ptxas may leave instructions out.
constexpr std::string_view kComparedIfExact[] = {"instructions", "branches.divergent"};

struct Count {
  double value = 0;
  metrics::Trust trust;
};
using Counts = std::map<std::string, Count, std::less<>>;  // by metric
using Chain = std::vector<metrics::CallSite>;              // that a line was inlined through

/// One side's counts of a case on an architecture.
struct CountedCase {
  std::string run;
  std::map<std::pair<CountedLine, Chain>, Counts> parts;
  std::map<CountedLine, Counts> places;     // sums of the parts
  std::map<std::string, std::string> code;  // kernel -> hash
};
using CountedKey = std::pair<metrics::CaseId, std::string>;  // with the architecture
using CountedCases = std::map<CountedKey, CountedCase>;

std::string name_of(const CountedKey& key) {
  return key.second.empty() ? key.first.str() : key.first.str() + " on " + key.second;
}

CountedLine whole_case(const CountedKey& key) { return {.id = key.first, .arch = key.second}; }

CountedLine place_of(const Fact& fact) {
  CountedLine place = whole_case({fact.id, fact.arch});
  if (fact.scope == metrics::Scope::whole_case) return place;
  place.scope = fact.scope;
  place.kernel = fact.kernel;
  place.file = fact.file;
  place.line = fact.line;
  return place;
}

bool is_compared(const Fact& fact) {
  return std::ranges::find(kCompared, fact.metric) != std::end(kCompared) ||
         std::ranges::find(kComparedIfExact, fact.metric) != std::end(kComparedIfExact);
}

/// Throws metrics::FactError unless the case as a whole has a value of each metric.
void need_all_counts(const CountedKey& key, const CountedCase& counted) {
  const auto whole = counted.places.find(whole_case(key));
  for (const std::string_view metric : kCompared) {
    if (whole != counted.places.end() && whole->second.contains(metric)) continue;
    throw FactError(fmt::format("run {}: {} was counted without {}; record the facts again",
                                counted.run, name_of(key), metric));
  }
}

void add_count(CountedCases& side, const Fact& fact, const std::string& run) {
  const double* value = std::get_if<double>(&fact.value);
  if (value == nullptr || !is_compared(fact)) return;
  CountedCase& counted = side[{fact.id, fact.arch}];
  if (counted.run != run) counted = {.run = run};
  const Confidence confidence =
      metrics::confidence_from(fact.confidence).value_or(Confidence::exact);
  const bool is_new = counted.parts[{place_of(fact), fact.inlined}]
                          .emplace(fact.metric, Count{*value, {confidence, fact.confidence_reason}})
                          .second;
  if (!is_new) {
    throw FactError(fmt::format("run {}: {} has {} of {}:{} twice", run, fact.id.str(), fact.metric,
                                fact.file, fact.line));
  }
  for (const metrics::Kernel& kernel : fact.context->kernels) {
    if (!kernel.sass_hash.empty()) counted.code[kernel.name] = kernel.sass_hash;
  }
}

void add_parts(CountedCase* counted) {
  for (const auto& [part, counts] : counted->parts) {
    Counts& whole = counted->places[part.first];
    for (const auto& [metric, count] : counts) {
      const auto [known, is_new] = whole.try_emplace(metric, count);
      if (is_new) continue;
      known->second.value += count.value;
      if (count.trust.confidence > known->second.trust.confidence) {
        known->second.trust = count.trust;
      }
    }
  }
}

CountedCases counted_cases(const std::vector<StoredRun>& runs) {
  CountedCases side;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) add_count(side, fact, run.run.id);
  }
  for (auto& [key, counted] : side) {
    add_parts(&counted);
    need_all_counts(key, counted);
  }
  return side;
}

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

/// Compares one place into `agreement` and `differences`; nothing where neither side counted.
void compare_place(const CountedLine& place, const std::vector<std::string_view>& metrics,
                   const Counts& a, const Counts& b, Agreement* agreement,
                   std::vector<CountDifference>* differences) {
  static const Count kNothing;
  const auto count_in = [](const Counts& counts, std::string_view metric) -> const Count& {
    const auto found = counts.find(metric);
    return found == counts.end() ? kNothing : found->second;
  };
  bool counted = false, differs = false, refuted = false;
  Confidence worst = Confidence::exact;
  for (const std::string_view metric : metrics) {
    counted = counted || a.contains(metric) || b.contains(metric);
    const Count &in_a = count_in(a, metric), &in_b = count_in(b, metric);
    const metrics::Trust& trust =
        in_a.trust.confidence >= in_b.trust.confidence ? in_a.trust : in_b.trust;
    worst = std::max(worst, trust.confidence);
    if (in_a.value == in_b.value) continue;
    differs = true;
    refuted = refuted || trust.confidence == Confidence::exact;
    differences->push_back({place, std::string(metric), in_a.value, in_b.value, trust});
  }
  if (!counted) return;
  const auto index = static_cast<std::size_t>(refuted ? Confidence::exact : worst);
  ++(differs ? agreement->different : agreement->equal)[index];
}

/// Whether a side says on which lines it counted: it has lines, or they would all be 0.
bool knows_its_lines(const CountedCase& counted) {
  const bool has_lines = std::ranges::any_of(
      counted.places, [](const auto& place) { return !place.first.is_whole_case(); });
  if (has_lines) return true;
  return std::ranges::all_of(kCompared, [&](std::string_view metric) {
    return counted.places.begin()->second.find(metric)->second.value == 0;
  });
}

void compare_case(const CountedKey& key, const CountedCase& a, const CountedCase& b,
                  CountComparison* comparison) {
  static const Counts kNothing;
  const auto counts_at = [](const CountedCase& counted, const CountedLine& place) -> const Counts& {
    const auto found = counted.places.find(place);
    return found == counted.places.end() ? kNothing : found->second;
  };
  const auto compared = metrics_of(counts_at(a, whole_case(key)), counts_at(b, whole_case(key)));
  FamilyAgreement& family = comparison->families[key.first.family];
  ++family.cases;
  const bool with_lines = knows_its_lines(a) && knows_its_lines(b);
  if (knows_its_lines(a) != knows_its_lines(b)) {
    comparison->without_lines.push_back(name_of(key));
  }
  std::set<CountedLine> places;
  for (const CountedCase* side : {&a, &b}) {
    for (const auto& [place, counts] : side->places) places.insert(place);
  }
  for (const CountedLine& place : places) {
    if (!with_lines && !place.is_whole_case()) continue;
    compare_place(place, compared, counts_at(a, place), counts_at(b, place),
                  place.is_whole_case() ? &family.whole_cases : &family.lines,
                  &comparison->differences);
  }
}

/// The sources that counted the accesses of whole cases.

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

FamilyAgreement CountComparison::total() const {
  FamilyAgreement total;
  for (const auto& [name, family] : families) {
    total.cases += family.cases;
    total.lines += family.lines;
    total.whole_cases += family.whole_cases;
  }
  return total;
}

CountComparison compare_counts(const std::vector<StoredRun>& a, const std::vector<StoredRun>& b) {
  const CountedCases side_a = counted_cases(a), side_b = counted_cases(b);
  CountComparison comparison;
  for (const auto& [key, counted] : side_a) {
    const auto other = side_b.find(key);
    if (other == side_b.end()) {
      comparison.only_in_a.push_back(name_of(key));
    } else if (!is_same_code(counted, other->second)) {
      comparison.other_code.push_back(name_of(key));
    } else {
      compare_case(key, counted, other->second, &comparison);
    }
  }
  for (const auto& [key, counted] : side_b) {
    if (!side_a.contains(key)) comparison.only_in_b.push_back(name_of(key));
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
      const bool whole = fact.scope == metrics::Scope::whole_case;
      if (whole && fact.value.index() != 0 && is_compared(fact)) sources.insert(fact.source);
    }
  }
  return sources;
}

bool are_other_counters(const std::set<std::string>& a, const std::set<std::string>& b) {
  const auto is_in_b = [&](const std::string& source) { return b.contains(source); };
  return !a.empty() && !b.empty() && std::ranges::none_of(a, is_in_b);
}

}  // namespace warpgauge::diff
