#include "harness/outcome/requirements.h"

#include "metrics/catalog.h"

namespace warpgauge {

bool Requirements::is_wrong(const metrics::Fact& fact) const {
  switch (fact.verdict) {
    case metrics::Verdict::error:
    case metrics::Verdict::fail:
      return true;
    case metrics::Verdict::better:
      return strict;
    case metrics::Verdict::unmeasured:
      if (!metrics::is_run_time(metrics::metric(fact.metric))) return ptxas;
      return cupti || (device && fact.metric == "result.correct");
    default:
      return false;
  }
}

}  // namespace warpgauge
