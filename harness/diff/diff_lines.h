// The source lines behind a value that changed.
#pragma once

#include <optional>
#include <vector>

#include "harness/diff/change_kind.h"
#include "harness/diff/compared_facts.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::diff {

/// One source line's contribution; nullopt: nothing was counted there.
struct LineChange {
  LineKey place;
  ChangeKind kind = ChangeKind::same;
  std::optional<double> a, b;
};

/// The lines of a value in both runs, those that moved most first. A line that only has another
/// number is the same: of one kernel and file, in order, what is gone and what is new with the same
/// value.
std::vector<LineChange> line_changes(LineValues a, LineValues b, const metrics::Metric& metric);

}  // namespace warpgauge::diff
