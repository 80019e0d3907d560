// Registered device code, and how it gets into the machine.
#include "harness/emulator/runtime/modules.h"

#include <fatbinary_section.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/emulator/runtime/failure.h"
#include "metrics/fat_binary.h"

namespace warpgauge::emulator {
namespace {

/// Whether a fat binary comes from the device linker (-rdc=true), which leaves machine code only.
/// The second word of what is registered says so (fatbinary_section.h).
bool is_linked(const void* wrapper) {
  constexpr int kLinked = FATBINC_LINK_VERSION;
  return static_cast<const __fatBinC_Wrapper_t*>(wrapper)->version == kLinked;
}

}  // namespace

Module* Modules::add(const void* wrapper) {
  Module& module = modules_.emplace_back();
  module.wrapper = wrapper;
  return &module;
}

void Modules::remove(Module* module) {
  const auto found = std::ranges::find_if(modules_, [&](Module& m) { return &m == module; });
  if (found == modules_.end()) return;
  std::erase_if(functions_, [&](const auto& entry) { return entry.second->module == module; });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == module; });
  for (const Function& function : module->functions) handles_.erase(&function);
  modules_.erase(found);
}

void Modules::add_function(Module* module, const void* stub, const char* name) {
  Function& function = module->functions.emplace_back();
  function.module = module;
  function.name = name;
  handles_.insert(&function);
  // A template's stub can be registered by several objects, with equal code: the first one counts.
  functions_.emplace(stub, &function);
}

void Modules::add_variable(Module* module, const void* shadow, const char* name,
                           std::size_t bytes) {
  variables_.emplace(shadow,
                     Variable{.module = module, .name = name, .bytes = bytes, .managed = nullptr});
}

void Modules::add_managed_variable(Module* module, void** pointer, const char* name,
                                   std::size_t bytes) {
  const Variable variable{.module = module, .name = name, .bytes = bytes, .managed = pointer};
  variables_.emplace(pointer, variable);
  module->managed.push_back(variable);
}

Function* Modules::find_function(const void* stub_or_handle) {
  if (const auto found = functions_.find(stub_or_handle); found != functions_.end()) {
    return found->second;
  }
  if (!handles_.contains(stub_or_handle)) return nullptr;
  return static_cast<Function*>(const_cast<void*>(stub_or_handle));
}

Variable* Modules::find_variable(const void* shadow) {
  const auto found = variables_.find(shadow);
  return found == variables_.end() ? nullptr : &found->second;
}

void Modules::load(Module& module, machine::Machine& machine, const std::string& arch,
                   bool older_ptx) {
  if (module.program != nullptr) return;
  try {
    module.code = select_code(metrics::registered_fat_binary(module.wrapper), arch, older_ptx);
    const std::string name = "PTX for " + module.code.ptx_arch;
    ptx::Module parsed = ptx::parse(module.code.ptx, name);
    module.machine_code.emplace(parsed, module.code);
    module.program = &machine.load(std::move(parsed));
  } catch (const NoPtx& error) {
    const char* const rest =
        is_linked(module.wrapper) ? ". -rdc=true leaves PTX out: compile without it" : "";
    throw Failure{cudaErrorNoKernelImageForDevice, std::string(error.what()) + rest};
  } catch (const metrics::FatBinaryError& error) {
    throw Failure{cudaErrorInvalidKernelImage, error.what()};
  } catch (const ptx::PtxError& error) {
    throw Failure{cudaErrorInvalidPtx, error.what()};
  }
  for (const Variable& variable : module.managed) {
    *variable.managed = machine.find_symbol(*module.program, variable.name).address;
  }
}

machine::Kernel& Modules::kernel(Function& function, machine::Machine& machine,
                                 const std::string& arch, bool older_ptx) {
  if (function.kernel == nullptr) {
    load(*function.module, machine, arch, older_ptx);
    function.kernel = machine.find_kernel(*function.module->program, function.name);
    if (function.kernel == nullptr) {
      throw Failure{
          cudaErrorInvalidDeviceFunction,
          "the PTX for " + function.module->code.ptx_arch + " has no kernel " + function.name};
    }
    const MachineCode& code = *function.module->machine_code;
    MachineCode::Answer answer = code.about(function.name);
    machine.set_access_plans(*function.kernel, std::move(answer.plans));
    function.trust = std::move(answer.trust);
    function.registers = answer.registers;
  }
  return *function.kernel;
}

void Modules::unload() {
  for (Module& module : modules_) {
    module.program = nullptr;
    module.machine_code.reset();
    module.code = {};
    for (Function& function : module.functions) {
      function.kernel = nullptr;
      function.max_dynamic_shared_bytes = -1;
      function.shared_carveout = cudaSharedmemCarveoutDefault;
    }
  }
}

std::set<std::string> Modules::architectures() const {
  std::set<std::string> common;
  bool first = true;
  for (const Module& module : modules_) {
    std::set<std::string> held = ptx_architectures(metrics::registered_fat_binary(module.wrapper));
    if (first) {
      common = std::move(held);
    } else {
      std::set<std::string> both;
      std::ranges::set_intersection(common, held, std::inserter(both, both.end()));
      common = std::move(both);
    }
    first = false;
  }
  return common;
}

}  // namespace warpgauge::emulator
