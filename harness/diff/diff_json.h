// A diff as JSON, warpgauge.diff/1. Members that say nothing are absent.
//
// { schema, kind: "values" | "counts", exit_code, headline,
//   a, b: { file, origin (text for people), runs: [ids], commits: [12 digits, "+": with changes] },
//
//   of values of two runs:
//   marks: { worse, lost, moved, changed, better, new, gone, unsure, same },  kernels by mark
//   causes: [ { cause?, worse, moved, changed, better } ],  kernels; without a cause: a case fails
//   kernels: [ the worst first, without those that are the same:
//     { name, mark, cases (sizes on architectures),
//       facts: [ of each topic and mark, the gravest first: { topic, values (so many moved),
//                told (true: people are shown it), and the members of a change without its lines,
//                but file? and line? } ] } ],
//   values: { as marks },  those that can be judged, by mark
//   changes: [ the worst first, without those that are the same:
//     { id, arch?, kernel?, kernel_before?,  of compiled files: the names in B and, another, in A
//       gpu?, metric, unit, class, mark, a?, b?, relative?, cause?, details?, reason?,
//       lines?: [ those that moved most first: { file?, line?, kernel?, mark, a?, b? } ] } ]
//
//   of counts of two sources:
//   total, families { name }: { cases, lines, whole_cases: { compared,
//     exact, predicted, estimate: { equal, different } } },
//   left_out: { only_in_a, only_in_b, other_code, without_lines: [ "id on arch" ] },
//   differences: [ exact ones first, of those the largest:
//     { id, arch?, kernel?, file?, line?, metric, a, b, confidence, confidence_reason? } ] }
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "harness/diff/agreement.h"
#include "harness/diff/difference.h"
#include "harness/diff/kernel_changes.h"
#include "harness/diff/same_kernels.h"
#include "harness/files/json_document.h"

namespace warpgauge::diff {

/// A side as it was given.
struct SideName {
  std::filesystem::path file;
  std::string origin;
  std::vector<std::string> runs;
  std::set<std::string> commits;
};

/// Adds all members of a result but those of the whole document.
void add_changes(files::JsonDocument& json, const std::vector<Change>& changes,
                 const std::vector<KernelChanges>& kernels, const KernelsOfCases& names);
void add_comparison(files::JsonDocument& json, const CountComparison& comparison);

/// The whole document; `add_result` is one of the functions above.
void write_diff_json(std::ostream& out, const SideName& a, const SideName& b, int exit_code,
                     const std::function<void(files::JsonDocument&)>& add_result);

}  // namespace warpgauge::diff
