// Adds up what the processes of an attached program have counted, by kernel.
#include "harness/attach/attached_facts.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "harness/attach/called_functions.h"
#include "harness/devices.h"
#include "metrics/cupti/cupti.h"
#include "metrics/cupti/sass_lines.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/kernel_resources.h"

namespace warpgauge::attach {
namespace {

/// The cubins of a run, read on demand.
class Cubins {
 public:
  explicit Cubins(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::span<const std::byte> image(std::uint32_t crc) {
    const auto [place, is_new] = images_.try_emplace(crc);
    if (is_new) {
      std::ifstream file(folder_ / cubin_name(crc), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      const auto all = std::as_bytes(std::span(bytes));
      place->second.assign(all.begin(), all.end());
    }
    return place->second;
  }

 private:
  std::filesystem::path folder_;
  std::map<std::uint32_t, std::vector<std::byte>> images_;
};

/// All that is known of a kernel on one model of GPU.
struct Known {
  const AttachedDevice* device = nullptr;
  std::uint64_t launches = 0;
  std::vector<metrics::Launch> shapes;
  std::vector<KernelResources> resources;
  metrics::SassRecords records;
  std::string doubt;  ///< why not all of them are known to be its own; empty: they are
};

/// Kernels by the name of the GPU and their mangled names.
using KnownKernels = std::map<std::pair<std::string, std::string>, Known>;

/// The kernels of which launches on a device were counted.
std::set<std::string> counted_kernels(const AttachedProcess& process, int device) {
  std::set<std::string> names;
  for (const AttachedKernel& kernel : process.kernels) {
    if (kernel.device == device && !kernel.counted.empty()) names.insert(kernel.name);
  }
  return names;
}

KnownKernels merged(const std::vector<AttachedProcess>& processes, const CubinOf& cubin_of) {
  KnownKernels kernels;
  for (const AttachedProcess& process : processes) {
    const auto of = [&](int ordinal, const std::string& kernel) -> Known& {
      static const AttachedDevice kUnknown{.device = {.name = "unknown device"}};
      const auto found = process.devices.find(ordinal);
      const AttachedDevice& device = found == process.devices.end() ? kUnknown : found->second;
      Known& known = kernels[{device.device.name, kernel}];
      known.device = &device;
      return known;
    };
    for (const AttachedKernel& kernel : process.kernels) {
      if (kernel.launches == 0) continue;  // no condition asked for it
      Known& known = of(kernel.device, kernel.name);
      known.launches += kernel.launches;
      for (const metrics::Launch& shape : kernel.counted) {
        metrics::add(known.shapes, shape);
      }
      std::ranges::copy(kernel.resources, std::back_inserter(known.resources));
    }
    for (const auto& [ordinal, records] : process.records) {
      const Attributed all = attribute(records, counted_kernels(process, ordinal), cubin_of);
      for (const auto& [kernel, its_own] : all.records) {
        metrics::SassRecords& known = of(ordinal, kernel).records;
        for (const auto& [instruction, values] : its_own) known[instruction] += values;
      }
      for (const auto& [kernel, doubt] : all.doubts) of(ordinal, kernel).doubt = doubt;
    }
  }
  return kernels;
}

/// The shapes with the clusters that are compiled into the kernel.
std::vector<metrics::Launch> shapes_of(const Known& known) {
  std::vector<metrics::Launch> shapes = known.shapes;
  if (known.resources.empty()) return shapes;
  for (metrics::Launch& shape : shapes) {
    if (shape.cluster != metrics::kNoCluster) continue;
    shape.cluster = known.resources.front().compiled_cluster;
  }
  return shapes;
}

/// The driver's resources of the kernel: the worst of its codes and shapes, if it has several.
metrics::MetricMap<double> driver_values(const Known& known) {
  if (known.resources.empty()) return {};
  const auto most = [&](auto member) {
    const auto value = [&](const KernelResources& resources) {
      return std::invoke(member, resources);
    };
    return static_cast<double>(value(*std::ranges::max_element(known.resources, {}, value)));
  };
  metrics::MetricMap<double> values = {
      {"registers", most(&KernelResources::registers)},
      {"stack.bytes", most(&KernelResources::local_bytes)},
      {"shared.static_bytes", most(&KernelResources::shared_static_bytes)}};
  if (known.device->threads_per_multiprocessor > 0) {
    const auto fewest =
        std::ranges::min_element(known.resources, {}, &KernelResources::resident_warps);
    const int most_warps = known.device->threads_per_multiprocessor / 32;
    values["occupancy.theoretical"] = fewest->resident_warps / most_warps;
  }
  for (const metrics::Launch& shape : shapes_of(known)) {
    double& blocks = values["cluster.blocks"];
    blocks = std::max(blocks, static_cast<double>(shape.cluster_blocks()));
  }
  return values;
}

std::set<std::uint32_t> codes_of(const Known& known) {
  std::set<std::uint32_t> codes;
  for (const auto& [instruction, values] : known.records) codes.insert(instruction.cubin_crc);
  return codes;
}

/// Registers after setmaxnreg, which the driver does not know; nothing where a code is not there.
void add_register_range(const Known& known, const std::string& kernel, Cubins& cubins,
                        metrics::MetricMap<double>& values) {
  std::optional<std::uint32_t> least, most;
  for (const std::uint32_t code : codes_of(known)) {
    const metrics::KernelResources of_code =
        metrics::resources_of_kernels(cubins.image(code))[kernel];
    if (!of_code.registers) return;
    const std::uint32_t low = of_code.least_registers.value_or(*of_code.registers);
    const std::uint32_t high = of_code.most_registers.value_or(*of_code.registers);
    least = std::min(least.value_or(low), low);
    most = std::max(most.value_or(high), high);
  }
  if (!least) return;
  values["registers.least"] = *least;
  values["registers.most"] = *most;
}

/// The text that `of` gives for each code of the kernel, if it is the same; else nothing.
std::string of_all_codes(const Known& known, Cubins& cubins,
                         const std::function<std::string(const metrics::Cubin&)>& of) {
  std::set<std::string> answers;
  for (const std::uint32_t code : codes_of(known)) {
    const auto image = cubins.image(code);
    if (image.empty()) return "";
    try {
      answers.insert(of(metrics::Cubin(image)));
    } catch (const metrics::CubinError&) {
      return "";
    }
  }
  return answers.size() == 1 ? *answers.begin() : "";
}

/// The full name of the architecture of the code that ran; where it is not known, the GPU's.
std::string arch_of_code(const Known& known, Cubins& cubins) {
  const std::string arch = of_all_codes(known, cubins, &metrics::Cubin::arch);
  return arch.empty() ? arch_of(known.device->device) : arch;
}

/// The number of warps that were counted: every warp executes the first instruction once.
std::uint64_t counted_warps(const metrics::SassRecords& records) {
  std::uint64_t warps = 0;
  for (const auto& [instruction, values] : records) {
    const bool is_first = instruction.pc == 0 && instruction.owner.empty();
    if (is_first) warps += values[metrics::SassMetric::instructions];
  }
  return warps;
}

/// Makes estimates of all counts.
void distrust(std::vector<metrics::LineCounts>& lines, const std::string& why) {
  if (lines.empty() || why.empty()) return;
  for (const auto& [metric, value] : metrics::metric_values({})) {
    const std::string group(metric.substr(0, metric.find('.')));
    lines.front().trust.try_emplace(group, metrics::Trust{metrics::Confidence::estimate, why});
  }
}

}  // namespace

std::vector<programs::CountedKernel> attached_kernels(const std::vector<AttachedProcess>& processes,
                                                      const std::filesystem::path& folder) {
  Cubins cubins(folder);
  const auto cubin_of = [&](std::uint32_t crc) { return cubins.image(crc); };
  metrics::SassLines adder(cubin_of);
  std::vector<programs::CountedKernel> kernels;
  for (const auto& [key, known] : merged(processes, cubin_of)) {
    const std::string& kernel = key.second;
    const auto hash = [&](const metrics::Cubin& cubin) { return cubin.sass_hash(kernel); };
    programs::CountedKernel counted{.name = kernel,
                                    .device = known.device->device,
                                    .arch = arch_of_code(known, cubins),
                                    .sass_hash = of_all_codes(known, cubins, hash),
                                    .launches = known.launches,
                                    .counted = shapes_of(known),
                                    .counted_warps = counted_warps(known.records),
                                    .compiled = {.values = driver_values(known)},
                                    .lines = {},
                                    .why_no_lines = ""};
    add_register_range(known, kernel, cubins, counted.compiled.values);
    try {
      counted.lines = adder.add_up(known.records);
      distrust(counted.lines, known.doubt);
    } catch (const metrics::Unmeasured& error) {
      counted.why_no_lines = error.what();
    }
    kernels.push_back(std::move(counted));
  }
  return kernels;
}

}  // namespace warpgauge::attach
