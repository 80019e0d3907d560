#include "harness/inspect/compiled_kernels.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "metrics/architecture/occupancy.h"
#include "metrics/facts/catalog.h"
#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/elf_sections.h"
#include "metrics/machine_code/instruction_mix.h"
#include "metrics/machine_code/kernel_resources.h"
#include "metrics/machine_code/line_table.h"
#include "metrics/machine_code/local_accesses.h"

namespace warpgauge::inspect {
namespace {

using metrics::Confidence;
using metrics::Cubin;
using programs::CountedKernel;

constexpr int kNewAbi = 8;  // of CUDA 13
constexpr std::string_view kNotMarked =
    "up to CUDA 12 the compiler does not mark spills: these may be local arrays, and are the most "
    "that spills can be";
constexpr std::string_view kNotLinked =
    "compiled with -rdc=true and not linked: the device linker may add what functions of other "
    "files need";

/// By kernel: up to CUDA 12, ptxas has them in the flags of the section with its code.
std::map<std::string, std::uint32_t> barriers_in_flags(std::span<const std::byte> image) try {
  constexpr std::string_view kCode = ".text.";
  constexpr std::uint32_t kShift = 20, kMask = 0x7f;
  std::map<std::string, std::uint32_t> barriers;
  for (const metrics::ElfSection& section : metrics::elf_sections(image)) {
    if (!section.name.starts_with(kCode)) continue;
    barriers[std::string(section.name.substr(kCode.size()))] = section.flags >> kShift & kMask;
  }
  return barriers;
} catch (const metrics::ElfError&) {
  return {};
}

class CubinReader {
 public:
  CubinReader(const metrics::FoundCubin& found, std::optional<std::uint32_t> threads)
      : found_(found),
        threads_(threads),
        cubin_(found.image),
        resources_(metrics::resources_of_kernels(found.image)),
        lines_(metrics::SourceLines::of(found.image)),
        calls_(cubin_) {
    if (cubin_.abi() < kNewAbi) barriers_ = barriers_in_flags(found.image);
  }

  std::vector<CountedKernel> read() const {
    std::vector<CountedKernel> kernels;
    for (const auto& [number, function] : cubin_.functions()) {
      if (function.is_entry) kernels.push_back(kernel(std::string(function.name)));
    }
    return kernels;
  }

 private:
  CountedKernel kernel(const std::string& name) const {
    CountedKernel out{.name = name,
                      .device = {},
                      .arch = found_.arch,
                      .sass_hash = cubin_.sass_hash(name),
                      .counted = {},
                      .compile_time = {},
                      .lines = {},
                      .why_no_lines = ""};
    const auto known = resources_.find(name);
    metrics::KernelResources resources =
        known == resources_.end() ? metrics::KernelResources{} : known->second;
    const auto flags = barriers_.find(name);
    // Those of functions that it calls may be left out.
    if (flags != barriers_.end() && calls_.called_by(name).empty()) {
      resources.barriers = flags->second;
    }
    add_resources(out, resources);
    add_occupancy(out, resources);
    try {
      for (const auto& [metric, number] : metrics::instruction_mix(cubin_, name)) {
        out.compile_time[metric] = static_cast<double>(number);
      }
      add_local(out);
    } catch (const metrics::CubinError& error) {  // of an architecture that is not known here
      const auto why = std::make_shared<const std::string>(error.what());
      for (const auto metric : {"local.load_instructions", "local.store_instructions",
                                "spill.load_bytes", "spill.store_bytes"}) {
        out.unknown[metric] = why;
      }
      for (const metrics::Metric& row : metrics::catalog()) {
        if (metrics::is_of_mix(row)) out.unknown[row.id] = why;
      }
    }
    return out;
  }

  void add_resources(CountedKernel& out, const metrics::KernelResources& resources) const {
    const auto add = [&](std::string_view metric, std::optional<std::uint64_t> value) {
      if (value) {
        out.compile_time[metric] = static_cast<double>(*value);
      } else {
        out.unknown[metric] = std::make_shared<const std::string>("the cubin does not say it");
      }
    };
    add("registers", resources.registers);
    const auto least = resources.least_registers, most = resources.most_registers;
    add("registers.least", least ? least : resources.registers);
    add("registers.most", most ? most : resources.registers);
    add("stack.bytes", resources.stack_bytes);
    add("barriers", resources.barriers);
    add("shared.static_bytes", cubin_.shared_static_bytes(out.name));
    add("constant.bytes", cubin_.constant_bytes(out.name) + cubin_.module_constant_bytes());
    add("code.bytes", cubin_.code(out.name).size());
    const auto& cluster = resources.cluster;
    if (cluster)
      add("cluster.blocks", std::uint64_t{(*cluster)[0]} * (*cluster)[1] * (*cluster)[2]);
    if (metrics::elf_type(found_.image) != ET_REL) return;
    for (const auto metric : {"registers", "registers.least", "registers.most", "stack.bytes",
                              "barriers", "shared.static_bytes", "constant.bytes"}) {
      out.doubts[metric] = {Confidence::estimate, std::string(kNotLinked)};
    }
  }

  void add_occupancy(CountedKernel& out, const metrics::KernelResources& resources) const {
    constexpr std::string_view kOccupancy = "occupancy.theoretical";
    std::uint64_t threads = threads_.value_or(0);
    if (!threads_ && resources.most_threads) {
      const auto& [x, y, z] = *resources.most_threads;
      threads = std::uint64_t{x} * y * z;
    }
    const metrics::Architecture* const arch = metrics::find_architecture(found_.arch);
    constexpr std::uint64_t kMostThreads = 1024;
    if (arch == nullptr || !resources.registers || threads == 0 || threads > kMostThreads) {
      out.unknown[kOccupancy] = std::make_shared<const std::string>(
          "the kernel has no launch bounds; --block gives the threads of its blocks");
      return;
    }
    const metrics::Occupancy one =
        metrics::occupancy(*arch, {.threads = static_cast<int>(threads),
                                   .registers_per_thread = static_cast<int>(*resources.registers),
                                   .shared_static_bytes = cubin_.shared_static_bytes(out.name),
                                   .barriers = static_cast<int>(resources.barriers.value_or(0))});
    out.compile_time[kOccupancy] = one.fraction;
    out.doubts[kOccupancy] = {
        Confidence::predicted,
        fmt::format("that of blocks of {} threads without dynamic shared memory; a launch may ask "
                    "for others",
                    threads)};
  }

  /// The accesses to local memory of the kernel and of the functions that it calls.
  void add_local(CountedKernel& out) const {
    std::map<std::string_view, double> values = {{"local.load_instructions", 0},
                                                 {"local.store_instructions", 0},
                                                 {"spill.load_bytes", 0},
                                                 {"spill.store_bytes", 0}};
    std::map<std::tuple<std::string, int, std::string_view>, programs::CompiledLine> lines;
    const bool has_marks = metrics::marks_spills(cubin_);
    for (const metrics::LocalAccess& access : metrics::local_accesses(cubin_, calls_, out.name)) {
      const auto source =
          lines_ ? lines_->find(access.function, access.pc) : std::optional<metrics::SourceLine>();
      const auto add = [&](std::string_view metric, double value) {
        values[metric] += value;
        if (!source) return;
        const auto place = lines.try_emplace({source->file, source->line, metric});
        programs::CompiledLine& line = place.first->second;
        if (place.second) line = {metric, *source, 0};
        line.source.inlined = metrics::common_chain(line.source, *source);
        line.value += value;
      };
      add(access.is_load ? "local.load_instructions" : "local.store_instructions", 1);
      if (has_marks && !access.is_spill) continue;
      add(access.is_load ? "spill.load_bytes" : "spill.store_bytes", access.bytes);
    }
    for (const auto& [metric, value] : values) out.compile_time[metric] = value;
    for (auto& [key, line] : lines) out.compiled_lines.push_back(std::move(line));
    if (has_marks) return;
    for (const auto metric : {"spill.load_bytes", "spill.store_bytes"}) {
      if (values[metric] == 0) continue;
      out.doubts[metric] = {Confidence::estimate, std::string(kNotMarked)};
    }
  }

  const metrics::FoundCubin& found_;
  const std::optional<std::uint32_t> threads_;
  const Cubin cubin_;
  const std::map<std::string, metrics::KernelResources> resources_;
  const std::optional<metrics::SourceLines> lines_;
  const metrics::CallGraph calls_;
  std::map<std::string, std::uint32_t> barriers_;  ///< by kernel, where the flags have them
};

}  // namespace

std::vector<CountedKernel> compiled_kernels(const metrics::FoundCubin& found,
                                            std::optional<std::uint32_t> threads) {
  return CubinReader(found, threads).read();
}

void take_spills(CountedKernel& kernel, const metrics::PtxasKernel& said) {
  if (!said.called.empty()) return;
  for (const auto& [metric, bytes] : {std::pair("spill.load_bytes", said.spill_load_bytes),
                                      std::pair("spill.store_bytes", said.spill_store_bytes)}) {
    if (kernel.doubts.erase(metric) == 0) continue;
    const auto exact = static_cast<double>(bytes);
    // Where there are local arrays, too, the lines of spills are not known.
    if (kernel.compile_time[metric] != exact) {
      std::erase_if(kernel.compiled_lines,
                    [metric](const programs::CompiledLine& line) { return line.metric == metric; });
    }
    kernel.compile_time[metric] = exact;
  }
}

void add_other_code(CountedKernel& kernel, const CountedKernel& other) {
  if (kernel.sass_hash == other.sass_hash && !kernel.sass_hash.empty()) return;
  kernel.sass_hash.clear();
  for (const auto& [metric, value] : other.compile_time) {
    const auto [known, is_new] = kernel.compile_time.try_emplace(metric, value);
    const bool more_is_better = metrics::metric(metric).direction == metrics::Direction::higher ||
                                metric == "registers.least";
    known->second =
        more_is_better ? std::min(known->second, value) : std::max(known->second, value);
  }
  for (const auto& [metric, trust] : other.doubts) kernel.doubts.try_emplace(metric, trust);
  for (const auto& [metric, reason] : other.unknown) {
    kernel.unknown.try_emplace(metric, reason);
    kernel.compile_time.erase(metric);
  }
  for (const auto& [metric, reason] : kernel.unknown) kernel.compile_time.erase(metric);
  std::erase_if(kernel.compiled_lines, [&](const programs::CompiledLine& line) {
    return std::ranges::any_of(other.compiled_lines, [&](const programs::CompiledLine& of_other) {
      return line.metric == of_other.metric && line.source == of_other.source &&
             line.value <= of_other.value;
    });
  });
  for (const programs::CompiledLine& line : other.compiled_lines) {
    const auto is_same = [&](const programs::CompiledLine& one) {
      return one.metric == line.metric && one.source == line.source;
    };
    if (std::ranges::none_of(kernel.compiled_lines, is_same)) kernel.compiled_lines.push_back(line);
  }
}

}  // namespace warpgauge::inspect
