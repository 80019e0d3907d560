// Formulas of the table of metrics whose names are counts.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/counting/counts.h"
#include "metrics/facts/formula.h"

namespace warpgauge::metrics {

class CountFormula {
 public:
  /// Throws CatalogError if one of the names is not a member of Counts.
  explicit CountFormula(const Formula& formula);

  /// The value of the formula, which is not finite where it divides by 0.
  double operator()(const Counts& counts) const;

 private:
  Formula formula_;
  std::vector<std::uint64_t Counts::*> members_;  // by the names of the formula
};

}  // namespace warpgauge::metrics
