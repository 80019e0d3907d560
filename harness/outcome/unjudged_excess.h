// The cost of cases beyond their ideal that no budget names: the waste that a green run hides.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/outcome/finding.h"

namespace warpgauge::outcome {

/// A count beyond the ideal of a case, in `unit`s of its metric, that nothing judges.
struct UnjudgedExcess {
  const metrics::Fact* fact = nullptr;
  double ideal = 0;
  double excess() const;
  double ratio() const;  ///< the cost as a share of the ideal: 1 is without any excess
};

/// The excess with the largest ratio; nothing where all excesses are judged, or zero.
std::optional<UnjudgedExcess> worst_unjudged_excess(const std::vector<JudgedValue>& values);

/// "Not judged: matmul.naive.f32@64x64x64 on sm_90 takes 7.5 times its ideal: ...", one line.
std::string unjudged_text(const UnjudgedExcess& worst);

}  // namespace warpgauge::outcome
