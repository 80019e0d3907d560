// Reads compile-time facts of cases from the machine code in this program.
#include "harness/measuring/compile_time_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/cases/device_code.h"
#include "harness/files/source_root.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/emulated_launches.h"
#include "harness/process/fork_guard.h"
#include "harness/runtime.h"
#include "metrics/architecture/occupancy.h"
#include "metrics/base/demangled.h"
#include "metrics/facts/catalog.h"
#include "metrics/machine_code/instruction_mix.h"
#include "warpgauge/problem.h"

namespace warpgauge {
namespace {

using metrics::Fact;

/// A kernel of a case with its values on one architecture.
struct LaunchedKernel {
  const LaunchRecord* launch;
  metrics::KernelValues compiled;
  std::string limiter = {};  ///< what limits its occupancy; empty: not known

  std::optional<metrics::Value> value(std::string_view metric) const {
    if (metric == "occupancy.limiter") {
      return limiter.empty() ? std::nullopt : std::optional<metrics::Value>(limiter);
    }
    const auto found = compiled.values.find(metric);
    return found == compiled.values.end() ? std::nullopt
                                          : std::optional<metrics::Value>(found->second);
  }
};

const metrics::KernelReader& reader_of(const EmbeddedCubin& cubin) {
  static std::map<const std::byte*, metrics::KernelReader> readers;
  return readers.try_emplace(cubin.image.data(), cubin.image).first->second;
}

/// Why there is no machine code of a kernel for an architecture, and what to do.
std::string why_no_code(const std::string& kernel, const std::string& arch) {
  const bool is_ptx = std::ranges::any_of(embedded_ptx(), [&](const EmbeddedPtx& ptx) {
    return find_ptx(kernel, ptx.arch) != nullptr;
  });
  return fmt::format(
      "this program has no machine code of its kernel {} for {}{}; build the program and its "
      "libraries for the same CUDA_ARCHITECTURES",
      kernel, arch, is_ptx ? ", but PTX, which the driver compiles when it runs" : "");
}

const metrics::KernelValues& values_of(const std::string& kernel, const std::string& arch) {
  static std::map<std::pair<std::string, std::string>, metrics::KernelValues> known;
  const std::pair key(kernel, arch);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const auto cubins = find_cubins(kernel, arch);
  if (cubins.empty()) throw NoMachineCode(why_no_code(kernel, arch));
  if (std::ranges::none_of(cubins, [](const EmbeddedCubin* cubin) {
        return metrics::has_source_lines(reader_of(*cubin).cubin());
      })) {
    throw NoMachineCode(
        fmt::format("the machine code of its kernel {} for {} has no line table; call "
                    "warpgauge_watch(TARGET) for the target that has the kernel",
                    kernel, arch));
  }
  std::vector<metrics::KernelValues> copies;
  for (const EmbeddedCubin* cubin : cubins) copies.push_back(reader_of(*cubin).read(kernel));
  return known.emplace(key, same_values(std::move(copies), kernel, arch)).first->second;
}

LaunchedKernel launched(const LaunchRecord& record, const std::string& arch) {
  const metrics::Launch launch = as_compiled(record, arch).launch;
  LaunchedKernel kernel{.launch = &record, .compiled = values_of(record.kernel, arch)};
  kernel.compiled.values["cluster.blocks"] = static_cast<double>(launch.cluster_blocks());
  const auto& block = launch.block;
  const auto occupancy =
      metrics::occupancy_of(kernel.compiled, arch,
                            {.threads = static_cast<int>(block[0] * block[1] * block[2]),
                             .shared_dynamic_bytes = launch.dynamic_shared_bytes,
                             .cluster_blocks = static_cast<int>(launch.cluster_blocks())});
  if (!occupancy) return kernel;
  kernel.compiled.values["occupancy.theoretical"] = occupancy->fraction;
  kernel.limiter = occupancy->limiter;
  if (!occupancy->doubt.empty()) {
    for (const auto metric : {"occupancy.theoretical", "occupancy.limiter"}) {
      kernel.compiled.doubts[metric] = {metrics::Confidence::estimate, occupancy->doubt};
    }
  }
  return kernel;
}

/// Why one of the kernels has no value of a metric.
std::string why_unknown(std::string_view metric, const std::vector<LaunchedKernel>& kernels,
                        const std::string& arch) {
  for (const LaunchedKernel& kernel : kernels) {
    const auto known = kernel.compiled.unknown.find(metric);
    if (known != kernel.compiled.unknown.end()) return *known->second;
  }
  return "the limits of " + arch + " are not in the table of architectures";
}

/// The kernel that decides `metric` for the case: the one with the highest (or lowest) value, and
/// for words the one with the lowest occupancy.
const LaunchedKernel& deciding(const metrics::Metric& metric,
                               const std::vector<LaunchedKernel>& kernels) {
  const bool word = metric.id == "occupancy.limiter";
  const std::string_view by = word ? "occupancy.theoretical" : metric.id;
  const auto value = [&](const LaunchedKernel& kernel) {
    const auto found = kernel.compiled.values.find(by);
    return found == kernel.compiled.values.end() ? 0.0 : found->second;
  };
  return metric.direction == metrics::Direction::lower
             ? *std::ranges::max_element(kernels, {}, value)
             : *std::ranges::min_element(kernels, {}, value);
}

}  // namespace

metrics::KernelValues same_values(std::vector<metrics::KernelValues> copies,
                                  const std::string& kernel, const std::string& arch) {
  constexpr std::string_view kConstants = "constant.bytes";  // those of the module among them
  metrics::KernelValues same = std::move(copies.front());
  double most = same.values[kConstants];
  for (metrics::KernelValues& copy : copies) {
    if (&copy == &copies.front()) continue;
    most = std::max(most, copy.values[kConstants]);
    same.values[kConstants] = copy.values[kConstants];
    if (same.values == copy.values) continue;
    throw NoMachineCode(fmt::format(
        "this program has several kernels {} for {}, which differ; give one of them another name, "
        "or compile all of them with the same options",
        kernel, arch));
  }
  same.values[kConstants] = most;
  return same;
}

std::vector<LaunchRecord> dry_launches(const Case& test_case, bool may_launch_none) {
  const LaunchLog log(LaunchLog::Mode::dry);
  process::with_fork_guard("the case", [&] {
    const std::unique_ptr<Problem> problem = test_case.problem();
    test_case.launch(*problem);
  });
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error(fmt::format("{}:{}: {} {}", files::relative_to_root(test_case.file),
                                         test_case.line, test_case.id.str(), what));
  };
  if (log.launches().empty() && !may_launch_none) refuse("launches no kernel");
  for (const auto& [kernel, launch] : log.launches()) {
    if (std::ranges::count(launch.grid, 0u) + std::ranges::count(launch.block, 0u) > 0) {
      refuse("launches " + metrics::demangled(kernel) + " with an extent of 0");
    }
  }
  return log.launches();
}

std::vector<LaunchRecord> launches_on(const Case& test_case, const std::string& arch) {
  try {
    return dry_launches(test_case);
  } catch (const std::exception&) {
    if (is_emulated()) throw;
    if (auto launches = emulated_launches(test_case.id.str(), arch)) return *std::move(launches);
    throw;
  }
}

std::vector<Fact> static_facts(const Case& test_case, const std::vector<LaunchRecord>& launches,
                               const std::string& arch) {
  std::vector<LaunchedKernel> kernels;
  for (const LaunchRecord& record : launches) {
    try {
      kernels.push_back(launched(record, arch));
    } catch (const NoMachineCode& error) {
      throw NoMachineCode(fmt::format("{}: {}", test_case.id.str(), error.what()));
    }
  }
  const Fact blank = launched_fact(test_case, launches, arch, "");
  std::vector<Fact> facts;
  for (const metrics::Metric& metric : metrics::catalog()) {
    if (metrics::is_run_time(metric) || metrics::is_of_mix(metric)) continue;
    Fact fact = blank;
    fact.metric = metric.id;
    fact.source = "cubin";
    const LaunchedKernel& worst = deciding(metric, kernels);
    fact.kernel = worst.launch->kernel;
    const bool all_have_it = std::ranges::all_of(
        kernels, [&](const LaunchedKernel& kernel) { return kernel.value(metric.id).has_value(); });
    if (all_have_it) {
      fact.value = *worst.value(metric.id);
      const auto doubt = worst.compiled.doubts.find(metric.id);
      const bool is_exact = doubt == worst.compiled.doubts.end();
      const metrics::Trust trust = is_exact ? metrics::Trust{} : doubt->second;
      fact.confidence = to_string(trust.confidence);
      fact.confidence_reason = trust.reason;
    } else {
      fact.reason = why_unknown(metric.id, kernels, arch);
    }
    const bool spills = metric.id.starts_with("spill.") || metric.id.starts_with("local.") ||
                        metric.id == "stack.bytes";
    if (spills && fact.value != metrics::Value(0.0)) {
      const EmbeddedCubin* const cubin = find_cubin(fact.kernel, arch);
      if (const auto line = reader_of(*cubin).first_local_access(fact.kernel)) {
        fact = blamed_on(fact, fact.kernel, *line);
      }
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace warpgauge
