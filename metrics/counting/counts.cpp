// Counts: adding them up, and the metrics that follow from them.
#include "metrics/counting/counts.h"

#include <cmath>

#include "metrics/counting/count_formula.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {
namespace {

struct CountedMetric {
  std::string_view id;
  bool is_of_line;
  CountFormula formula;
};

/// The metrics whose formulas are of counts.
const std::vector<CountedMetric>& counted_metrics() {
  static const auto kMetrics = [] {
    std::vector<CountedMetric> counted;
    for (const Metric& row : catalog()) {
      if (row.source != Source::sass && row.source != Source::emulator) continue;
      counted.push_back({row.id, row.is_of_line, CountFormula(row.formula)});
    }
    return counted;
  }();
  return kMetrics;
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  for (const auto& [name, member] : kCountMembers) this->*member += other.*member;
  return *this;
}

MetricValues metric_values(const Counts& counts) {
  MetricValues values;
  for (const auto& [id, is_of_line, formula] : counted_metrics()) {
    const double value = formula(counts);
    if (!is_of_line && std::isfinite(value)) values.emplace_back(id, value);
  }
  return values;
}

MetricValues line_metric_values(const Counts& counts) {
  MetricValues values;
  for (const auto& [id, is_of_line, formula] : counted_metrics()) {
    if (!is_of_line) continue;
    const double value = formula(counts);
    values.emplace_back(id, std::isfinite(value) ? value : 0);
  }
  return values;
}

std::uint64_t copies_left_out(const Counts& counts, std::string_view metric) {
  if (metric.starts_with("global.load.")) return counts.bulk_load_instructions;
  if (metric.starts_with("global.store.")) return counts.bulk_store_instructions;
  if (!metric.starts_with("global.") || metric.starts_with("global.atomic.")) return 0;
  return counts.bulk_load_instructions + counts.bulk_store_instructions;
}

}  // namespace warpgauge::metrics
