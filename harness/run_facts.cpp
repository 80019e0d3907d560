#include "harness/run_facts.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
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

/// The values a line answers, with the one that belongs to lines alone.
std::map<std::string_view, double> values_of_line(const metrics::LineCounts& line) {
  const auto pairs = metrics::metric_values(line.counts);
  std::map<std::string_view, double> values(pairs.begin(), pairs.end());
  values["shared.bank_ways"] = metrics::bank_ways(line.counts);
  return values;
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

std::vector<Fact> Meter::run(const Case& one, const metrics::Budgets& budgets) {
  Fact blank = blank_fact(one, arch());
  std::vector<Fact> facts;
  std::string not_counted = no_counters_;
  try {
    if (no_device_.empty()) {
      const std::unique_ptr<Problem> problem = one.make_problem();
      problem->reset();
      const LaunchLog log(LaunchLog::Mode::record);
      launch(one, *problem);
      WARPGAUGE_CUDA(cudaDeviceSynchronize());
      Comparison comparison;
      problem->check(comparison);
      if (!comparison.compared()) return {error_fact(one, "its check compares nothing")};
      if (!comparison.passed()) return {error_fact(one, "wrong result: " + comparison.failure())};
      if (!log.launches().empty()) {
        blank.launch = log.launches().front().launch;
        blank.kernel = log.launches().front().kernel;
        blank.sass_hash = hash_of(blank.kernel, blank.arch);
      }
      facts.push_back(with_value(blank, "result.correct", 1.0));
      facts.back().source = "harness";
      facts.back().confidence = "exact";
      if (sass_) {
        try {
          const std::vector<Fact> counted = count(one, *problem, blank);
          facts.insert(facts.end(), counted.begin(), counted.end());
        } catch (const metrics::Unmeasured& unmeasured) {
          not_counted = unmeasured.what();
        }
      }
    } else {
      facts.push_back(with_value(blank, "result.correct", {}));
      facts.back().reason = no_device_;
    }
  } catch (const metrics::CudaError& error) {
    // After most errors the context is gone for good; asking is how one finds out.
    broken_ = cudaDeviceSynchronize() != cudaSuccess;
    return {error_fact(one, error.what())};
  }
  if (!not_counted.empty()) {
    for (const metrics::Metric& metric : metrics::catalog()) {
      if (metric.source != metrics::Source::sass) continue;
      if (budgets.find(one.id, blank.arch, metric.id) == nullptr) continue;
      facts.push_back(with_value(blank, metric.id, {}));
      facts.back().reason = not_counted;
    }
  }
  return facts;
}

std::vector<Fact> Meter::count(const Case& one, Problem& problem, const Fact& blank) {
  const std::vector<metrics::LineCounts> lines =
      sass_->count([&] { problem.reset(); }, [&] { launch(one, problem); });
  Fact counted = blank;
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
    // Blame the line that has most of it.
    double most = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto found = line_values[i].find(metric);
      if (found == line_values[i].end() || found->second <= most) continue;
      most = found->second;
      fact.kernel = lines[i].kernel;
      if (lines[i].file.empty()) continue;
      fact.file = relative_to_root(lines[i].file);
      fact.line = lines[i].line;
    }
    facts.push_back(std::move(fact));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const auto& [metric, value] : line_values[i]) {
      if (value == 0) continue;
      Fact fact = with_value(counted, metric, value);
      fact.scope = metrics::Scope::line;
      fact.kernel = lines[i].kernel;
      fact.file = relative_to_root(lines[i].file);
      fact.line = lines[i].line;
      facts.push_back(std::move(fact));
    }
  }
  return facts;
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
