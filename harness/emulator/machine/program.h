// A loaded module: its variables have memory, its functions addresses.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/emulator/machine/core/access_plan.h"
#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/launch.h"
#include "harness/emulator/machine/core/location.h"
#include "harness/emulator/machine/core/pointers.h"
#include "harness/emulator/machine/core/symbol.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {

namespace control {
struct Tallies;
}
class Kernel;

class Program {
 public:
  /// `number` distinguishes the programs of a machine. Throws ptx::PtxError.
  Program(ptx::Module module, memory::Memory& memory, std::uint32_t number);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ptx::Module& module() const { return module_; }
  /// Where a variable of the module or a function lies (.shared: nothing, that is up to the
  /// kernel).
  std::optional<Location> place(std::string_view name) const;
  Symbol symbol(std::string_view name) const;
  /// A variable of the module, of any space; nullptr if there is none.
  const ptx::Variable* variable(std::string_view name) const;
  /// The one with a body if there are several declarations; nullptr if there is none.
  const ptx::Function* function(std::string_view name) const;
  /// Functions whose addresses variables of the module hold or its functions take: what a call
  /// through a pointer may reach, whichever kernel the pointer comes from.
  const std::vector<const ptx::Function*>& addressed() const;
  Kernel* kernel(std::string_view name);
  /// nullptr if no function has this address.
  const ptx::Function* function_at(std::uint64_t address) const;

 private:
  void allocate(const ptx::Variable& variable);
  void initialise(const ptx::Variable& variable);
  std::uint64_t address_of(std::string_view name, const ptx::Variable& user) const;

  ptx::Module module_;
  memory::Memory& memory_;
  std::uint32_t number_;
  std::unordered_map<std::string_view, const ptx::Variable*> variables_;
  std::unordered_map<std::string_view, const ptx::Function*> functions_;
  std::unordered_map<std::string_view, std::byte*> addresses_;
  std::vector<const ptx::Function*> in_variables_;  ///< functions whose addresses these hold
  mutable std::optional<std::vector<const ptx::Function*>> addressed_;  ///< when first asked for
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels_;
};

/// The functions that a kernel may reach, and its shared memory. Not the kernels that it may
/// launch.
struct KernelScope {
  struct Shared {
    const ptx::Variable* variable;
    std::uint64_t offset;
  };
  std::vector<const ptx::Function*> functions;  ///< the kernel first
  std::vector<const ptx::Function*> addressed;  ///< functions that indirect calls may reach
  std::vector<Shared> shared;
  std::uint64_t shared_bytes = 0;  ///< the static variables'; dynamic ones begin here

  KernelScope(const Program& program, const ptx::Function& kernel);
  const Shared* find(const ptx::Variable& variable) const;

 private:
  void lay_out_shared(const std::vector<const ptx::Variable*>& variables);
};

/// The function operand of a call: its name, or a register that holds its address.
std::string_view callee(const ptx::Instruction& call);

class Kernel {
 public:
  Kernel(const Program& program, const ptx::Function& function);
  ~Kernel();

  const Program& program;
  const ptx::Function& function;
  const KernelScope scope;
  const KernelInfo info;
  AccessPlans plans;
  std::unique_ptr<KernelCode> code;          ///< from the first launch on
  mutable std::optional<Pointers> pointers;  ///< when first asked for: settled_reads()
  /// Warp instructions of its last launch, for how many threads the next one begins with.
  mutable std::atomic<std::uint64_t> last_steps = ~std::uint64_t{0};
  /// By worker, of its last launch, for the next one: which need not make new ones then, and knows
  /// what accesses cost. Only kernels that were launched lately have them.
  mutable std::vector<std::unique_ptr<control::Tallies>> tallies;
};

}  // namespace warpgauge::emulator::machine
