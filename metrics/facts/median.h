// The median of times, and how sure it is.
#pragma once

#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge::metrics {

/// The median of some values with its confidence interval, in the unit of the values.
struct MedianEstimate {
  double median = 0;
  /// Of at least 95 % confidence, for independent values whose number was fixed beforehand: two of
  /// the values themselves, by the binomial distribution of
  /// how many of them lie below the true median, for any distribution of the values. With fewer
  /// than 6 values no interval is that sure: it is then from the least to the largest.
  Interval interval;
  int samples = 0;

  /// The larger distance from the median to an end of the interval, as a fraction of the median.
  double spread() const;
};

/// Throws std::invalid_argument without any value.
MedianEstimate estimate_median(std::vector<double> values);

}  // namespace warpgauge::metrics
