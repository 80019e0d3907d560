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

/// A count that is not the same on both sides, and how sure the less sure side was of it.
struct CountDifference {
  CountedLine place;
  std::string metric;
  double a = 0, b = 0;
  metrics::Trust trust;
};

/// How many places have the same counts, and how many do not, by the confidence of the least sure
/// count; a place where counts differ that both sides call exact is an exact one that differs.
struct Agreement {
  std::array<std::size_t, 3> equal{}, different{};  ///< index: Confidence

  std::size_t total() const;
  Agreement& operator+=(const Agreement& other);
};

struct FamilyAgreement {
  std::size_t cases = 0;  ///< times architectures
  Agreement lines, whole_cases;
};

struct CountComparison {
  std::map<std::string, FamilyAgreement> families;
  std::vector<CountDifference> differences;  ///< exact ones first, of those the largest
  /// Cases that were not compared, as "id on arch": counted on one side only, or the machine code
  /// is not the same.
  std::vector<std::string> only_in_a, only_in_b, other_code;
  /// Cases that were compared as a whole only: one side did not say on which lines it counted.
  std::vector<std::string> without_lines;

  FamilyAgreement total() const;
  std::size_t left_out() const { return only_in_a.size() + only_in_b.size() + other_code.size(); }
  /// Whether counts differ that both sides call exact.
  bool is_refuted() const { return !differences.empty() && is_exact(differences.front()); }
  static bool is_exact(const CountDifference& difference) {
    return difference.trust.confidence == metrics::Confidence::exact;
  }
};

/// Compares the counts of the memory system of the cases and architectures that both sides have
/// counted and whose machine code is the same (as far as its hash is known), line by line and as a
/// whole, or only as a whole where one side has counts but no lines; instructions and branches only
/// of cases for which both sides are exact. A line that only one side has is 0 on the other, and as
/// exact as any other 0 of a side that does not say otherwise. Of several runs of a case in a file
/// the last one counts. Throws metrics::FactError for a case that was counted in part.
CountComparison compare_counts(const std::vector<metrics::StoredRun>& a,
                               const std::vector<metrics::StoredRun>& b);

/// The sources of counts of the memory system.
std::set<std::string> counters_of_memory(const std::vector<metrics::StoredRun>& runs);

/// True where both sides have such, and none in common.
bool are_other_counters(const std::set<std::string>& a, const std::set<std::string>& b);

}  // namespace warpgauge::diff
