#include "harness/measuring/compile_time_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <ranges>
#include <sstream>
#include <stdexcept>

#include "harness/build_info.h"
#include "harness/cases/device_code.h"
#include "harness/files/source_root.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/emulated_launches.h"
#include "harness/process/fork_guard.h"
#include "harness/runtime.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/architecture/occupancy.h"
#include "metrics/facts/catalog.h"
#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/instruction_mix.h"
#include "metrics/machine_code/kernel_resources.h"
#include "metrics/machine_code/line_table.h"
#include "metrics/machine_code/local_accesses.h"
#include "metrics/machine_code/ptxas_check.h"
#include "metrics/machine_code/sass.h"
#include "warpgauge/problem.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;
using metrics::Fact;

std::string read_text(const fs::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw metrics::PtxasError(path.string() + ": cannot be read; build again");
  return text.str();
}

/// A kernel of a case with its values on one architecture.
struct KernelValues {
  const LaunchRecord* launch;
  std::map<std::string_view, metrics::Value> values;
  std::string occupancy_doubt = {};  ///< why it is an estimate; empty: it is exact
};

/// The machine code of a kernel that the device linker (nvcc -rdc=true) has made, or nullptr.
const EmbeddedCubin* linked_cubin(const metrics::PtxasKernel& ptxas) {
  const EmbeddedCubin* cubin = find_cubin(ptxas.name, ptxas.arch);
  return cubin != nullptr && cubin->is_linked ? cubin : nullptr;
}

/// What the cubin says of a kernel.
const metrics::KernelResources& resources_in(const EmbeddedCubin& cubin,
                                             const std::string& kernel) {
  static std::map<const std::byte*, std::map<std::string, metrics::KernelResources>> known;
  const auto [place, is_new] = known.try_emplace(cubin.image.data());
  if (is_new) place->second = metrics::resources_of_kernels(cubin.image);
  return place->second[kernel];
}

/// Bytes of constant memory, the `__constant__` variables of the module among them: as ptxas says,
/// or where it does not, as the cubin has them.
std::optional<std::uint64_t> constant_bytes(const metrics::PtxasKernel& ptxas) {
  if (!ptxas.constant_bytes.empty() && linked_cubin(ptxas) == nullptr) {
    return std::accumulate(ptxas.constant_bytes.begin(), ptxas.constant_bytes.end(),
                           ptxas.module_constant_bytes,
                           [](std::uint64_t sum, const auto& bank) { return sum + bank.second; });
  }
  const EmbeddedCubin* embedded = find_cubin(ptxas.name, ptxas.arch);
  if (embedded == nullptr) return std::nullopt;
  const metrics::Cubin cubin(embedded->image);
  return cubin.constant_bytes(ptxas.name) + cubin.module_constant_bytes();
}

/// Bytes of stack with those of called functions, which in linked code only the linker knows; none
/// where they call themselves there.
std::optional<std::uint64_t> stack_bytes(const metrics::PtxasKernel& ptxas) {
  const EmbeddedCubin* cubin = linked_cubin(ptxas);
  return cubin == nullptr ? ptxas.stack_bytes() : resources_in(*cubin, ptxas.name).stack_bytes;
}

struct RegisterRange {
  std::uint32_t least = 0, most = 0;
};

/// Registers of a thread after setmaxnreg, which only code for one architecture has; nothing where
/// that is not known.
std::optional<RegisterRange> register_range(const metrics::PtxasKernel& ptxas) {
  const auto at_launch = static_cast<std::uint32_t>(ptxas.registers);
  const auto arch = metrics::ArchName::parse(ptxas.arch);
  if (arch && arch->suffix == 0) return RegisterRange{at_launch, at_launch};
  const EmbeddedCubin* cubin = find_cubin(ptxas.name, ptxas.arch);
  if (cubin == nullptr) return std::nullopt;
  const metrics::KernelResources& kernel = resources_in(*cubin, ptxas.name);
  return RegisterRange{kernel.least_registers.value_or(at_launch),
                       kernel.most_registers.value_or(at_launch)};
}

/// Takes registers and shared memory from linked code (nvcc -rdc=true): a kernel needs at least
/// those of the functions that it calls, which ptxas did not see. Throws metrics::PtxasError if the
/// linked code does not have them.
metrics::PtxasKernel linked(metrics::PtxasKernel ptxas) {
  const EmbeddedCubin* cubin = find_cubin(ptxas.name, ptxas.arch);
  if (cubin == nullptr && std::ranges::any_of(embedded_cubins(), &EmbeddedCubin::is_linked)) {
    throw metrics::PtxasError(fmt::format(
        "{} for {}: this program has no machine code of it, so the device linker (-rdc=true) "
        "may not have been asked for {}; give the program and its libraries the same "
        "CUDA_ARCHITECTURES",
        ptxas.name, ptxas.arch, ptxas.arch));
  }
  if (cubin == nullptr || !cubin->is_linked) return ptxas;
  const auto registers = resources_in(*cubin, ptxas.name).registers;
  if (!registers) {
    throw metrics::PtxasError(
        fmt::format("{} for {}: the device linker (-rdc=true) does not report its registers, and "
                    "ptxas cannot see them; compile it without -rdc=true",
                    ptxas.name, ptxas.arch));
  }
  ptxas.registers = *registers;
  ptxas.shared_static_bytes = metrics::Cubin(cubin->image).shared_static_bytes(ptxas.name);
  return ptxas;
}

/// The number of the line that begins the report on the kernel; 0 if it is not found.
int line_in_text(const std::string& path, const metrics::PtxasKernel& kernel) {
  std::istringstream text(read_text(path));
  const std::string begin = fmt::format("'{}' for '{}'", kernel.name, kernel.arch);
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.find(begin) != std::string::npos) return number;
  }
  return 0;
}

/// Throws metrics::ContradictionError if the machine code of this program is not what the text at
/// `path` reports on.
void need_same_code(const metrics::PtxasKernel& ptxas, const std::string& path) {
  const EmbeddedCubin* cubin = find_cubin(ptxas.name, ptxas.arch);
  if (cubin == nullptr) return;
  const std::string problem = metrics::contradiction(
      ptxas, metrics::Cubin(cubin->image), resources_in(*cubin, ptxas.name), cubin->is_linked);
  if (problem.empty()) return;
  throw metrics::ContradictionError(fmt::format(
      "{}:{}: ptxas' report on {} for {} is not that of this program: it says {}; delete the file "
      "and build again",
      path, line_in_text(path, ptxas), ptxas.name, ptxas.arch, problem));
}

/// What only the machine code of this program says: nothing where it has none of the kernel, or of
/// an architecture that is not known.
void add_code_values(const metrics::PtxasKernel& ptxas,
                     std::map<std::string_view, metrics::Value>& values) try {
  const EmbeddedCubin* embedded = find_cubin(ptxas.name, ptxas.arch);
  if (embedded == nullptr) return;
  const metrics::Cubin cubin(embedded->image);
  values["code.bytes"] = static_cast<double>(cubin.code(ptxas.name).size());
  double loads = 0, stores = 0;
  for (const metrics::LocalAccess& access :
       metrics::local_accesses(cubin, metrics::CallGraph(cubin), ptxas.name)) {
    (access.is_load ? loads : stores) += 1;
  }
  values["local.load_instructions"] = loads;
  values["local.store_instructions"] = stores;
} catch (const metrics::CubinError&) {
  return;
}

KernelValues values_of(const LaunchRecord& record, const metrics::PtxasKernel& of_compiler) {
  const metrics::PtxasKernel ptxas = linked(of_compiler);
  const auto number = [](auto n) { return metrics::Value(static_cast<double>(n)); };
  const metrics::Launch launch = as_compiled(record, ptxas.arch).launch;
  KernelValues kernel{&record,
                      {{"registers", number(ptxas.registers)},
                       {"barriers", number(ptxas.barriers)},
                       {"cluster.blocks", number(launch.cluster_blocks())},
                       {"spill.store_bytes", number(ptxas.spill_store_bytes)},
                       {"spill.load_bytes", number(ptxas.spill_load_bytes)},
                       {"shared.static_bytes", number(ptxas.shared_static_bytes)}}};
  add_code_values(ptxas, kernel.values);
  if (const auto range = register_range(ptxas)) {
    kernel.values["registers.least"] = number(range->least);
    kernel.values["registers.most"] = number(range->most);
  }
  if (const auto bytes = stack_bytes(ptxas)) kernel.values["stack.bytes"] = number(*bytes);
  if (const auto bytes = constant_bytes(ptxas)) kernel.values["constant.bytes"] = number(*bytes);
  if (const metrics::Architecture* arch = metrics::find_architecture(ptxas.arch)) {
    const auto& block = launch.block;
    const metrics::Occupancy occupancy =
        metrics::occupancy(*arch, {.threads = static_cast<int>(block[0] * block[1] * block[2]),
                                   .registers_per_thread = static_cast<int>(ptxas.registers),
                                   .shared_static_bytes = ptxas.shared_static_bytes,
                                   .shared_dynamic_bytes = launch.dynamic_shared_bytes,
                                   .barriers = static_cast<int>(ptxas.barriers),
                                   .cluster_blocks = static_cast<int>(launch.cluster_blocks())});
    kernel.values["occupancy.theoretical"] = occupancy.fraction;
    kernel.values["occupancy.limiter"] = occupancy.limiter;
    kernel.occupancy_doubt = occupancy.doubt;
  }
  return kernel;
}

/// The line of the first instruction of `kernel` that touches local memory, if it is known.
std::optional<metrics::SourceLine> spill_line(const std::string& kernel, const std::string& arch) {
  const EmbeddedCubin* embedded = find_cubin(kernel, arch);
  if (embedded == nullptr) return std::nullopt;
  const auto lines = metrics::SourceLines::of(embedded->image);
  if (!lines) return std::nullopt;
  const metrics::Cubin cubin(embedded->image);
  for (const auto& access : metrics::memory_instructions(cubin, kernel)) {
    if (!access.executes || !metrics::is_local(access.op)) continue;
    if (auto line = lines->find(kernel, access.pc)) return line;
  }
  return std::nullopt;
}

/// Why a kernel has no value of a metric.
std::string why_unknown(std::string_view metric, const std::string& arch) {
  if (metric == "constant.bytes") {
    return "neither ptxas nor the cubin has it; build with --no-compress";
  }
  if (metric == "stack.bytes") return "the device linker (-rdc=true) does not know a recursion's";
  if (metric.starts_with("registers.")) {
    return "this program has no machine code of it, which setmaxnreg stands in";
  }
  if (metric.starts_with("local.") || metric == "code.bytes") {
    return "this program has no machine code of it that is known here";
  }
  return "the limits of " + arch + " are not in the table of architectures";
}

/// The kernel that decides `metric` for the case: the one with the highest (or lowest) value, and
/// for words the one with the lowest occupancy.
const KernelValues& deciding(const metrics::Metric& metric,
                             const std::vector<KernelValues>& kernels) {
  const bool word = metric.id == "occupancy.limiter";
  const std::string_view by = word ? "occupancy.theoretical" : metric.id;
  const auto value = [&](const KernelValues& kernel) {
    const auto found = kernel.values.find(by);
    const double* number =
        found == kernel.values.end() ? nullptr : std::get_if<double>(&found->second);
    return number == nullptr ? 0.0 : *number;
  };
  return metric.direction == metrics::Direction::lower
             ? *std::ranges::max_element(kernels, {}, value)
             : *std::ranges::min_element(kernels, {}, value);
}

}  // namespace

PtxasTexts::PtxasTexts(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) add_folder(folder);
  if (kernels_.empty()) {
    throw metrics::PtxasError(
        folders.empty() ? "no target of this program keeps ptxas' reports: call "
                          "warpgauge_watch(TARGET) for the one that has the kernels"
                        : folders.front().string() +
                              ": no *.ptxas.txt with a kernel in it; build the kernels again, and "
                              "call warpgauge_watch(TARGET) for a library that has them");
  }
  for (const auto& [key, known] : kernels_) archs_.push_back(key.second);
  std::ranges::sort(archs_, {}, metrics::arch_order);
  const auto repeated = std::ranges::unique(archs_);
  archs_.erase(repeated.begin(), repeated.end());
}

void PtxasTexts::add_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.path().string().ends_with(".ptxas.txt")) continue;
    if (!entry.is_regular_file()) {
      throw metrics::PtxasError(entry.path().string() + ": is not a file; remove it, build again");
    }
    for (auto& kernel : metrics::parse_ptxas(read_text(entry.path()), entry.path().string())) {
      add(std::move(kernel), entry.path());
    }
  }
}

void PtxasTexts::add(metrics::PtxasKernel kernel, const fs::path& path) {
  const auto [place, is_new] =
      kernels_.try_emplace({kernel.name, kernel.arch}, Known{kernel, path.string()});
  if (is_new) return;
  if (place->second.kernel.agrees_with(kernel)) {
    std::uint64_t& most = place->second.kernel.module_constant_bytes;
    most = std::max(most, kernel.module_constant_bytes);
    return;
  }
  throw metrics::PtxasError(fmt::format(
      "{} and {}: two different kernels {} for {}; give one of them another name, or build again "
      "if one of the files is old",
      place->second.path, path.string(), kernel.name, kernel.arch));
}

const PtxasTexts& PtxasTexts::of_this_build() {
  static const PtxasTexts texts([] {
    std::vector<fs::path> folders;
    for (const auto folder : std::views::split(kBuildInfo.ptxas_folders, '\n')) {
      folders.emplace_back(std::string_view(folder.begin(), folder.end()));
    }
    return folders;
  }());
  return texts;
}

const metrics::PtxasKernel* PtxasTexts::find(const std::string& kernel,
                                             const std::string& arch) const {
  const auto found = kernels_.find({kernel, arch});
  return found == kernels_.end() ? nullptr : &found->second.kernel;
}

const std::string& PtxasTexts::path_of(const metrics::PtxasKernel& kernel) const {
  return kernels_.at({kernel.name, kernel.arch}).path;
}

std::vector<LaunchRecord> dry_launches(const Case& one) {
  const LaunchLog log(LaunchLog::Mode::dry);
  process::with_fork_guard("the case", [&] {
    const std::unique_ptr<Problem> problem = one.make_problem();
    one.launch(*problem);
  });
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error(fmt::format("{}:{}: {} {}", files::relative_to_root(one.file),
                                         one.line, one.id.str(), what));
  };
  if (log.launches().empty()) refuse("launches no kernel");
  for (const auto& [kernel, launch] : log.launches()) {
    if (std::ranges::count(launch.grid, 0u) + std::ranges::count(launch.block, 0u) > 0) {
      refuse("launches " + kernel + " with an extent of 0");
    }
  }
  return log.launches();
}

std::vector<LaunchRecord> launches_on(const Case& one, const std::string& arch) {
  try {
    return dry_launches(one);
  } catch (const std::exception&) {
    if (is_emulated()) throw;
    if (auto launches = emulated_launches(one.id.str(), arch)) return *std::move(launches);
    throw;
  }
}

std::vector<Fact> static_facts(const Case& one, const std::vector<LaunchRecord>& launches,
                               const std::string& arch, const PtxasTexts& texts) {
  std::vector<KernelValues> kernels;
  for (const LaunchRecord& record : launches) {
    const metrics::PtxasKernel* ptxas = texts.find(record.kernel, arch);
    if (ptxas == nullptr) {
      throw metrics::PtxasError(
          fmt::format("{}: there is no report of ptxas of its kernel {} for {}; call "
                      "warpgauge_watch(TARGET) for the target that has the kernel, or build it "
                      "again if that is done",
                      one.id.str(), record.kernel, arch));
    }
    need_same_code(*ptxas, texts.path_of(*ptxas));
    kernels.push_back(values_of(record, *ptxas));
  }
  const Fact blank = launched_fact(one, launches, arch, "");
  std::vector<Fact> facts;
  for (const metrics::Metric& metric : metrics::catalog()) {
    if (metrics::is_run_time(metric) || metrics::is_of_mix(metric)) continue;
    Fact fact = blank;
    fact.metric = metric.id;
    fact.source = "ptxas";
    const KernelValues& worst = deciding(metric, kernels);
    fact.kernel = worst.launch->kernel;
    const bool all_have_it = std::ranges::all_of(
        kernels, [&](const KernelValues& kernel) { return kernel.values.contains(metric.id); });
    if (const auto found = worst.values.find(metric.id); all_have_it) {
      fact.value = found->second;
      const bool is_doubtful =
          metric.source == metrics::Source::occupancy && !worst.occupancy_doubt.empty();
      fact.confidence = is_doubtful ? "estimate" : "exact";
      if (is_doubtful) fact.confidence_reason = worst.occupancy_doubt;
    } else {
      fact.reason = why_unknown(metric.id, arch);
    }
    const bool spills = metric.id.starts_with("spill.") || metric.id.starts_with("local.") ||
                        metric.id == "stack.bytes";
    if (spills && fact.value != metrics::Value(0.0)) {
      if (const auto line = spill_line(fact.kernel, arch)) {
        fact = blamed_on(fact, fact.kernel, *line);
      }
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace warpgauge
