// The counts of the memory system that files of facts have, by case and place: what agreement.h
// compares.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/diff/agreement.h"
#include "metrics/base/source_line.h"
#include "metrics/facts/confidence.h"
#include "metrics/facts/fact.h"

namespace warpgauge::diff {

/// The metrics to compare. All other counts follow from these.
inline constexpr std::string_view kCompared[] = {
    "shared.wavefronts",     "shared.wavefronts_ideal", "shared.requests",
    "global.load.sectors",   "global.load.requests",    "global.store.sectors",
    "global.store.requests", "global.atomic.sectors",   "global.atomic.requests",
    "global.sectors_ideal",  "global.l1_tags",          "local.sectors",
    "local.requests"};
/// Compared only where both sides are exact, because ptxas may leave instructions out.
inline constexpr std::string_view kComparedIfExact[] = {"instructions", "branches.divergent"};

struct Count {
  double value = 0;
  metrics::Trust trust;
};
using Counts = std::map<std::string, Count, std::less<>>;  // by metric
using Chain = std::vector<metrics::CallSite>;  // the calls that a line was inlined through
using Parts = std::map<std::pair<CountedLine, Chain>, Counts>;

/// One side's counts of a case on an architecture.
struct CountedCase {
  std::string run;
  Parts parts;
  std::map<CountedLine, Counts> places;     ///< sums of the parts
  std::map<std::string, std::string> code;  ///< kernel -> hash
};
using CountedKey = std::pair<metrics::CaseId, std::string>;  // with the architecture
using CountedCases = std::map<CountedKey, CountedCase>;

/// "id on arch".
std::string case_name(const CountedKey& key);

/// The place of all of a case.
CountedLine whole_case(const CountedKey& key);

/// Whether it has a count to compare, at any place.
bool is_compared(const metrics::Fact& fact);

/// The counts of the cases. If a case has several runs, the last one is taken. Throws
/// metrics::FactError for a count that is there twice, and for a case without a count of one of
/// kCompared as a whole.
CountedCases counted_cases(const std::vector<metrics::StoredRun>& runs);

}  // namespace warpgauge::diff
