// A run whose facts are kept in this process, to be judged as a whole at its end.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "harness/outcome/outcome.h"
#include "metrics/fact.h"

namespace warpgauge::outcome {

class RecordedRun {
 public:
  /// Facts are appended to `facts`, if that is not empty. Throws metrics::FactError.
  RecordedRun(metrics::Run run, const std::filesystem::path& facts);

  void add_device(const metrics::Device& device);
  /// Keeps judged facts, and writes them.
  void add(std::vector<metrics::Fact> facts);
  /// Works out the outcome, ends the run in the file of facts, and writes results.json to
  /// `results`, if that is not empty. The outcome is never better than `least`, with which the
  /// program ends for reasons that are no values.
  std::unique_ptr<Outcome> end(OutcomeOptions options, const std::filesystem::path& results,
                               ExitCode least = kWithinBudget);

 private:
  metrics::StoredRun run_;
  std::unique_ptr<metrics::FactWriter> writer_;
};

/// The end record of an outcome.
metrics::RunEnd end_of(const Outcome& outcome);

/// Writes results.json, whole or not at all. Throws std::system_error.
void write_results(const Outcome& outcome, const std::filesystem::path& path,
                   bool every_value = false);

}  // namespace warpgauge::outcome
