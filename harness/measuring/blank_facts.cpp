// Fills in cases, kernels and hashes of facts.
#include "harness/measuring/blank_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "harness/cases/device_code.h"
#include "harness/files/source_root.h"
#include "metrics/base/hash.h"

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
    for (const metrics::Launch& launch : kernel.launches) {
      text += fmt::format("{} <<<{} {} {}>>> {}\n", kernel.sass_hash, fmt::join(launch.grid, " "),
                          fmt::join(launch.block, " "), launch.dynamic_shared_bytes, launch.count);
      if (launch.cluster != metrics::kNoCluster) {
        text += fmt::format("{}\n", fmt::join(launch.cluster, " "));
      }
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

}  // namespace warpgauge
