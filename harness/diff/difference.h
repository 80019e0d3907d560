// Values that changed between two runs, with their causes. Nothing is judged here: a value is worse
// if it moved to the side that the catalog calls worse.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/diff/cause.h"
#include "harness/diff/compared_facts.h"
#include "harness/diff/diff_lines.h"
#include "metrics/base/shared_string.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::diff {

/// One metric of a case on an architecture in both runs.
struct Change {
  metrics::SharedString id, arch;
  metrics::SharedString gpu;  ///< name and hash, for noisy values
  const metrics::Metric* metric = nullptr;
  ChangeKind kind = ChangeKind::same;
  metrics::Value a, b;
  std::optional<double> relative;  ///< (b - a) / |a|
  std::optional<Cause> cause;      ///< set if it is worse, better, changed or moved
  std::vector<std::string> details;
  metrics::SharedString reason;  ///< why B has no value
  std::vector<LineChange> lines;
  bool other_code = false;  ///< the machine code of the case is not the same
  bool has_budget = false;  ///< either run judged it

  bool is_judged() const { return metric->cls != metrics::Class::info; }
  /// The line that moved most; nullptr where none did.
  const LineKey* moved_line() const {
    const bool moved = !lines.empty() && lines.front().kind != ChangeKind::same;
    return moved ? &lines.front().place : nullptr;
  }
};

/// The changes of every metric that a run measured, case by case. `noise` is the share of its value
/// in A by which a noisy one has to differ.
std::vector<Change> find_changes(const ComparedFacts& a, const ComparedFacts& b, double noise);

/// Sorts the worst case first, and in it the worst change.
void sort_worst_first(std::vector<Change>& changes);

/// True where `a` says more of what a change costs than `b`.
bool is_graver(const Change& a, const Change& b);

/// The number of changes of each kind among values that can be judged; index: ChangeKind.
using KindCounts = std::array<std::size_t, kChangeKinds>;
KindCounts count_kinds(std::span<const Change> changes);

/// The changes of one case on one architecture.
using CaseChanges = std::span<const Change>;
std::vector<CaseChanges> by_case(std::span<const Change> changes);

/// `lost` or `added` where only A or only B measured the case.
std::optional<ChangeKind> only_side(CaseChanges changes);

}  // namespace warpgauge::diff
