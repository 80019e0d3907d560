#include "harness/run_facts.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "harness/device_code.h"
#include "harness/devices.h"
#include "harness/files/source_root.h"
#include "harness/nvtx_range.h"
#include "harness/static_facts.h"
#include "metrics/cupti.h"
#include "metrics/hash.h"
#include "warpgauge/comparison.h"
#include "warpgauge/cuda_error.h"
#include "warpgauge/problem.h"

namespace warpgauge {
namespace {

using metrics::Fact;

Fact with_value(Fact fact, std::string_view metric, metrics::Value value) {
  fact.metric = metric;
  fact.value = std::move(value);
  return fact;
}

/// `fact` as one of `kernel`, with the shape of its launch and the hash of its code.
Fact of_kernel(Fact fact, const std::string& kernel, const std::vector<LaunchRecord>& launches) {
  fact.kernel = kernel;
  const auto launch = std::ranges::find(launches, kernel, &LaunchRecord::kernel);
  if (launch != launches.end()) fact.launch = launch->launch;
  fact.sass_hash = sass_hash(kernel, fact.arch);
  fact.source_hash = source_hash(kernel, fact.arch);
  return fact;
}

/// `fact` with the blame put on a line; code without line information leaves it where it was.
Fact on_line(Fact fact, const metrics::LineCounts& line,
             const std::vector<LaunchRecord>& launches) {
  fact = of_kernel(std::move(fact), line.kernel, launches);
  if (line.file.empty()) return fact;
  fact.file = relative_to_root(line.file);
  fact.line = line.line;
  return fact;
}

using LineValues = std::map<std::string_view, double>;

/// The values a line answers, with the one that belongs to lines alone.
LineValues values_of_line(const metrics::LineCounts& line) {
  const auto pairs = metrics::metric_values(line.counts);
  LineValues values(pairs.begin(), pairs.end());
  values["shared.bank_ways"] = metrics::bank_ways(line.counts);
  return values;
}

/// What `line` says of `metric`; 0 where it does not say.
double value_in(const LineValues& line, std::string_view metric) {
  const auto found = line.find(metric);
  return found == line.end() ? 0 : found->second;
}

/// A value is as sure as the least sure line, even one that counts nothing: its 0 may be wrong.
/// Of several the one that has most of it says why.
const metrics::Trust& trust_in_sum(const std::vector<metrics::LineCounts>& lines,
                                   const std::vector<LineValues>& values, std::string_view metric) {
  static const metrics::Trust kExact;
  const metrics::Trust* worst = &kExact;
  double most = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const metrics::Trust& trust = metrics::trust_in(lines[i], metric);
    const double value = value_in(values[i], metric);
    if (trust.confidence < worst->confidence) continue;
    if (trust.confidence == worst->confidence && value <= most) continue;
    worst = &trust;
    most = value;
  }
  return *worst;
}

Fact trusted(Fact fact, const metrics::Trust& trust) {
  fact.confidence = to_string(trust.confidence);
  fact.confidence_reason = trust.reason;
  return fact;
}

/// How far the results were from the reference; nothing if they had to be equal.
std::vector<Fact> error_facts(const Errors& errors, const Fact& correct) {
  std::vector<Fact> facts;
  if (errors.count == 0) return facts;
  facts.push_back(with_value(correct, "result.max_error", errors.max_scaled));
  facts.push_back(with_value(correct, "result.mean_absolute_error", errors.mean_absolute()));
  if (errors.relative_count > 0) {
    facts.push_back(with_value(correct, "result.mean_relative_error", errors.mean_relative()));
  }
  return facts;
}

std::string names_of(const std::vector<LaunchRecord>& launches) {
  std::string names;
  for (const auto& [kernel, launch] : launches) {
    names += fmt::format("{}{} <<<({}), ({}), {}>>> x {}", names.empty() ? "" : ", ", kernel,
                         fmt::join(launch.grid, ","), fmt::join(launch.block, ","),
                         launch.dynamic_shared_bytes, launch.count);
  }
  return names.empty() ? "nothing" : names;
}

/// What the error says, and `fault`, if anything is known of it: then nobody needs the advice to
/// look for it with another tool.
std::string with_fault(const metrics::CudaError& error, const std::string& fault) {
  std::string text = error.what();
  if (fault.empty()) return text;
  const std::string advice = fmt::format(". {}", metrics::cuda_remedy(error.code()));
  if (text.ends_with(advice)) text.erase(text.size() - advice.size());
  return text + "; " + fault;
}

}  // namespace

Meter::Meter(bool use_counters) {
  device_ = current_device(&no_device_);
  if (!device_) {
    no_counters_ = no_device_;
    return;
  }
  if (!use_counters) {
    no_counters_ = "CUPTI was switched off";
    return;
  }
  try {
    counter_ = make_line_counter();
    device_->chip = chip_name();
  } catch (const metrics::Unmeasured& unmeasured) {
    no_counters_ = unmeasured.what();
  }
}

std::string Meter::arch() const { return device_ ? arch_of(*device_) : ""; }

Meter::Launched Meter::launch_once(const Case& one, Problem& problem) {
  std::string not_counted = no_counters_;
  if (counter_ && one.counted) {
    try {
      problem.reset();
      const LaunchLog log(LaunchLog::Mode::record);
      auto lines = counter_->count([&] { launch_in_range(one, problem); });
      need_counts_of_all(log.launches(), lines);
      return {log.launches(), std::move(lines), ""};
    } catch (const metrics::Unmeasured& unmeasured) {
      not_counted = unmeasured.what();
    }
  }
  problem.reset();
  const LaunchLog log(LaunchLog::Mode::record);
  launch_in_range(one, problem);
  WARPGAUGE_CUDA(cudaDeviceSynchronize());
  return {log.launches(), {}, not_counted};
}

std::vector<Fact> Meter::measure(const Case& one, const metrics::Budgets& budgets) {
  const auto expected = one.counted ? dry_launches(one) : std::vector<LaunchRecord>();
  const std::unique_ptr<Problem> problem = one.make_problem();
  const Launched run = launch_once(one, *problem);
  if (one.counted && names_of(run.launches) != names_of(expected)) {
    return {error_fact(one,
                       fmt::format("its launches depend on the device: {} here, but {} in a "
                                   "dry run, which compile-time budgets are held against",
                                   names_of(run.launches), names_of(expected)),
                       arch())};
  }
  Comparison comparison;
  problem->check(comparison);
  if (!comparison.compared() && !comparison.is_counts_only()) {
    return {error_fact(one, "its check compares nothing; counts_only() says that this is meant",
                       arch())};
  }
  if (!comparison.passed()) {
    return {error_fact(one, "wrong result: " + comparison.failure(), arch())};
  }

  Fact blank = blank_fact(one, arch());
  if (!run.launches.empty()) {
    blank = of_kernel(std::move(blank), run.launches.front().kernel, run.launches);
  }
  std::vector<Fact> facts = {with_value(blank, "result.correct", 1.0)};
  facts[0].source = "harness";
  facts[0].confidence = "exact";
  std::ranges::move(error_facts(comparison.errors(), facts[0]), std::back_inserter(facts));
  if (!one.counted) return facts;
  std::string reason = run.not_counted;
  if (reason.empty()) {
    std::ranges::move(counted_facts(run.lines, run.launches, blank, counts_source()),
                      std::back_inserter(facts));
    reason = "no access was made that it could be told from";
  }
  std::ranges::move(missing_facts(facts, metrics::Source::sass, blank, reason, budgets),
                    std::back_inserter(facts));
  return facts;
}

std::vector<Fact> Meter::run(const Case& one, const metrics::Budgets& budgets) {
  if (!no_device_.empty()) {
    const Fact blank = blank_fact(one, "");
    std::vector<Fact> facts = missing_facts({}, metrics::Source::run, blank, no_device_, budgets);
    if (!one.counted) return facts;
    std::ranges::move(missing_facts({}, metrics::Source::sass, blank, no_device_, budgets),
                      std::back_inserter(facts));
    return facts;
  }
  try {
    return measure(one, budgets);
  } catch (const metrics::CudaError& error) {
    // After most errors the context is gone for good; asking is how one finds out.
    broken_ = cudaDeviceSynchronize() != cudaSuccess;
    return {error_fact(one, with_fault(error, last_fault()), arch())};
  }
}

void need_counts_of_all(const std::vector<LaunchRecord>& launches,
                        const std::vector<metrics::LineCounts>& lines) {
  for (const LaunchRecord& launch : launches) {
    if (std::ranges::find(lines, launch.kernel, &metrics::LineCounts::kernel) == lines.end()) {
      throw metrics::Unmeasured("nothing was counted of the kernel " + launch.kernel,
                                "Run it again; if it stays so, report it with this message");
    }
  }
}

void launch_in_range(const Case& one, Problem& problem) {
  const NvtxRange range(one.id.str());
  one.launch(problem);
  WARPGAUGE_CUDA(cudaGetLastError());
}

Fact blank_fact(const Case& one, const std::string& arch) {
  return {.id = one.id, .arch = arch, .file = relative_to_root(one.file), .line = one.line};
}

Fact launched_fact(const Case& one, const std::vector<LaunchRecord>& launches,
                   const std::string& arch) {
  Fact fact = blank_fact(one, arch);
  if (launches.empty()) return fact;
  std::set<std::string> kernels;
  std::string code, sources, all;
  for (const LaunchRecord& record : launches) {
    const Fact of_one = of_kernel(fact, record.kernel, launches);
    const auto& [grid, block, shared, count] = record.launch;
    fmt::format_to(std::back_inserter(all), "{} <<<{} {} {}>>> {}\n", of_one.sass_hash,
                   fmt::join(grid, " "), fmt::join(block, " "), shared, count);
    if (!kernels.insert(record.kernel).second) continue;
    code += of_one.sass_hash;
    sources += of_one.source_hash;
  }
  const auto hash = [](const std::string& text) {
    return metrics::hash_text(std::as_bytes(std::span(text)));
  };
  fact = of_kernel(std::move(fact), launches.front().kernel, launches);
  fact.code_hash = code.empty() ? "" : hash(all);
  if (launches.size() > 1) fact.launch.reset();
  if (kernels.size() > 1) {
    fact.sass_hash = hash(code);
    fact.source_hash = hash(sources);
  }
  return fact;
}

Fact error_fact(const Case& one, std::string reason, const std::string& arch) {
  Fact fact = with_value(blank_fact(one, arch), "result.correct", {});
  fact.source = "harness";
  fact.verdict = metrics::Verdict::error;
  fact.reason = std::move(reason);
  return fact;
}

std::vector<Fact> counted_facts(const std::vector<metrics::LineCounts>& lines,
                                const std::vector<LaunchRecord>& launches, Fact counted,
                                std::string_view source) {
  counted.source = source;
  metrics::Counts total;
  double ways = 0;
  std::vector<LineValues> line_values;
  for (const metrics::LineCounts& line : lines) {
    total += line.counts;
    line_values.push_back(values_of_line(line));
    ways = std::max(ways, line_values.back().at("shared.bank_ways"));
  }
  auto values = metrics::metric_values(total);
  if (ways > 0) values.emplace_back("shared.bank_ways", ways);

  std::vector<Fact> facts;
  for (const auto& [metric, value] : values) {
    Fact fact =
        trusted(with_value(counted, metric, value), trust_in_sum(lines, line_values, metric));
    double most = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {  // blame the line that has most of it
      if (value_in(line_values[i], metric) <= most) continue;
      most = value_in(line_values[i], metric);
      fact = on_line(std::move(fact), lines[i], launches);
    }
    facts.push_back(std::move(fact));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const auto& [metric, value] : line_values[i]) {
      const metrics::Trust& trust = metrics::trust_in(lines[i], metric);
      if (value == 0 && trust.confidence == metrics::Confidence::exact) continue;
      facts.push_back(
          trusted(on_line(with_value(counted, metric, value), lines[i], launches), trust));
      facts.back().scope = metrics::Scope::line;
    }
  }
  return facts;
}

std::vector<Fact> missing_facts(const std::vector<Fact>& facts, metrics::Source source,
                                const Fact& blank, const std::string& reason,
                                const metrics::Budgets& budgets) {
  std::vector<Fact> missing;
  for (const metrics::Metric& metric : metrics::catalog()) {
    if (metric.source != source) continue;
    if (budgets.find(blank.id, blank.arch, metric.id) == nullptr) continue;
    const auto has_it = [&](const Fact& fact) {
      return fact.scope == metrics::Scope::whole_case && fact.metric == metric.id;
    };
    if (std::ranges::any_of(facts, has_it)) continue;
    missing.push_back(with_value(blank, metric.id, {}));
    missing.back().reason = reason;
  }
  return missing;
}

}  // namespace warpgauge
