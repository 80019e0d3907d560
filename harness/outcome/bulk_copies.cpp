// Finds the cases whose counts of global memory leave out bulk copies.
#include "harness/outcome/bulk_copies.h"

#include <fmt/format.h>

#include <string_view>

#include "harness/outcome/finding_text.h"

namespace warpgauge::outcome {
namespace {

/// A metric that each case has once, and that leaves out copies in both directions.
constexpr std::string_view kOfBoth = "global.sectors_ideal";

}  // namespace

std::optional<BulkCopies> bulk_copies_of(const std::vector<JudgedValue>& values) {
  std::optional<BulkCopies> found;
  for (const auto& [fact, run] : values) {
    if (fact->metric != kOfBoth || fact->leaves_out == 0) continue;
    if (!found) found.emplace();
    ++found->cases;
    if (found->most == nullptr || fact->leaves_out > found->most->leaves_out) found->most = fact;
  }
  return found;
}

std::string bulk_copies_text(const BulkCopies& copies) {
  const metrics::Fact& most = *copies.most;
  const std::string more =
      copies.cases == 1 ? "" : fmt::format(", and those of {} more", copies.cases - 1);
  return fmt::format(
      "Left out: global.* is the load and store unit's, without {} of {}{}{}; "
      "bulk.* has them",
      copies_text(most.leaves_out), most.id.str(), most.arch.empty() ? "" : " on " + most.arch,
      more);
}

}  // namespace warpgauge::outcome
