// The table of metrics as metrics/facts/catalog.toml has it, whose head explains the columns.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/facts/metric.h"

namespace warpgauge::metrics {

/// The rows that are not written down: those of hardware counters by their names.
struct CounterForm {
  std::string_view pattern;  ///< for names: a regular expression of ECMAScript and of Python
  std::size_t longest = 0;
  std::vector<std::pair<std::string_view, std::string_view>> units;  ///< by what a name ends with
  Metric row;  ///< without what depends on the name
};

struct Catalog {
  std::deque<std::string> texts;  ///< the rows point into these
  std::vector<Metric> metrics;
  CounterForm counter;
};

/// Throws CatalogError, which begins with `path`, line and column.
Catalog parse_catalog(std::string_view text, std::string_view path);

/// The table of this program, read when it is first asked for; it stays until the program ends.
const Catalog& built_in_catalog();

}  // namespace warpgauge::metrics
