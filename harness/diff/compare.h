// The command that compares the counts of two runs, source line by source line: what the emulator
// says against what a GPU counted.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "metrics/confidence.h"
#include "metrics/fact.h"

namespace warpgauge::diff {

struct CompareOptions {
  std::filesystem::path a, b;  ///< two files of facts
  std::string filter;          ///< glob over case ids; empty: all
  std::filesystem::path json;  ///< gets the result as JSON; empty: no file
  bool require_all = false;    ///< a case that cannot be compared is an error
};

/// A source line of a kernel of a case, or the case as a whole, without kernel, file and line.
struct Place {
  metrics::CaseId id;
  std::string arch;
  metrics::Scope scope = metrics::Scope::whole_case;
  std::string kernel, file;
  int line = 0;

  bool is_whole_case() const { return scope == metrics::Scope::whole_case; }
  auto operator<=>(const Place&) const = default;
};

/// A count that is not the same on both sides, and how sure the less sure side was of it.
struct Difference {
  Place place;
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

struct FactComparison {
  std::map<std::string, FamilyAgreement> families;
  std::vector<Difference> differences;  ///< exact ones first, of those the largest
  /// Cases that were not compared, as "id on arch": counted on one side only, or the machine code
  /// is not the same.
  std::vector<std::string> only_in_a, only_in_b, other_code;

  FamilyAgreement total() const;
  std::size_t left_out() const { return only_in_a.size() + only_in_b.size() + other_code.size(); }
  /// Whether counts differ that both sides call exact.
  bool is_refuted() const { return !differences.empty() && is_exact(differences.front()); }
  static bool is_exact(const Difference& difference) {
    return difference.trust.confidence == metrics::Confidence::exact;
  }
};

/// Compares the counts of the memory system of the cases and architectures that both sides have
/// counted and whose machine code is the same (as far as its hash is known), line by line and as a
/// whole; instructions and branches only of cases of which both sides know them exactly. A line
/// that only one side has is 0 on the other, and as exact as any other 0 of a side that does not
/// say otherwise. Of several runs of a case in a file the last one counts. Throws
/// metrics::FactError for a case that was counted in part.
FactComparison compare(const std::vector<metrics::StoredRun>& a,
                       const std::vector<metrics::StoredRun>& b, const std::string& filter);

/// Reads both files, prints the comparison and writes it. Returns the exit code: 0 where no count
/// differs that both sides call exact, 1 where one does, 3 where all cases were to be compared and
/// some could not be. Throws metrics::FactError, and
/// std::runtime_error where the files have nothing in common.
int compare_facts(const CompareOptions& options);

}  // namespace warpgauge::diff
