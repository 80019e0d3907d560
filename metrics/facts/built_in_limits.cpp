// Defines the built-in limits, each with the reason that a failure shows.
#include "metrics/facts/built_in_limits.h"

namespace warpgauge::metrics {
namespace {

Limit built_in(double equal, std::string_view reason) {
  Limit limit;
  limit.equal = equal;
  limit.reason = reason;
  limit.origin = kBuiltInOrigin;
  return limit;
}

}  // namespace

const std::map<std::string, Limit, std::less<>>& built_in_limits() {
  static const std::map<std::string, Limit, std::less<>> kLimits = {
      {"result.correct", built_in(1, "a kernel gives the result of its CPU reference")},
      {"shared.bank_conflicts", built_in(0, "a kernel has no bank conflicts")},
      {"spill.store_bytes", built_in(0, "a kernel spills no registers")},
      {"spill.load_bytes", built_in(0, "a kernel spills no registers")},
      {"local.sectors", built_in(0, "a kernel does not touch local memory")},
  };
  return kLimits;
}

const Limit* built_in_limit(std::string_view metric) {
  const auto found = built_in_limits().find(metric);
  return found == built_in_limits().end() ? nullptr : &found->second;
}

}  // namespace warpgauge::metrics
