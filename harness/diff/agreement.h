// How far the counts of two sources agree, source line by source line: those of the emulator with
// those of a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "metrics/facts/confidence.h"
#include "metrics/facts/fact.h"

namespace warpgauge::diff {

/// A source line of a kernel of a case, or the case as a whole, without kernel, file and line.
struct CountedLine {
  metrics::CaseId id;
  std::string arch;
  metrics::Scope scope = metrics::Scope::whole_case;
  std::string kernel, file;
  int line = 0;

  bool is_whole_case() const { return scope == metrics::Scope::whole_case; }
  auto operator<=>(const CountedLine&) const = default;
};

/// A count that differs between the sides.
struct CountDifference {
  CountedLine place;
  std::string metric;
  double a = 0, b = 0;
  metrics::Trust trust;  ///< of the less sure side
};

/// The number of places where all counts are equal, and where some differ. The confidence of a
/// place is that of its least sure count, or exact if exact counts differ.
struct Agreement {
  std::array<std::size_t, 3> equal{}, different{};  ///< index: Confidence

  std::size_t total() const;
  Agreement& operator+=(const Agreement& other);
};

struct FamilyAgreement {
  std::size_t cases = 0;  ///< times architectures
  Agreement lines, whole_cases;

  FamilyAgreement& operator+=(const FamilyAgreement& other);
};

struct CountComparison {
  std::map<std::string, FamilyAgreement> families;
  std::vector<CountDifference> differences;  ///< by confidence, the surest first, then by size
  /// Cases that were not compared, as "id on arch": they were counted on one side only, or their
  /// machine code differs.
  std::vector<std::string> only_in_a, only_in_b, other_code;
  /// Cases that were compared only as a whole, because one side has no lines.
  std::vector<std::string> without_lines;

  FamilyAgreement total() const;
  std::size_t left_out() const { return only_in_a.size() + only_in_b.size() + other_code.size(); }
  /// Whether a count differs that both sides call exact.
  bool is_refuted() const { return !differences.empty() && is_exact(differences.front()); }
  static bool is_exact(const CountDifference& difference) {
    return difference.trust.confidence == metrics::Confidence::exact;
  }
};

/// Compares the counts of the cases that both sides have, on each architecture.
/// - Cases are compared if their machine code is the same, as far as its hash is known.
/// - They are compared line by line and as a whole; only as a whole if one side has no lines.
/// - A line that only one side has is 0 on the other: exact, unless that side says otherwise.
/// - Instructions and branches are compared only where both sides are exact.
/// - If a file has several runs of a case, the last one is compared.
/// Throws metrics::FactError for a case that was counted in part.
CountComparison compare_counts(const std::vector<metrics::StoredRun>& a,
                               const std::vector<metrics::StoredRun>& b);

/// The sources that counted the memory accesses of whole cases.
std::set<std::string> counters_of_memory(const std::vector<metrics::StoredRun>& runs);

/// True if both sides have sources, and none in common.
bool are_other_counters(const std::set<std::string>& a, const std::set<std::string>& b);

}  // namespace warpgauge::diff
