// The command that shows the catalog of metrics and what chips can count of it.
#pragma once

#include <string>

namespace warpgauge {

/// Prints the catalog; for a `chip` also each CUPTI name with whether the chip has it, and the
/// number of passes; for "all" a line per chip. Returns the exit code: 3 where CUPTI is missing.
int show_metrics(const std::string& chip);

/// Prints the catalog as JSON, {"metrics": [{id, unit, direction, class, source, cupti_names,
/// meaning, good, cure}, ...]}: metrics/catalog.json, which programs in other languages read.
/// `direction` is "lower", "higher" or "none". Returns the exit code.
int print_metrics_as_json();

}  // namespace warpgauge
