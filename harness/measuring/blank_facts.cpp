// Fills in cases, kernels and hashes of facts.
#include "harness/measuring/blank_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "harness/cases/device_code.h"
#include "harness/files/source_root.h"
#include "metrics/base/hash.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

using metrics::Fact;

/// The kernels of launches, each with its shapes.
std::vector<metrics::Kernel> kernels_of(const std::vector<LaunchRecord>& launches,
                                        const std::string& arch) {
  std::vector<metrics::Kernel> kernels;
  for (const LaunchRecord& record : launches) {
    auto kernel = std::ranges::find(kernels, record.kernel, &metrics::Kernel::name);
    if (kernel == kernels.end()) {
      kernel = kernels.insert(kernel, {.name = record.kernel,
                                       .sass_hash = sass_hash(record.kernel, arch),
                                       .source_hash = source_hash(record.kernel, arch)});
    }
    metrics::add(kernel->launches, as_compiled(record, arch).launch);
  }
  return kernels;
}

}  // namespace

LaunchRecord as_compiled(LaunchRecord record, const std::string& arch) {
  if (record.launch.cluster != metrics::kNoCluster) return record;
  const auto compiled = cluster_of_code(record.kernel, arch);
  if (compiled) record.launch.cluster = *compiled;
  return record;
}

std::string id_word(std::string_view name) {
  std::string text;
  for (const char c : name) {
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '_';
  }
  return text.empty() ? "_" : text;
}

Fact with_value(Fact fact, std::string_view metric, metrics::Value value) {
  fact.metric = metric;
  fact.value = std::move(value);
  return fact;
}

Fact blank_fact(const Case& test_case, const std::string& arch) {
  return launched_fact(test_case, {}, arch, "");
}

Fact launched_fact(const Case& test_case, const std::vector<LaunchRecord>& launches,
                   const std::string& arch, const std::string& device) {
  metrics::CaseContext context{.kind = test_case.kind,
                               .device = device,
                               .kernels = kernels_of(launches, arch),
                               .file = files::relative_to_root(test_case.file),
                               .line = test_case.line};
  context.code_hash = code_hash(context.kernels);
  Fact fact{.id = test_case.id, .arch = arch, .file = context.file, .line = context.line};
  if (context.kernels.size() == 1) fact.kernel = context.kernels.front().name;
  fact.context = std::make_shared<const metrics::CaseContext>(std::move(context));
  return fact;
}

std::string code_hash(const std::vector<metrics::Kernel>& kernels) {
  std::string text;
  for (const metrics::Kernel& kernel : kernels) {
    if (kernel.sass_hash.empty()) return "";
    for (const auto& [grid, block, shared, count, cluster] : kernel.launches) {
      text += fmt::format("{} <<<{} {} {}>>> {}\n", kernel.sass_hash, fmt::join(grid, " "),
                          fmt::join(block, " "), shared, count);
      if (cluster != metrics::kNoCluster) text += fmt::format("{}\n", fmt::join(cluster, " "));
    }
  }
  return text.empty() ? "" : metrics::hash_text(text);
}

Fact blamed_on(Fact fact, const std::string& kernel, const metrics::SourceLine& line) {
  fact.kernel = kernel;
  if (line.file.empty()) return fact;
  fact.file = files::relative_to_root(line.file);
  fact.line = line.line;
  fact.inlined = line.inlined;
  for (metrics::CallSite& site : fact.inlined) site.file = files::relative_to_root(site.file);
  return fact;
}

Fact error_fact(const Case& test_case, std::string reason, const std::string& arch) {
  Fact fact = with_value(blank_fact(test_case, arch), "result.correct", {});
  fact.source = "harness";
  fact.verdict = metrics::Verdict::error;
  fact.reason = std::move(reason);
  return fact;
}

Fact error_fact(const Case& test_case, const metrics::DeviceFault& fault, const std::string& arch) {
  return blamed_on(error_fact(test_case, fault.text, arch), fault.kernel, fault.source);
}

Fact error_fact(const Case& test_case, const metrics::CudaError& error,
                const std::vector<metrics::DeviceFault>& faults, const std::string& arch) {
  if (faults.empty()) return error_fact(test_case, error.what(), arch);
  std::string text = error.what();
  // The generic remedy adds nothing to a located fault.
  const std::string advice = fmt::format(". {}", metrics::cuda_remedy(error.code()));
  if (text.ends_with(advice)) text.erase(text.size() - advice.size());
  Fact fact = error_fact(test_case, faults.back(), arch);
  fact.reason = text + "; " + faults.back().text;
  return fact;
}

std::vector<Fact> unmeasured_facts(const std::function<bool(std::string_view)>& is_there,
                                   metrics::Source source, const Fact& blank,
                                   const std::string& reason, const metrics::Budgets& budgets,
                                   const Counters& asked) {
  std::vector<Fact> missing;
  std::vector<const metrics::Metric*> wanted = budgets.metrics(blank.id, blank.arch);
  for (const metrics::Metric* metric : asked) {
    if (std::ranges::find(wanted, metric) == wanted.end()) wanted.push_back(metric);
  }
  for (const metrics::Metric* metric : wanted) {
    if (metric->source != source || is_there(metric->id)) continue;
    missing.push_back(with_value(blank, metric->id, {}));
    missing.back().reason = reason;
  }
  return missing;
}

std::vector<Fact> missing_facts(const std::vector<Fact>& facts, metrics::Source source,
                                const Fact& blank, const std::string& reason,
                                const metrics::Budgets& budgets, const Counters& asked) {
  const auto is_there = [&](std::string_view metric) {
    return std::ranges::any_of(facts, [&](const Fact& fact) {
      return fact.scope == metrics::Scope::whole_case && fact.metric == metric;
    });
  };
  return unmeasured_facts(is_there, source, blank, reason, budgets, asked);
}

std::vector<Fact> missing_counts(const std::vector<Fact>& facts, const Fact& blank,
                                 const std::string& reason, const metrics::Budgets& budgets) {
  std::vector<Fact> missing = missing_facts(facts, metrics::Source::sass, blank, reason, budgets);
  const std::string of_emulated(reason == kNoSuchAccess ? kOnlyEmulated : reason);
  std::ranges::move(missing_facts(facts, metrics::Source::emulator, blank, of_emulated, budgets),
                    std::back_inserter(missing));
  return missing;
}

}  // namespace warpgauge
