// Makes the built-in limits of the rows of the table of metrics that have one.
#include "metrics/facts/built_in_limits.h"

#include "metrics/facts/catalog_file.h"

namespace warpgauge::metrics {
namespace {

std::map<std::string, Limit, std::less<>> limits_of_table() {
  std::map<std::string, Limit, std::less<>> limits;
  for (const Metric& metric : built_in_catalog().metrics) {
    if (!metric.built_in) continue;
    Limit& limit = limits[std::string(metric.id)];
    limit.equal = *metric.built_in;
    limit.reason = metric.why_built_in;
    limit.origin = kBuiltInOrigin;
  }
  return limits;
}

}  // namespace

const std::map<std::string, Limit, std::less<>>& built_in_limits() {
  static const std::map<std::string, Limit, std::less<>> kLimits = limits_of_table();
  return kLimits;
}

const Limit* built_in_limit(std::string_view metric) {
  const auto found = built_in_limits().find(metric);
  return found == built_in_limits().end() ? nullptr : &found->second;
}

}  // namespace warpgauge::metrics
