// One side of a diff: what a file of facts says, and of each value the newest.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/cases/selection.h"
#include "metrics/facts/fact.h"

namespace warpgauge::diff {

/// A value with the run that it belongs to.
struct ComparedValue {
  const metrics::Fact* fact;
  const metrics::Run* run;

  bool failed() const { return fact->verdict == metrics::Verdict::error; }
  bool is_measured() const { return fact->value.index() != 0; }
  const double* number() const { return std::get_if<double>(&fact->value); }
  /// The device that ran the case; `name` is empty for compile-time values.
  metrics::Device device() const;
  /// The GPU that a noisy value is from: the hash of its UUID, or its name. Empty for an exact
  /// value, which is the same on all GPUs of an architecture.
  std::string gpu() const;
};

/// A metric of a case on an architecture; a noisy one on a GPU.
struct Key {
  std::string id, arch, metric, gpu;
  auto operator<=>(const Key&) const = default;
};

/// A source line of a kernel.
struct LineKey {
  std::string kernel, file;
  int line = 0;
  auto operator<=>(const LineKey&) const = default;
};
using LineValues = std::map<LineKey, double>;

struct ComparedFacts {
  /// Each value is the newest that was measured or is an error, else the newest that says why there
  /// is none. An error counts more than a value of the same run.
  std::map<Key, ComparedValue> values;
  /// The lines of each value, of the run that the value is from.
  std::map<Key, LineValues> lines;
};

/// The newest values of these runs, which must outlive them.
ComparedFacts newest_of(const std::vector<metrics::StoredRun>& runs);

/// A case on an architecture: its id and the architecture.
using CaseKey = std::pair<std::string, std::string>;
CaseKey case_of(const metrics::Fact& fact);

/// A file of facts, of which as many cases are read at a time as are asked for.
class ComparedFile {
 public:
  /// Throws metrics::FactError.
  explicit ComparedFile(const std::filesystem::path& path) : path_(path), reader_(path) {}

  /// The selected cases, large or not, as facts without value; those on architectures of these
  /// names or globs (none: on all). Throws metrics::FactError, and std::runtime_error where there
  /// are none.
  std::vector<metrics::Fact> cases(const Selection& selection,
                                   const std::vector<std::string>& archs);
  /// The runs with the facts of those that are wanted. Throws metrics::FactError, and
  /// std::runtime_error where two values of one time differ.
  std::vector<metrics::StoredRun> read(const std::function<bool(const CaseKey&)>& wanted);

 private:
  std::filesystem::path path_;
  metrics::FactReader reader_;
};

/// Where runs come from.
class Origin {
 public:
  /// Runs again, too, with other facts.
  void add(const std::vector<metrics::StoredRun>& runs);
  /// Commits, devices, toolkits, sources and times, on one line.
  std::string text() const;
  /// Twelve digits of each, and "+" where it had uncommitted changes.
  const std::set<std::string>& commits() const { return commits_; }
  /// The ids of those with facts, in their order.
  std::vector<std::string> runs() const;

 private:
  std::set<std::string> commits_, devices_, toolkits_, sources_, times_;
  std::vector<std::string> runs_;     ///< all of them
  std::set<std::string> with_facts_;  ///< the runs that have facts
  bool is_torn_ = false;
};

}  // namespace warpgauge::diff
