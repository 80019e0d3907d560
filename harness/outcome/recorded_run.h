// A run whose facts are kept in this process, to be judged as a whole at its end.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/outcome/outcome.h"
#include "metrics/facts/fact.h"

namespace warpgauge::outcome {

/// The part of the written facts that is kept in memory.
enum class Kept {
  all,
  judged,  ///< values that no budget judges are only counted: of a run with very many values
};

class RecordedRun {
 public:
  /// Facts are appended to `facts`, if that is not empty. Throws metrics::FactError.
  RecordedRun(metrics::Run run, const std::filesystem::path& facts, Kept kept = Kept::all);

  void add_device(const metrics::Device& device);
  /// Keeps judged facts, and writes them. Those of a case come together.
  void add(std::vector<metrics::Fact> facts);
  /// Works out the outcome, ends the run in the file of facts, and writes results.json to
  /// `results`, if that is not empty. The outcome is never better than `least`, with which the
  /// program ends for reasons that are no values.
  std::unique_ptr<Outcome> end(OutcomeOptions options, const std::filesystem::path& results,
                               ExitCode least = kWithinBudget);

 private:
  void forget_unbudgeted(std::vector<metrics::Fact>& facts);

  metrics::StoredRun run_;
  Kept kept_;
  std::map<std::string, int> unbudgeted_;  ///< forgotten values of whole cases, by family
  std::unique_ptr<metrics::FactWriter> writer_;
};

/// The end record of an outcome.
metrics::RunEnd end_of(const Outcome& outcome);

/// Writes results.json, whole or not at all. Throws std::system_error.
void write_results(const Outcome& outcome, const std::filesystem::path& path,
                   bool every_value = false);

}  // namespace warpgauge::outcome
