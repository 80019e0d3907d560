// Reads the kernels of cubins and logs into what is judged.
#include "harness/inspect/compiled_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "metrics/architecture/arch_name.h"
#include "metrics/facts/catalog.h"
#include "metrics/machine_code/instruction_mix.h"

namespace warpgauge::inspect {
namespace {

using metrics::Confidence;
using programs::CountedKernel;

constexpr std::string_view kNotLogged =
    "ptxas -v does not say it; inspect the file that was compiled";

CountedKernel named(const std::string& name, const std::string& arch) {
  return {.name = name,
          .device = {},
          .arch = arch,
          .sass_hash = "",
          .counted = {},
          .compiled = {},
          .lines = {},
          .why_no_lines = ""};
}

/// The occupancy of blocks of `threads`; `why_not` says why their number is not known.
void add_occupancy(CountedKernel& kernel, std::uint64_t threads, std::string_view why_not) {
  constexpr std::string_view kOccupancy = "occupancy.theoretical";
  constexpr std::uint64_t kMostThreads = 1024;
  const auto occupancy = threads == 0 || threads > kMostThreads
                             ? std::nullopt
                             : metrics::occupancy_of(kernel.compiled, kernel.arch,
                                                     {.threads = static_cast<int>(threads)});
  if (!occupancy) {
    metrics::make_unknown(kernel.compiled, std::array{kOccupancy}, std::string(why_not));
    return;
  }
  kernel.compiled.values[kOccupancy] = occupancy->fraction;
  kernel.compiled.doubts[kOccupancy] = {
      Confidence::predicted,
      fmt::format("that of blocks of {} threads without dynamic shared memory; a launch may ask "
                  "for others",
                  threads)};
}

std::uint64_t volume(const std::array<std::uint32_t, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

}  // namespace

std::vector<CountedKernel> compiled_kernels(const metrics::FoundCubin& found,
                                            std::optional<std::uint32_t> threads) {
  const metrics::KernelReader reader(found.image);
  std::vector<CountedKernel> kernels;
  for (const std::string& name : reader.kernels()) {
    CountedKernel& kernel = kernels.emplace_back(named(name, found.arch));
    kernel.sass_hash = reader.cubin().sass_hash(name);
    kernel.compiled = reader.read(name);
    reader.add_mix(name, kernel.compiled);
    const metrics::KernelResources resources = reader.resources(name);
    if (resources.cluster) {
      kernel.compiled.values["cluster.blocks"] = static_cast<double>(volume(*resources.cluster));
    }
    const std::uint64_t most = resources.most_threads ? volume(*resources.most_threads) : 0;
    add_occupancy(kernel, threads.value_or(most),
                  "the kernel has no launch bounds; --block gives the threads of its blocks");
  }
  return kernels;
}

CountedKernel logged_kernel(const metrics::PtxasKernel& said,
                            std::optional<std::uint32_t> threads) {
  CountedKernel kernel = named(said.name, said.arch);
  auto& values = kernel.compiled.values;
  values = {{"registers", said.registers},
            {"barriers", said.barriers},
            {"stack.bytes", static_cast<double>(said.stack_bytes())},
            {"spill.load_bytes", static_cast<double>(said.spill_load_bytes)},
            {"spill.store_bytes", static_cast<double>(said.spill_store_bytes)},
            {"shared.static_bytes", static_cast<double>(said.shared_static_bytes)}};
  std::vector<std::string_view> unknown = {"code.bytes", "constant.bytes",
                                           "local.load_instructions", "local.store_instructions"};
  for (const metrics::Metric& row : metrics::catalog()) {
    if (metrics::is_of_mix(row)) unknown.push_back(row.id);
  }
  // Only code for one architecture, as sm_90a, may change its registers (setmaxnreg).
  const auto arch = metrics::ArchName::parse(said.arch);
  const bool may_change = !arch || arch->suffix != 0;
  for (const std::string_view metric : {"registers.least", "registers.most"}) {
    if (may_change) {
      unknown.push_back(metric);
    } else {
      values[metric] = said.registers;
    }
  }
  metrics::make_unknown(kernel.compiled, unknown, std::string(kNotLogged));
  if (!said.stack_doubt.empty()) {
    kernel.compiled.doubts["stack.bytes"] = {Confidence::estimate, said.stack_doubt};
  }
  add_occupancy(kernel, threads.value_or(0),
                "ptxas -v does not say the launch bounds; --block gives the threads of blocks");
  return kernel;
}

void take_spills(CountedKernel& kernel, const metrics::PtxasKernel& said) {
  if (!said.called.empty()) return;
  metrics::KernelValues& compiled = kernel.compiled;
  for (const auto& [metric, bytes] : {std::pair("spill.load_bytes", said.spill_load_bytes),
                                      std::pair("spill.store_bytes", said.spill_store_bytes)}) {
    if (compiled.doubts.erase(metric) == 0) continue;
    const auto exact = static_cast<double>(bytes);
    // Where there are local arrays, too, the lines of spills are not known.
    if (compiled.values[metric] != exact) {
      std::erase_if(compiled.lines,
                    [metric](const metrics::CompiledLine& line) { return line.metric == metric; });
    }
    compiled.values[metric] = exact;
  }
}

void add_other_code(CountedKernel& kernel, const CountedKernel& other) {
  if (kernel.sass_hash == other.sass_hash && !kernel.sass_hash.empty()) return;
  kernel.sass_hash.clear();
  metrics::add_other_code(kernel.compiled, other.compiled);
}

}  // namespace warpgauge::inspect
