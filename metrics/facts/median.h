// The median of times, and how sure it is.
#pragma once

#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge::metrics {

/// The median of some values with its confidence interval, in the unit of the values.
struct MedianEstimate {
  double median = 0;
  /// The interval holds the true median with at least 95 % confidence, if the values are
  /// independent and their number was fixed beforehand. It lies between two of the values: the
  /// number of values below the true median is binomial, whatever their distribution. With fewer
  /// than 6 values no interval is that sure; it then spans all of them.
  Interval interval;
  int samples = 0;

  /// The larger distance from the median to an end of the interval, as a fraction of the median.
  double spread() const;
};

/// Estimates the median. Throws std::invalid_argument if `values` is empty.
MedianEstimate estimate_median(std::vector<double> values);

}  // namespace warpgauge::metrics
