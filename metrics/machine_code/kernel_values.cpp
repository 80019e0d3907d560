// Reads the compile-time values of kernels from a cubin.
#include "metrics/machine_code/kernel_values.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "metrics/base/demangled.h"
#include "metrics/facts/catalog.h"
#include "metrics/machine_code/cubin_parts.h"
#include "metrics/machine_code/elf_sections.h"
#include "metrics/machine_code/instruction_mix.h"
#include "metrics/machine_code/local_accesses.h"
#include "metrics/machine_code/sass.h"
#include "metrics/machine_code/stack_frames.h"

namespace warpgauge::metrics {
namespace {

constexpr int kFirstWithBarriers = 8;  // the version of the format that CUDA 13 writes
constexpr std::string_view kNotMarked =
    "up to CUDA 12 the compiler does not mark spills: these may be local arrays, and are the most "
    "that spills can be";
constexpr std::string_view kToBeLinked =
    "compiled with -rdc=true and not linked: the device linker may add what functions of other "
    "files need";
constexpr std::array<std::string_view, 4> kLocal = {
    "local.load_instructions", "local.store_instructions", "spill.load_bytes", "spill.store_bytes"};

/// The cure of accesses that may be those of an array, of which others are.
std::string array_cure(const KernelValues& kernel) {
  const auto stack = kernel.values.find("stack.bytes");
  return "Index local arrays with compile-time constants, and unroll the loops that do: one is "
         "indexed by what is known at run time only" +
         (stack == kernel.values.end()
              ? std::string(".")
              : fmt::format(", and with what is spilled it fits into {} bytes of stack.",
                            stack->second));
}

/// By kernel: up to CUDA 12, ptxas has them in the flags of the section with its code.
std::map<std::string, std::uint32_t> barriers_in_flags(std::span<const std::byte> image) try {
  constexpr std::string_view kCode = ".text.";
  constexpr std::uint32_t kShift = 20, kMask = 0x7f;
  std::map<std::string, std::uint32_t> barriers;
  for (const ElfSection& section : elf_sections(image)) {
    if (!section.name.starts_with(kCode)) continue;
    barriers[std::string(section.name.substr(kCode.size()))] = section.flags >> kShift & kMask;
  }
  return barriers;
} catch (const ElfError&) {
  return {};
}

}  // namespace

void make_unknown(KernelValues& kernel, std::span<const std::string_view> metrics,
                  std::string reason) {
  const auto shared = std::make_shared<const std::string>(std::move(reason));
  for (const std::string_view metric : metrics) kernel.unknown[metric] = shared;
}

void add_other_code(KernelValues& kernel, const KernelValues& other) {
  for (const auto& [metric, value] : other.values) {
    const auto [known, is_new] = kernel.values.try_emplace(metric, value);
    const bool more_is_better =
        metrics::metric(metric).direction == Direction::higher || metric == "registers.least";
    known->second =
        more_is_better ? std::min(known->second, value) : std::max(known->second, value);
  }
  for (const auto& [metric, trust] : other.doubts) kernel.doubts.try_emplace(metric, trust);
  for (const auto& [metric, reason] : other.unknown) kernel.unknown.try_emplace(metric, reason);
  for (const auto& [metric, cure] : other.cures) kernel.cures.try_emplace(metric, cure);
  for (const auto& [metric, reason] : kernel.unknown) kernel.values.erase(metric);
  std::erase_if(kernel.lines, [&](const CompiledLine& line) {
    return std::ranges::any_of(other.lines, [&](const CompiledLine& of_other) {
      return line.metric == of_other.metric && line.source == of_other.source &&
             line.value <= of_other.value;
    });
  });
  for (const CompiledLine& line : other.lines) {
    const auto is_same = [&](const CompiledLine& known) {
      return known.metric == line.metric && known.source == line.source;
    };
    if (std::ranges::none_of(kernel.lines, is_same)) kernel.lines.push_back(line);
  }
}

std::optional<Occupancy> occupancy_of(const KernelValues& kernel, std::string_view arch,
                                      BlockNeeds block) {
  const Architecture* const limits = find_architecture(arch);
  const auto registers = kernel.values.find("registers");
  if (limits == nullptr || registers == kernel.values.end()) return std::nullopt;
  const auto number = [&](std::string_view metric) {
    const auto found = kernel.values.find(metric);
    return found == kernel.values.end() ? 0.0 : found->second;
  };
  block.registers_per_thread = static_cast<int>(registers->second);
  block.shared_static_bytes = static_cast<std::uint64_t>(number("shared.static_bytes"));
  block.barriers = static_cast<int>(number("barriers"));
  return occupancy(*limits, block);
}

KernelReader::KernelReader(std::span<const std::byte> image)
    : cubin_(image), resources_(resources_of_kernels(cubin_)), calls_(cubin_) {
  check_parts(cubin_);
  if (cubin_.abi() >= kFirstWithBarriers) return;
  for (const auto& [kernel, barriers] : barriers_in_flags(image)) {
    // The flags may leave out barriers of functions that the kernel calls.
    if (calls_.called_by(kernel).empty()) resources_[kernel].barriers = barriers;
  }
}

std::vector<std::string> KernelReader::kernels() const {
  std::vector<std::string> names;
  for (const auto& [number, function] : cubin_.functions()) {
    if (function.is_entry) names.emplace_back(function.name);
  }
  return names;
}

KernelResources KernelReader::resources(const std::string& kernel) const {
  const auto known = resources_.find(kernel);
  return known == resources_.end() ? KernelResources{} : known->second;
}

KernelValues KernelReader::read(const std::string& kernel) const {
  KernelValues values;
  add_resources(kernel, values);
  try {
    add_local(kernel, values);
  } catch (const CubinError& error) {  // of an architecture that is not known here
    make_unknown(values, kLocal, error.what());
  }
  if (elf_type(cubin_.image()) == ET_REL) leave_to_linker(kernel, values);
  return values;
}

/// Makes unknown what depends on functions that the device linker is yet to add.
void KernelReader::leave_to_linker(const std::string& kernel, KernelValues& values) const {
  constexpr std::size_t kShown = 3;
  std::set<std::string> called;
  for (const std::string& name : calls_.called_elsewhere(kernel)) called.insert(demangled(name));
  if (called.empty()) return;
  std::string names;
  for (auto name = called.begin(); name != called.end(); ++name) {
    if (static_cast<std::size_t>(std::distance(called.begin(), name)) == kShown) {
      names += fmt::format(" and {} more", called.size() - kShown);
      break;
    }
    names += (names.empty() ? "" : ", ") + *name;
  }
  for (const std::string_view metric : kLocal) {
    values.values.erase(metric);
    values.doubts.erase(metric);
  }
  values.lines.clear();
  make_unknown(values, kLocal,
               fmt::format("it calls {}, which the device linker adds: link all objects (nvcc "
                           "-dlink, or the program), and inspect the result",
                           names));
}

void KernelReader::add_mix(const std::string& kernel, KernelValues& values) const {
  try {
    for (const auto& [metric, number] : instruction_mix(cubin_, kernel)) {
      values.values[metric] = static_cast<double>(number);
    }
  } catch (const CubinError& error) {  // of an architecture that is not known here
    std::vector<std::string_view> mix;
    for (const Metric& row : catalog()) {
      if (is_of_mix(row)) mix.push_back(row.id);
    }
    make_unknown(values, mix, error.what());
  }
}

std::optional<SourceLine> KernelReader::first_local_access(const std::string& kernel) const try {
  for (const MemoryInstruction& access : memory_instructions(cubin_, kernel)) {
    if (!access.executes || !is_local(access.op)) continue;
    if (auto line = line_of(kernel, access.pc)) return line;
  }
  return std::nullopt;
} catch (const CubinError&) {  // of an architecture that is not known here
  return std::nullopt;
}

std::optional<SourceLine> KernelReader::line_of(const std::string& function,
                                                std::uint64_t pc) const {
  if (!std::exchange(has_read_lines_, true)) lines_ = SourceLines::of(cubin_.image());
  return lines_ ? lines_->find(function, pc) : std::nullopt;
}

void KernelReader::add_resources(const std::string& kernel, KernelValues& values) const {
  const KernelResources of_kernel = resources(kernel);
  const auto add = [&](std::string_view metric, std::optional<std::uint64_t> value,
                       std::string_view why_not = "the cubin does not say it") {
    if (value) {
      values.values[metric] = static_cast<double>(*value);
    } else {
      values.unknown[metric] = std::make_shared<const std::string>(why_not);
    }
  };
  const auto least = of_kernel.least_registers, most = of_kernel.most_registers;
  add("registers", of_kernel.registers);
  add("registers.least", least ? least : of_kernel.registers);
  add("registers.most", most ? most : of_kernel.registers);
  add("stack.bytes", stack_with_recursion(cubin_, kernel, of_kernel.stack_bytes),
      "the device linker (-rdc=true) does not know a recursion's");
  add("barriers", of_kernel.barriers);
  add("shared.static_bytes", cubin_.shared_static_bytes(kernel));
  add("constant.bytes", cubin_.constant_bytes(kernel) + cubin_.module_constant_bytes());
  add("code.bytes", cubin_.code(kernel).size());
  if (elf_type(cubin_.image()) != ET_REL) return;
  for (const auto metric : {"registers", "registers.least", "registers.most", "stack.bytes",
                            "barriers", "shared.static_bytes", "constant.bytes"}) {
    values.doubts[metric] = {Confidence::estimate, std::string(kToBeLinked)};
  }
}

/// The accesses to local memory of the kernel and of the functions that it calls.
void KernelReader::add_local(const std::string& kernel, KernelValues& values) const {
  std::map<std::string_view, double> sums;
  for (const std::string_view metric : kLocal) sums[metric] = 0;
  std::map<std::tuple<std::string, int, std::string_view>, CompiledLine> lines;
  const bool has_marks = marks_spills(cubin_);
  bool has_array = false;
  for (const LocalAccess& access : local_accesses(cubin_, calls_, kernel)) {
    const auto source = line_of(access.function, access.pc);
    const auto add = [&](std::string_view metric, double value) {
      sums[metric] += value;
      if (!source) return;
      const auto place = lines.try_emplace({source->file, source->line, metric});
      CompiledLine& line = place.first->second;
      if (place.second) line = {metric, *source, 0};
      line.source.inlined = common_chain(line.source, *source);
      line.value += value;
    };
    add(access.is_load ? "local.load_instructions" : "local.store_instructions", 1);
    has_array |= access.is_indexed;
    if (has_marks ? !access.is_spill : access.is_indexed) continue;
    add(access.is_load ? "spill.load_bytes" : "spill.store_bytes", access.bytes);
  }
  for (const auto& [metric, value] : sums) values.values[metric] = value;
  for (auto& [key, line] : lines) values.lines.push_back(std::move(line));
  if (has_marks) return;
  for (const auto metric : {"spill.load_bytes", "spill.store_bytes"}) {
    if (sums[metric] == 0) continue;
    values.doubts[metric] = {Confidence::estimate, std::string(kNotMarked)};
    if (has_array) values.cures[metric] = array_cure(values);
  }
}

}  // namespace warpgauge::metrics
