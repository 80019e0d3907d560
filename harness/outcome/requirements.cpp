// Names the requirements of a run, and holds values against them.
#include "harness/outcome/requirements.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "metrics/facts/catalog.h"

namespace warpgauge::outcome {

bool is_unsure_by_default(const metrics::Fact& fact) {
  const bool is_there = !std::holds_alternative<std::monostate>(fact.value);
  return is_there && fact.verdict == metrics::Verdict::unmeasured && fact.limit &&
         fact.limit->origin == metrics::kBuiltInOrigin;
}

bool Requirements::is_wrong(const metrics::Fact& fact) const {
  switch (fact.verdict) {
    case metrics::Verdict::error:
    case metrics::Verdict::fail:
      return true;
    case metrics::Verdict::better:
      return strict;
    case metrics::Verdict::unmeasured:
      if (!metrics::is_run_time(metrics::metric(fact.metric))) return cubin;
      if (counts && !is_unsure_by_default(fact)) return true;
      // Fuzzed runs are there where they are asked for.
      return cupti || fact.metric == "result.fails_at" ||
             (device && fact.metric == "result.correct");
    default:
      return false;
  }
}

Requirements asked_requirements(const metrics::RunRequest& asked) {
  const auto requires_source = [&](std::string_view source) {
    return std::ranges::find(asked.require, source) != asked.require.end();
  };
  return {.strict = asked.strict,
          .cubin = requires_source("cubin"),
          .cupti = requires_source("cupti"),
          .counts = requires_source("counts")};
}

Requirements requirements_of(const std::vector<metrics::StoredRun>& runs) {
  Requirements requirements{.judged = false};
  for (const auto& [run, facts, end, torn] : runs) {
    const Requirements asked = asked_requirements(run.asked);
    requirements.strict |= asked.strict;
    requirements.cubin |= asked.cubin;
    requirements.cupti |= asked.cupti;
    requirements.counts |= asked.counts;
    requirements.device |= run.asked.device == "gpu";
    requirements.judged |= run.command != "bench";
  }
  requirements.judged |= runs.empty();
  return requirements;
}

}  // namespace warpgauge::outcome
