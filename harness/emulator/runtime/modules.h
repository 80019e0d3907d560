// The device code of the process: what nvcc's start-up code registers, and its programs once they
// are loaded into the machine.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/runtime/code_selection.h"
#include "harness/emulator/runtime/jit.h"
#include "metrics/counting/emulator_report.h"

namespace warpgauge::emulator::counting {
struct KernelTrust;
}

namespace warpgauge::emulator::runtime {

class MachineCode;
struct Module;

/// What a program sets with cudaFuncSetAttribute.
struct FunctionAttributes {
  int max_dynamic_shared_bytes = -1;  ///< -1: not set
  int shared_carveout = cudaSharedmemCarveoutDefault;
  bool takes_large_clusters = false;  ///< more than 8 blocks
  int cluster_policy = cudaClusterSchedulingPolicyDefault;
};

/// A kernel that was registered. Its address is its cudaKernel_t.
struct Function {
  Module* module = nullptr;
  std::string name;  ///< mangled
  FunctionAttributes attributes;

  // These are of the device, from the first use on.
  machine::Kernel* kernel = nullptr;
  std::shared_ptr<const counting::KernelTrust> trust;
  metrics::ReportedCode code;  ///< empty without machine code

  /// Per thread; 0 where they are not known.
  int registers() const { return static_cast<int>(code.resources.registers.value_or(0)); }
};

/// A variable of the device code, which the host names by the address of its shadow.
struct Variable {
  Module* module = nullptr;
  std::string name;
  std::size_t bytes = 0;
  void** managed = nullptr;  ///< where the host keeps the address of a __managed__ variable
};

/// One fat binary, or what a program has loaded. Its address is the handle that nvcc's code keeps
/// (as void**), and a CUmodule, CUlibrary and cudaLibrary_t.
struct Module {
  const void* wrapper = nullptr;  ///< what was registered; nullptr where a program has loaded it
  std::list<Function> functions;
  std::list<Variable> managed;
  bool is_new = true;             ///< use_new_ptx() has not seen it
  const void* context = nullptr;  ///< the driver's, whose end is the module's, too

  // The device has these once the module is loaded.
  machine::Program* program = nullptr;
  ModuleCode code;  ///< of one that was loaded by the program: always
  std::shared_ptr<const MachineCode> machine_code;  ///< looks into `program` and `code`

  /// "sm_90": what its PTX was made for, once the module is loaded.
  const std::string& ptx_arch() const { return code.objects.front().ptx_arch; }
};

class Modules {
 public:
  Module* add(const void* wrapper);
  /// Loads what a program gives: see select_loaded(). Throws Failure as load() does.
  Module& add_loaded(const void* image, machine::Machine& machine, const WantedCode& wanted,
                     const JitOptions& options);
  /// One that the program has loaded. nullptr if unknown.
  Module* find_loaded(const void* handle);
  /// Those of a context.
  std::vector<Module*> loaded_in(const void* context);
  /// Also unloads it from the machine, where there is one.
  void remove(Module* module, machine::Machine* machine);
  void add_function(Module* module, const void* stub, const char* name);
  void add_variable(Module* module, const void* shadow, const char* name, std::size_t bytes);
  void add_managed_variable(Module* module, void** pointer, const char* name, std::size_t bytes);

  /// The kernel of this name in a module, which need not be registered.
  Function& function_called(Module& module, const std::string& name);
  /// The kernel of a stub, or of a cudaKernel_t. nullptr if unknown.
  Function* find_function(const void* stub_or_handle);
  /// The variable with this shadow. nullptr if unknown.
  Variable* find_variable(const void* shadow);

  /// Loads the code of a module, once. Throws Failure with cudaErrorNoKernelImageForDevice,
  /// cudaErrorInvalidKernelImage or cudaErrorInvalidPtx.
  void load(Module& module, machine::Machine& machine, const WantedCode& wanted);
  /// The kernel of a function, ready for its launch. Throws Failure as load() does, and with
  /// cudaErrorInvalidDeviceFunction.
  machine::Kernel& kernel(Function& function, machine::Machine& machine, const WantedCode& wanted);
  /// Forgets what belongs to the device, which is about to end, and what the program has loaded.
  void unload();

  /// Calls `use` with the PTX of each object registered since the last call, as it would be loaded.
  /// Returns the reasons why code cannot be loaded.
  std::vector<std::string> use_new_ptx(const WantedCode& wanted,
                                       const std::function<void(const ptx::Module&)>& use);

 private:
  std::list<Module> modules_;
  std::unordered_map<const void*, Function*> functions_;  ///< by stub and by cudaKernel_t
  std::unordered_map<const void*, Variable> variables_;   ///< by shadow
};

}  // namespace warpgauge::emulator::runtime
