// Rows of the table of metrics that are not written down: hardware counters by their names.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {

inline constexpr std::string_view kCounterPrefix = "counter.";
/// The shape of a counter's name, as a regular expression of ECMAScript and of Python: a unit of
/// the chip, "__", a quantity and a rollup ("sm__inst_executed.sum.per_second").
inline constexpr std::string_view kCounterPattern =
    R"([A-Za-z][A-Za-z0-9_.]*__[A-Za-z0-9_]+(\.[a-z0-9_]+)+)";

/// Endings of names and the units of their values. The last row holds for all other names.
inline constexpr std::pair<std::string_view, std::string_view> kCounterUnits[] = {
    {".ratio", "ratio"},
    {".max_rate", "ratio"},
    {".pct", "per cent"},
    {".per_second", "counts/s"},
    {".per_cycle_active", "counts/cycle"},
    {".per_cycle_elapsed", "counts/cycle"},
    {".per_cycle_in_frame", "counts/cycle"},
    {".per_cycle_in_region", "counts/cycle"},
    {".pct_of_peak_sustained_active", "% of peak"},
    {".pct_of_peak_sustained_elapsed", "% of peak"},
    {".pct_of_peak_sustained_frame", "% of peak"},
    {".pct_of_peak_sustained_region", "% of peak"},
    {"", "counts"},
};

/// The row of "counter.NAME", or nullptr if `id` has another shape. The same id gives the same row
/// until the program ends.
const Metric* find_counter(std::string_view id);

}  // namespace warpgauge::metrics
