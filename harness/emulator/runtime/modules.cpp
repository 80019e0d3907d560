// Registered device code, and how it gets into the machine.
#include "harness/emulator/runtime/modules.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/program.h"
#include "harness/emulator/ptx/error.h"
#include "harness/emulator/ptx/link.h"
#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/machine_code.h"
#include "metrics/machine_code/fat_binary.h"

namespace warpgauge::emulator::runtime {
namespace {

/// The containers with the PTX of what was registered.
std::vector<std::span<const std::byte>> ptx_containers(const void* wrapper) {
  auto objects = metrics::linked_fat_binaries(wrapper);
  if (objects.empty()) objects.push_back(metrics::registered_fat_binary(wrapper));
  return objects;
}

int lines_of(std::string_view text) { return static_cast<int>(std::ranges::count(text, '\n')) + 1; }

/// Loads the code of a program of one object.
void load_alone(Module& module, machine::Machine& machine, const std::string& name) {
  const SelectedCode& code = module.code.front();
  machine::Program& program = machine.load(ptx::parse(code.ptx, name));
  module.machine_code = std::make_shared<MachineCode>(program.module(), code);
  module.program = &program;
}

/// Links the code of several objects, which call each other, and loads the result.
void load_linked(Module& module, machine::Machine& machine, const std::string& name) {
  std::vector<MachineCode::Object> objects;
  std::vector<ptx::ModuleToLink> to_link;
  int lines = 0;
  for (const SelectedCode& code : module.code) {
    objects.push_back({ptx::parse(code.ptx, name), &code, lines});
    to_link.push_back({objects.back().module, lines_of(code.ptx)});
    lines += to_link.back().text_lines;
  }
  auto cubin = select_cubin(metrics::registered_fat_binary(module.wrapper), module.ptx_arch);
  machine::Program& program = machine.load(ptx::link(std::move(to_link), name + ", linked"));
  module.machine_code =
      std::make_shared<MachineCode>(std::move(objects), program.module(), std::move(cubin));
  module.program = &program;
}

/// The code of the objects of a module, and why the last one without PTX has none.
struct ModuleCode {
  std::vector<SelectedCode> code;
  std::string left_out;  ///< empty: all have PTX
};

ModuleCode select_module_code(const Module& module, const WantedCode& wanted) {
  ModuleCode selected;
  for (const auto& container : ptx_containers(module.wrapper)) {
    try {
      selected.code.push_back(select_code(container, wanted.arch, wanted.older_ptx));
    } catch (const NoPtx& error) {
      selected.left_out = error.what();
    }
  }
  return selected;
}

/// Selects the code of the objects of a module, and loads it.
void read_code(Module& module, machine::Machine& machine, const WantedCode& wanted) {
  ModuleCode selected = select_module_code(module, wanted);
  module.code = std::move(selected.code);
  module.left_out = std::move(selected.left_out);
  if (module.code.empty()) throw NoPtx(module.left_out);
  module.ptx_arch = module.code.front().ptx_arch;
  const bool is_one_object = module.code.size() == 1 && module.left_out.empty();
  const auto load_code = is_one_object ? load_alone : load_linked;
  load_code(module, machine, "PTX for " + module.ptx_arch);
}

/// Calls `read`, which reads code. Throws Failure if the code cannot be run.
template <typename Read>
void require_readable(Read read) try {
  read();
} catch (const NoPtx& error) {
  throw Failure{cudaErrorNoKernelImageForDevice, error.what()};
} catch (const metrics::FatBinaryError& error) {
  throw Failure{cudaErrorInvalidKernelImage, error.what()};
} catch (const ptx::PtxError& error) {
  throw Failure{cudaErrorInvalidPtx, error.what()};
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
  modules_.erase(found);
}

void Modules::add_function(Module* module, const void* stub, const char* name) {
  // A template's stub can be registered by several objects, with equal code: the first one counts.
  functions_.emplace(stub, &function_called(*module, name));
}

Function& Modules::function_called(Module& module, const std::string& name) {
  const auto known = std::ranges::find(module.functions, name, &Function::name);
  if (known != module.functions.end()) return *known;
  Function& function = module.functions.emplace_back();
  function.module = &module;
  function.name = name;
  functions_.emplace(&function, &function);
  return function;
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
  const auto found = functions_.find(stub_or_handle);
  return found == functions_.end() ? nullptr : found->second;
}

Variable* Modules::find_variable(const void* shadow) {
  const auto found = variables_.find(shadow);
  return found == variables_.end() ? nullptr : &found->second;
}

void Modules::load(Module& module, machine::Machine& machine, const WantedCode& wanted) {
  if (module.program != nullptr) return;
  require_readable([&] { read_code(module, machine, wanted); });
  for (const Variable& variable : module.managed) {
    *variable.managed = machine.find_symbol(*module.program, variable.name).address;
  }
}

machine::Kernel& Modules::kernel(Function& function, machine::Machine& machine,
                                 const WantedCode& wanted) {
  if (function.kernel != nullptr) return *function.kernel;
  Module& module = *function.module;
  load(module, machine, wanted);
  function.kernel = machine.find_kernel(*module.program, function.name);
  if (function.kernel == nullptr && !module.left_out.empty()) {
    throw Failure{cudaErrorNoKernelImageForDevice, module.left_out};
  }
  if (function.kernel == nullptr) {
    throw Failure{cudaErrorInvalidDeviceFunction,
                  "the PTX for " + module.ptx_arch + " has no kernel " + function.name};
  }
  MachineCode::Answer answer = module.machine_code->about(function.name);
  machine.set_access_plans(*function.kernel, std::move(answer.plans));
  function.trust = std::make_shared<counting::KernelTrust>(std::move(answer.trust));
  function.code = std::move(answer.code);
  return *function.kernel;
}

void Modules::unload() {
  for (Module& module : modules_) {
    module.program = nullptr;
    module.machine_code.reset();
    module.code.clear();
    for (Function& function : module.functions) {
      function.kernel = nullptr;
      function.attributes = {};
    }
  }
}

std::vector<std::string> Modules::use_new_ptx(const WantedCode& wanted,
                                              const std::function<void(const ptx::Module&)>& use) {
  std::vector<std::string> reasons;
  for (Module& module : modules_) {
    if (!std::exchange(module.is_new, false)) continue;
    try {
      require_readable([&] {
        const ModuleCode selected = select_module_code(module, wanted);
        for (const SelectedCode& code : selected.code) {
          use(ptx::parse(code.ptx, "PTX for " + code.ptx_arch));
        }
        if (!selected.left_out.empty()) reasons.push_back(selected.left_out);
      });
    } catch (const Failure& failure) {
      reasons.push_back(failure.why);
    }
  }
  return reasons;
}

}  // namespace warpgauge::emulator::runtime
