#include "harness/diff/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/diff/compare_text.h"
#include "harness/files/printable.h"
#include "harness/files/write_file.h"
#include "harness/outcome/exit_code.h"

namespace warpgauge::diff {
namespace {

using metrics::Confidence;
using metrics::Fact;
using metrics::FactError;
using metrics::StoredRun;

/// What is compared. Everything else that is counted follows from these.
constexpr std::string_view kCompared[] = {
    "shared.wavefronts",     "shared.wavefronts_ideal", "shared.requests",
    "global.load.sectors",   "global.load.requests",    "global.store.sectors",
    "global.store.requests", "global.atomic.sectors",   "global.atomic.requests",
    "global.sectors_ideal",  "local.sectors",           "local.requests"};
/// What is compared where both sides know it exactly: the compiler may do without instructions.
constexpr std::string_view kComparedIfExact[] = {"instructions", "branches.divergent"};

struct Count {
  double value = 0;
  metrics::Trust trust;
};
using Counts = std::map<std::string, Count, std::less<>>;  // by metric

/// What one side counted of a case on an architecture.
struct CountedCase {
  std::string run;
  std::map<Place, Counts> places;
  std::map<std::string, std::string> code;  // kernel -> hash
};
using CaseKey = std::pair<metrics::CaseId, std::string>;  // with the architecture
using Side = std::map<CaseKey, CountedCase>;

std::string name_of(const CaseKey& key) {
  return key.second.empty() ? key.first.str() : key.first.str() + " on " + key.second;
}

Place whole_case(const CaseKey& key) { return {.id = key.first, .arch = key.second}; }

Place place_of(const Fact& fact) {
  Place place = whole_case({fact.id, fact.arch});
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

/// What counts a case has a value of everything for the whole of it.
void need_all_counts(const CaseKey& key, const CountedCase& counted) {
  const auto whole = counted.places.find(whole_case(key));
  for (const std::string_view metric : kCompared) {
    if (whole != counted.places.end() && whole->second.contains(metric)) continue;
    throw FactError(fmt::format("run {}: {} was counted without {}; record the facts again",
                                counted.run, name_of(key), metric));
  }
}

void add_count(Side& side, const Fact& fact, const std::string& run) {
  const double* value = std::get_if<double>(&fact.value);
  if (value == nullptr || !is_compared(fact)) return;
  CountedCase& counted = side[{fact.id, fact.arch}];
  if (counted.run != run) counted = {.run = run};
  const Confidence confidence =
      metrics::confidence_from(fact.confidence).value_or(Confidence::exact);
  const bool is_new = counted.places[place_of(fact)]
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

Side side_of(const std::vector<StoredRun>& runs, const std::string& filter) {
  const std::string glob = filter.empty() ? "*" : filter;
  Side side;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      if (fnmatch(glob.c_str(), fact.id.str().c_str(), 0) == 0) add_count(side, fact, run.run.id);
    }
  }
  for (const auto& [key, counted] : side) need_all_counts(key, counted);
  return side;
}

bool is_same_code(const CountedCase& a, const CountedCase& b) {
  return std::ranges::all_of(a.code, [&](const auto& kernel) {
    const auto other = b.code.find(kernel.first);
    return other == b.code.end() || other->second == kernel.second;
  });
}

/// The metrics to compare of a case, given what both sides know of it as a whole.
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
void compare_place(const Place& place, const std::vector<std::string_view>& metrics,
                   const Counts& a, const Counts& b, Agreement* agreement,
                   std::vector<Difference>* differences) {
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

void compare_case(const CaseKey& key, const CountedCase& a, const CountedCase& b,
                  FactComparison* comparison) {
  static const Counts kNothing;
  const auto counts_at = [](const CountedCase& counted, const Place& place) -> const Counts& {
    const auto found = counted.places.find(place);
    return found == counted.places.end() ? kNothing : found->second;
  };
  const auto compared = metrics_of(counts_at(a, whole_case(key)), counts_at(b, whole_case(key)));
  FamilyAgreement& family = comparison->families[key.first.family];
  ++family.cases;
  std::set<Place> places;
  for (const CountedCase* side : {&a, &b}) {
    for (const auto& [place, counts] : side->places) places.insert(place);
  }
  for (const Place& place : places) {
    compare_place(place, compared, counts_at(a, place), counts_at(b, place),
                  place.is_whole_case() ? &family.whole_cases : &family.lines,
                  &comparison->differences);
  }
}

/// Who counted: "cupti on NVIDIA H100".
std::string origin(const std::vector<StoredRun>& runs) {
  std::set<std::string> origins;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      if (!is_compared(fact) || fact.source.empty()) continue;
      const std::string& device = fact.context->device;
      origins.insert(device.empty() ? fact.source : fact.source + " on " + device);
    }
  }
  return files::printable(fmt::format("{}", fmt::join(origins, ", ")));
}

std::string described(const FactComparison& comparison) {
  return fmt::format("{} cases only in A, {} only in B, {} of other machine code",
                     comparison.only_in_a.size(), comparison.only_in_b.size(),
                     comparison.other_code.size());
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

FamilyAgreement FactComparison::total() const {
  FamilyAgreement total;
  for (const auto& [name, family] : families) {
    total.cases += family.cases;
    total.lines += family.lines;
    total.whole_cases += family.whole_cases;
  }
  return total;
}

FactComparison compare(const std::vector<StoredRun>& a, const std::vector<StoredRun>& b,
                       const std::string& filter) {
  const Side side_a = side_of(a, filter), side_b = side_of(b, filter);
  FactComparison comparison;
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
  std::ranges::stable_sort(comparison.differences, {}, [](const Difference& difference) {
    return std::tuple(difference.trust.confidence, -std::abs(difference.a - difference.b));
  });
  return comparison;
}

int compare_facts(const CompareOptions& options) {
  const std::vector<StoredRun> a = metrics::read_facts(options.a);
  const std::vector<StoredRun> b = metrics::read_facts(options.b);
  const FactComparison comparison = compare(a, b, options.filter);
  if (comparison.families.empty()) {
    for (const auto& [path, runs] : {std::pair(options.a, &a), std::pair(options.b, &b)}) {
      if (runs->empty()) {
        throw std::runtime_error(
            fmt::format("{}: no facts: nothing was measured, or not to its end", path.string()));
      }
    }
    throw std::runtime_error(fmt::format("{} and {} have no counted case in common: {}",
                                         options.a.string(), options.b.string(),
                                         described(comparison)));
  }
  fmt::print("A: {} ({})\nB: {} ({})\n{}", options.a.string(), origin(a), options.b.string(),
             origin(b), comparison_text(comparison));
  if (!options.json.empty()) files::write_file(options.json, comparison_json(comparison) + '\n');
  if (comparison.is_refuted()) return outcome::kOverBudget;
  return options.require_all && comparison.left_out() > 0 ? outcome::kNotMeasured
                                                          : outcome::kWithinBudget;
}

}  // namespace warpgauge::diff
