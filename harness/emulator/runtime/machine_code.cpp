// The kernels of a module in the machine code of the same compilation.
#include "harness/emulator/runtime/machine_code.h"

#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/emulator/machine/core/device_work.h"
#include "harness/emulator/machine/program.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/sass.h"

namespace warpgauge::emulator::runtime {
namespace {

counting::KernelTrust trust_of(counting::OracleAnswer& answer) {
  counting::KernelTrust out = std::move(answer.trust);
  for (const counting::ExtraAccess& extra : answer.extras) {
    const metrics::SourceLine at = extra.source.value_or(metrics::SourceLine{});
    for (const metrics::MemorySpace space : metrics::spaces_of(extra.instruction.op)) {
      out.uncounted.push_back({at,
                               std::string(metrics::to_string(space)),
                               {metrics::Confidence::estimate, extra.reason}});
    }
  }
  return out;
}

/// Whether it calls functions that have PTX, or calls through a register.
bool calls_functions(const ptx::Function& kernel, const ptx::Module& program) {
  return std::ranges::any_of(kernel.body, [&](const ptx::Instruction& instruction) {
    if (instruction.opcode != "call") return false;
    const ptx::Function* const called = program.find(machine::callee(instruction));
    return called == nullptr || called->has_body;
  });
}

bool calls_device_runtime(const ptx::Function& function) {
  return std::ranges::any_of(function.body, [](const ptx::Instruction& instruction) {
    return instruction.opcode == "call" &&
           machine::callee(instruction).starts_with(machine::kDeviceRuntimePrefix);
  });
}

/// Kernels that call the device runtime, or functions of a program in which functions do.
std::set<std::string> launching_kernels(const ptx::Module& program) {
  const bool functions_do = std::ranges::any_of(program.functions, [](const auto& function) {
    return !function.is_kernel && calls_device_runtime(function);
  });
  std::set<std::string> out;
  for (const ptx::Function& function : program.functions) {
    if (!function.is_kernel || !function.has_body) continue;
    const bool launches =
        calls_device_runtime(function) || (functions_do && calls_functions(function, program));
    if (launches) out.insert(function.name);
  }
  return out;
}

/// From lines of an object's PTX to those of the program's.
void move_lines(counting::OracleAnswer& answer, int first_line) {
  for (auto& entry : answer.plans.entries) entry.text_line += first_line;
  const auto move_keys = [&](auto& by_line) {
    std::remove_reference_t<decltype(by_line)> moved;
    for (auto& [line, entry] : by_line) moved.emplace(line + first_line, std::move(entry));
    by_line = std::move(moved);
  };
  move_keys(answer.trust.by_text_line);
  move_keys(answer.trust.sources);
  move_keys(answer.trust.on_stack);
  move_keys(answer.trust.unsettled.by_text_line);
  for (auto& spill : answer.trust.spills) {
    if (spill.text_line != 0) spill.text_line += first_line;
  }
  const auto move = [&](std::set<int>& lines) {
    std::set<int> moved;
    for (const int line : lines) moved.insert(line + first_line);
    lines = std::move(moved);
  };
  move(answer.plans.watched);
  answer.trust.executions.move_lines(first_line);
  std::multimap<int, counting::KernelTrust::Condition> conditions;
  for (auto& [line, entry] : answer.trust.conditions) {
    move(entry.without.divided);
    move(entry.without.taken);
    conditions.emplace(line + first_line, std::move(entry));
  }
  answer.trust.conditions = std::move(conditions);
}

counting::Oracle oracle_of(const ptx::Module& module, const SelectedCode& code) {
  if (code.cubin.empty()) return {module, code.why_no_cubin};
  return {module, code.ptx, code.cubin};
}

}  // namespace

MachineCode::MachineCode(const ptx::Module& module, const SelectedCode& code)
    : cubin_(code.cubin), resources_(metrics::resources_of_kernels(cubin_)) {
  parts_.push_back({oracle_of(module, code), 0});
}

MachineCode::MachineCode(std::vector<Object> objects, const ptx::Module& program,
                         std::vector<std::byte> cubin)
    : objects_(std::move(objects)),
      launching_(launching_kernels(program)),
      linked_(std::move(cubin)),
      cubin_(linked_),
      resources_(metrics::resources_of_kernels(cubin_)) {
  parts_.push_back(
      {counting::Oracle(program, "it calls functions that were compiled apart (-rdc=true)"), 0});
  for (const Object& object : objects_) {
    for (const ptx::Function& function : object.module.functions) {
      if (!function.is_kernel || !function.has_body) continue;
      const std::size_t part = calls_functions(function, program) ? 0 : parts_.size();
      part_of_.try_emplace(function.name, part);
    }
    parts_.push_back({oracle_of(object.module, *object.code), object.first_line});
  }
}

MachineCode::Answer MachineCode::about(const std::string& kernel) const {
  const auto known = part_of_.find(kernel);
  const Part& part = parts_[known == part_of_.end() ? 0 : known->second];
  counting::OracleAnswer answer = part.oracle.about(kernel);
  move_lines(answer, part.first_line);
  if (known != part_of_.end() && known->second == 0) {
    const std::string reason = "what it calls was compiled apart, and may save registers in memory";
    answer.trust.uncounted.push_back({{}, "local", {metrics::Confidence::estimate, reason}});
  }
  if (launching_.contains(kernel)) {
    const std::string reason = "it calls the device runtime, which has no PTX";
    for (const char* group : {"shared", "global", "local"}) {
      answer.trust.uncounted.push_back({{}, group, {metrics::Confidence::estimate, reason}});
    }
    answer.trust.rest = {metrics::Confidence::estimate, reason};
    answer.trust.executions = counting::ExecutionModel(reason);
  }
  const auto resources = resources_.find(kernel);
  metrics::ReportedCode code;
  if (resources != resources_.end()) {
    const metrics::Cubin cubin(cubin_);
    code = {.resources = resources->second,
            .shared_static_bytes = cubin.shared_static_bytes(kernel),
            .sass_hash = cubin.sass_hash(kernel)};
  }
  return {.plans = std::move(answer.plans), .trust = trust_of(answer), .code = std::move(code)};
}

}  // namespace warpgauge::emulator::runtime
