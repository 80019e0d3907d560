#include "harness/run_facts.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "harness/comparison.h"
#include "harness/device_code.h"
#include "harness/devices.h"
#include "harness/launch_log.h"
#include "harness/nvtx_range.h"
#include "harness/source_root.h"
#include "metrics/catalog.h"
#include "metrics/cubin.h"
#include "metrics/cuda_error.h"

namespace warpgauge {
namespace {

using metrics::Fact;

/// Launches the variant inside its NVTX range and reports a launch that was refused.
void launch(const Case& one, Problem& problem) {
  const NvtxRange range(one.id.str());
  one.launch(problem);
  WARPGAUGE_CUDA(cudaGetLastError());
}

/// A fact of the case without metric and value.
Fact blank_fact(const Case& one, const std::string& arch) {
  return {.id = one.id, .arch = arch, .file = relative_to_root(one.file), .line = one.line};
}

Fact with_value(Fact fact, std::string_view metric, metrics::Value value) {
  fact.metric = metric;
  fact.value = std::move(value);
  return fact;
}

/// `fact` with the blame put on a line; code without line information leaves it where it was.
Fact on_line(Fact fact, const metrics::LineCounts& line) {
  fact.kernel = line.kernel;
  if (line.file.empty()) return fact;
  fact.file = relative_to_root(line.file);
  fact.line = line.line;
  return fact;
}

/// The values a line answers, with the one that belongs to lines alone.
std::map<std::string_view, double> values_of_line(const metrics::LineCounts& line) {
  const auto pairs = metrics::metric_values(line.counts);
  std::map<std::string_view, double> values(pairs.begin(), pairs.end());
  values["shared.bank_ways"] = metrics::bank_ways(line.counts);
  return values;
}

/// The facts of the case that `lines` make up, then those of the lines.
std::vector<Fact> counted_facts(const std::vector<metrics::LineCounts>& lines, Fact counted) {
  counted.source = "cupti";
  counted.confidence = "exact";
  metrics::Counts total;
  double ways = 0;
  std::vector<std::map<std::string_view, double>> line_values;
  for (const metrics::LineCounts& line : lines) {
    total += line.counts;
    line_values.push_back(values_of_line(line));
    ways = std::max(ways, line_values.back().at("shared.bank_ways"));
  }
  auto values = metrics::metric_values(total);
  if (ways > 0) values.emplace_back("shared.bank_ways", ways);

  std::vector<Fact> facts;
  for (const auto& [metric, value] : values) {
    Fact fact = with_value(counted, metric, value);
    double most = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {  // blame the line that has most of it
      const auto found = line_values[i].find(metric);
      if (found == line_values[i].end() || found->second <= most) continue;
      most = found->second;
      fact = on_line(std::move(fact), lines[i]);
    }
    facts.push_back(std::move(fact));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const auto& [metric, value] : line_values[i]) {
      if (value == 0) continue;
      facts.push_back(on_line(with_value(counted, metric, value), lines[i]));
      facts.back().scope = metrics::Scope::line;
    }
  }
  return facts;
}

/// What should have been counted, for it has a budget, and was not.
std::vector<Fact> unmeasured_counts(const Fact& blank, const std::string& reason,
                                    const metrics::Budgets& budgets) {
  std::vector<Fact> facts;
  for (const metrics::Metric& metric : metrics::catalog()) {
    if (metric.source != metrics::Source::sass) continue;
    if (budgets.find(blank.id, blank.arch, metric.id) == nullptr) continue;
    facts.push_back(with_value(blank, metric.id, {}));
    facts.back().reason = reason;
  }
  return facts;
}

/// The same where not even the result is known.
std::vector<Fact> unmeasured_facts(const Fact& blank, const std::string& reason,
                                   const metrics::Budgets& budgets) {
  std::vector<Fact> facts = unmeasured_counts(blank, reason, budgets);
  facts.insert(facts.begin(), with_value(blank, "result.correct", {}));
  facts[0].reason = reason;
  return facts;
}

std::string hash_of(const std::string& kernel, const std::string& arch) {
  const EmbeddedCubin* cubin = find_cubin(kernel, arch);
  return cubin == nullptr ? "" : metrics::Cubin(cubin->image).sass_hash(kernel);
}

}  // namespace

Meter::Meter(bool use_cupti) {
  device_ = current_device(&no_device_);
  if (!device_) {
    no_counters_ = no_device_;
    return;
  }
  if (!use_cupti) {
    no_counters_ = "CUPTI was switched off";
    return;
  }
  try {
    sass_.emplace();
    device_->chip = metrics::current_chip();
  } catch (const metrics::Unmeasured& unmeasured) {
    no_counters_ = unmeasured.what();
  }
}

std::string Meter::arch() const { return device_ ? arch_of(*device_) : ""; }

std::vector<metrics::LineCounts> Meter::launch_counted(const Case& one, Problem& problem,
                                                       std::string* not_counted) {
  problem.reset();
  *not_counted = no_counters_;
  if (sass_) {
    try {
      return sass_->count([&] { launch(one, problem); });
    } catch (const metrics::Unmeasured& unmeasured) {
      *not_counted = unmeasured.what();
      problem.reset();  // it may have been launched, or not
    }
  }
  launch(one, problem);
  WARPGAUGE_CUDA(cudaDeviceSynchronize());
  return {};
}

std::vector<Fact> Meter::run(const Case& one, const metrics::Budgets& budgets) {
  Fact blank = blank_fact(one, arch());
  if (!no_device_.empty()) return unmeasured_facts(blank, no_device_, budgets);
  try {
    const std::unique_ptr<Problem> problem = one.make_problem();
    const LaunchLog log(LaunchLog::Mode::record);
    std::string not_counted;
    const std::vector<metrics::LineCounts> lines = launch_counted(one, *problem, &not_counted);

    Comparison comparison;
    problem->check(comparison);
    if (!comparison.compared()) return {error_fact(one, "its check compares nothing")};
    if (!comparison.passed()) return {error_fact(one, "wrong result: " + comparison.failure())};
    if (!log.launches().empty()) {
      blank.launch = log.launches().front().launch;
      blank.kernel = log.launches().front().kernel;
      blank.sass_hash = hash_of(blank.kernel, blank.arch);
    }
    std::vector<Fact> facts = {with_value(blank, "result.correct", 1.0)};
    facts[0].source = "harness";
    facts[0].confidence = "exact";
    std::ranges::copy(not_counted.empty() ? counted_facts(lines, blank)
                                          : unmeasured_counts(blank, not_counted, budgets),
                      std::back_inserter(facts));
    return facts;
  } catch (const metrics::CudaError& error) {
    // After most errors the context is gone for good; asking is how one finds out.
    broken_ = cudaDeviceSynchronize() != cudaSuccess;
    return {error_fact(one, error.what())};
  }
}

Fact error_fact(const Case& one, std::string reason) {
  Fact fact = with_value(blank_fact(one, ""), "result.correct", {});
  fact.source = "harness";
  fact.verdict = metrics::Verdict::error;
  fact.reason = std::move(reason);
  return fact;
}

std::vector<Fact> bounded_facts(const std::vector<const Case*>& cases, const std::string& arch) {
  constexpr int kRounds = 5;
  metrics::RangeProfiler profiler;
  std::vector<std::unique_ptr<Problem>> problems;
  std::vector<metrics::RangeItem> items;
  for (const Case* one : cases) {
    Problem* problem = problems.emplace_back(one->make_problem()).get();
    items.push_back({.name = one->id.str(),
                     .prepare = [problem] { problem->reset(); },
                     .launch = [one, problem] { launch(*one, *problem); }});
  }
  const auto measured = profiler.measure(items, kRounds);
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const auto& [metric, value] : measured.at(i)) {
      Fact fact = with_value(blank_fact(*cases[i], arch), metric, value);
      fact.source = "cupti";
      fact.confidence = "estimate";
      facts.push_back(std::move(fact));
    }
  }
  return facts;
}

}  // namespace warpgauge
