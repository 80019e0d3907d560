// What became of each kernel between two runs, over its sizes and architectures. Texts and counts
// of a diff are of kernels.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/diff/difference.h"
#include "harness/diff/same_kernels.h"

namespace warpgauge::diff {

/// Values that move together, such as bank conflicts and wavefronts: one fact of a kernel.
struct FactChange {
  std::string_view topic;  ///< "shared"
  const Change* gravest;   ///< its value that says most
  std::size_t values = 1;  ///< of the topic that moved to this side, in all cases
  bool told = false;       ///< one display has room for it
};

/// One kernel: a variant of a family with its types, or the instances of a template of compiled
/// files.
struct KernelChanges {
  std::string name;                ///< "transpose.tiled.f32"
  ChangeKind kind;                 ///< the first of these that a value has: kKindsOfKernels
  std::vector<CaseChanges> cases;  ///< its sizes on its architectures, the worst first
  /// The gravest first: kinds in the order of kKindsOfKernels, each topic once of each kind.
  std::vector<FactChange> facts;

  /// True where only one run measured it.
  bool is_one_sided() const;
  /// What moved its gravest value; nullopt: not known, or a case that fails.
  std::optional<Cause> cause() const {
    return facts.empty() ? std::nullopt : facts.front().gravest->cause;
  }
};

/// A kernel that gained is better, though what explains it changed.
inline constexpr ChangeKind kKindsOfKernels[kChangeKinds] = {
    ChangeKind::worse, ChangeKind::lost, ChangeKind::better, ChangeKind::moved, ChangeKind::changed,
    ChangeKind::added, ChangeKind::same, ChangeKind::unsure, ChangeKind::gone};

/// "shared" for shared.wavefronts; what spills is of "local", what limits occupancy is of it.
std::string_view topic_of(std::string_view metric);

/// `changes` are sorted, and must outlive the kernels. The worst kernel first.
std::vector<KernelChanges> by_kernel(std::span<const Change> changes, const KernelsOfCases& names);

/// The number of kernels of each kind; index: ChangeKind.
KindCounts count_kinds(const std::vector<KernelChanges>& kernels);

/// The number of changed kernels of each kind by cause; nullopt: a case that fails.
using CauseCounts = std::map<std::optional<Cause>, KindCounts>;
CauseCounts count_causes(const std::vector<KernelChanges>& kernels);

/// "WORSE: 2 kernels worse, 1 better, 40 the same".
std::string headline(const std::vector<KernelChanges>& kernels);

}  // namespace warpgauge::diff
