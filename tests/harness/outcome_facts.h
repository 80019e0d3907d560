// Facts and outcomes for the tests of harness/outcome.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/outcome/outcome.h"
#include "harness/outcome/results_json.h"
#include "metrics/facts/fact.h"

namespace warpgauge::outcome {

inline metrics::Fact fact(metrics::Verdict verdict, std::string metric = "registers",
                          std::string variant = "tiled") {
  return {.id = {"transpose", std::move(variant), "f32", "64x64"},
          .metric = std::move(metric),
          .verdict = verdict};
}

inline metrics::Fact because(metrics::Fact one, std::string reason) {
  one.reason = std::move(reason);
  return one;
}

/// A value beyond `max`.
inline metrics::Fact beyond(double value, double max, std::string metric = "registers",
                            std::string variant = "tiled") {
  metrics::Fact one = fact(metrics::Verdict::fail, std::move(metric), std::move(variant));
  one.value = value;
  one.limit = metrics::Limit{.max = max, .origin = "budgets.toml:1"};
  one.file = "family.cu";
  one.line = 7;
  return one;
}

inline metrics::Fact on(metrics::Fact one, std::string arch, std::string size = "64x64") {
  one.arch = std::move(arch);
  one.id.size = std::move(size);
  return one;
}

inline metrics::Fact at(metrics::Fact one, std::string file, int line) {
  one.file = std::move(file);
  one.line = line;
  return one;
}

/// An exact count on sm_90.
inline metrics::Fact counted(std::string metric, double value, metrics::Verdict verdict,
                             std::string variant = "naive") {
  metrics::Fact count = on(fact(verdict, std::move(metric), std::move(variant)), "sm_90");
  count.value = value;
  count.confidence = "exact";
  return count;
}

/// The part that a source line has of a value.
inline metrics::Fact of_line(metrics::Fact one, int line, double value) {
  return {.id = one.id,
          .arch = one.arch,
          .metric = one.metric,
          .value = value,
          .scope = metrics::Scope::line,
          .file = "family.cu",
          .line = line};
}

inline metrics::StoredRun run_of(std::vector<metrics::Fact> facts, std::string id = "r1") {
  return {.run = {.id = std::move(id), .time = "2026-05-01T23:00:00Z"},
          .facts = std::move(facts),
          .end = metrics::RunEnd{}};
}

inline Outcome outcome_of(std::vector<metrics::Fact> facts, const Requirements& requirements = {},
                          std::vector<std::string> lost = {}) {
  std::vector<metrics::StoredRun> runs;
  runs.push_back(run_of(std::move(facts)));
  return Outcome(std::move(runs), {.requirements = requirements, .lost = std::move(lost)});
}

/// What results.json has of an outcome.
inline nlohmann::ordered_json results_json(const Outcome& outcome, bool every_value = false) {
  std::stringstream text;
  write_results_json(text, outcome, every_value);
  return nlohmann::ordered_json::parse(text);
}

}  // namespace warpgauge::outcome
