// Registered device code, and how it gets into the machine.
#include "harness/emulator/runtime/modules.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/program.h"
#include "harness/emulator/ptx/error.h"
#include "harness/emulator/ptx/link.h"
#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/machine_code.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/elf_sections.h"
#include "metrics/machine_code/fat_binary.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge::emulator::runtime {
namespace {

int lines_of(std::string_view text) { return static_cast<int>(std::ranges::count(text, '\n')) + 1; }

/// Loads the code of a program of one object.
void load_alone(Module& module, machine::Machine& machine, const std::string& name) {
  const SelectedCode& code = module.code.objects.front();
  module.program = &machine.load(ptx::parse(code.ptx, name));
  module.machine_code = std::make_shared<MachineCode>(module.program->module(), code);
}

/// Links the code of several objects, which call each other, and loads the result.
void load_linked(Module& module, machine::Machine& machine, const std::string& name) {
  std::vector<MachineCode::Object> objects;
  std::vector<ptx::ModuleToLink> to_link;
  int lines = 0;
  for (const SelectedCode& code : module.code.objects) {
    objects.push_back({ptx::parse(code.ptx, name), &code, lines});
    to_link.push_back({objects.back().module, lines_of(code.ptx)});
    lines += to_link.back().text_lines;
  }
  module.program = &machine.load(ptx::link(std::move(to_link), name + ", linked"));
  module.machine_code = std::make_shared<MachineCode>(std::move(objects), module.program->module(),
                                                      module.code.linked_cubin);
}

/// Selects the code of a registered module.
void read_code(Module& module, const WantedCode& wanted) {
  if (module.wrapper != nullptr) module.code = select_registered(module.wrapper, wanted);
}

void load_code(Module& module, machine::Machine& machine, const WantedCode& wanted,
               const JitOptions& options) {
  const bool is_one_object = module.code.objects.size() == 1 && module.code.left_out.empty();
  SelectedCode& first = module.code.objects.front();
  if (is_one_object && first.cubin.empty()) {
    compile(first, wanted.arch, options);
  } else if (is_one_object) {
    add_line_table(first, wanted.arch);
  }
  const auto load_objects = is_one_object ? load_alone : load_linked;
  load_objects(module, machine, "PTX for " + module.ptx_arch());
}

/// Calls `read`, which reads code. Throws Failure if the code cannot be run.
template <typename Read>
void require_readable(Read read) try {
  read();
} catch (const NoPtx& error) {
  throw Failure{.code = cudaErrorNoKernelImageForDevice,
                .why = error.what(),
                .is_refusal = error.runs_on_gpu};
} catch (const std::invalid_argument& error) {
  throw Failure{cudaErrorInvalidKernelImage, error.what()};
} catch (const metrics::FatBinaryError& error) {
  throw Failure{cudaErrorInvalidKernelImage, error.what()};
} catch (const metrics::CubinError& error) {
  throw Failure{cudaErrorInvalidKernelImage, error.what()};
} catch (const metrics::ElfError& error) {
  throw Failure{cudaErrorInvalidKernelImage, error.what()};
} catch (const metrics::LineTableError& error) {
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

Module& Modules::add_loaded(const void* image, machine::Machine& machine, const WantedCode& wanted,
                            const JitOptions& options) {
  Module& module = modules_.emplace_back();
  try {
    require_readable([&] {
      module.code = select_loaded(image, wanted);
      load_code(module, machine, wanted, options);
    });
  } catch (...) {
    remove(&module, &machine);
    throw;
  }
  return module;
}

Module* Modules::find_loaded(const void* handle) {
  const auto found = std::ranges::find_if(modules_, [&](const Module& module) {
    return &module == handle && module.wrapper == nullptr;
  });
  return found == modules_.end() ? nullptr : &*found;
}

std::vector<Module*> Modules::loaded_in(const void* context) {
  std::vector<Module*> found;
  for (Module& module : modules_) {
    if (module.wrapper == nullptr && module.context == context) found.push_back(&module);
  }
  return found;
}

void Modules::remove(Module* module, machine::Machine* machine) {
  const auto found = std::ranges::find_if(modules_, [&](Module& m) { return &m == module; });
  if (found == modules_.end()) return;
  std::erase_if(functions_, [&](const auto& entry) { return entry.second->module == module; });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == module; });
  if (machine != nullptr && module->program != nullptr) machine->unload(*module->program);
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
  require_readable([&] {
    read_code(module, wanted);
    load_code(module, machine, wanted, {});
  });
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
  if (function.kernel == nullptr && !module.code.left_out.empty()) {
    throw Failure{cudaErrorNoKernelImageForDevice, module.code.left_out};
  }
  if (function.kernel == nullptr) {
    throw Failure{cudaErrorInvalidDeviceFunction,
                  "the PTX for " + module.ptx_arch() + " has no kernel " + function.name};
  }
  MachineCode::Answer answer = module.machine_code->about(function.name);
  machine.set_access_plans(*function.kernel, std::move(answer.plans));
  function.trust = std::make_shared<counting::KernelTrust>(std::move(answer.trust));
  function.code = std::move(answer.code);
  return *function.kernel;
}

void Modules::unload() {
  std::erase_if(functions_, [](const auto& f) { return f.second->module->wrapper == nullptr; });
  std::erase_if(variables_, [](const auto& v) { return v.second.module->wrapper == nullptr; });
  std::erase_if(modules_, [](const Module& module) { return module.wrapper == nullptr; });
  for (Module& module : modules_) {
    module.program = nullptr;
    module.machine_code.reset();
    module.code = {};
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
        const ModuleCode code =
            module.wrapper == nullptr ? module.code : select_registered(module.wrapper, wanted);
        for (const SelectedCode& object : code.objects) {
          use(ptx::parse(object.ptx, "PTX for " + object.ptx_arch));
        }
        if (!code.left_out.empty()) reasons.push_back(code.left_out);
      });
    } catch (const Failure& failure) {
      reasons.push_back(failure.why);
    }
  }
  return reasons;
}

}  // namespace warpgauge::emulator::runtime
