// Reads the counts of cases from facts, and adds up the parts of each place.
#include "harness/diff/counted_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <variant>

namespace warpgauge::diff {
namespace {

using metrics::Confidence;
using metrics::Fact;
using metrics::FactError;
using metrics::StoredRun;

CountedLine place_of(const Fact& fact) {
  CountedLine place = whole_case({fact.id, fact.arch});
  if (fact.scope == metrics::Scope::whole_case) return place;
  place.scope = fact.scope;
  place.kernel = fact.kernel;
  place.file = fact.file;
  place.line = fact.line;
  return place;
}

/// Throws metrics::FactError unless the case as a whole has a value of each metric.
void need_all_counts(const CountedKey& key, const CountedCase& counted) {
  const auto whole = counted.places.find(whole_case(key));
  for (const std::string_view metric : kCompared) {
    if (whole != counted.places.end() && whole->second.contains(metric)) continue;
    throw FactError(fmt::format("run {}: {} was counted without {}; record the facts again",
                                counted.run, case_name(key), metric));
  }
}

void add_count(CountedCases& cases, const Fact& fact, const std::string& run) {
  const double* value = std::get_if<double>(&fact.value);
  if (value == nullptr || !is_compared(fact)) return;
  CountedCase& counted = cases[{fact.id, fact.arch}];
  if (counted.run != run) counted = {.run = run};  // of several runs the last one counts
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

/// Adds up the parts of each place. A sum is as sure as its least sure part.
std::map<CountedLine, Counts> sums_of(const Parts& parts) {
  std::map<CountedLine, Counts> places;
  for (const auto& [part, counts] : parts) {
    Counts& sums = places[part.first];
    for (const auto& [metric, count] : counts) {
      const auto [known, is_new] = sums.try_emplace(metric, count);
      if (is_new) continue;
      Count& sum = known->second;
      sum.value += count.value;
      if (count.trust.confidence > sum.trust.confidence) sum.trust = count.trust;
    }
  }
  return places;
}

}  // namespace

std::string case_name(const CountedKey& key) {
  return key.second.empty() ? key.first.str() : key.first.str() + " on " + key.second;
}

CountedLine whole_case(const CountedKey& key) { return {.id = key.first, .arch = key.second}; }

bool is_compared(const Fact& fact) {
  return std::ranges::find(kCompared, fact.metric) != std::end(kCompared) ||
         std::ranges::find(kComparedIfExact, fact.metric) != std::end(kComparedIfExact);
}

CountedCases counted_cases(const std::vector<StoredRun>& runs) {
  CountedCases cases;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) add_count(cases, fact, run.run.id);
  }
  for (auto& [key, counted] : cases) {
    counted.places = sums_of(counted.parts);
    need_all_counts(key, counted);
  }
  return cases;
}

}  // namespace warpgauge::diff
