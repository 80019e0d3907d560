// Loads modules: memory and initial values for variables, addresses for functions.
#include "harness/emulator/machine/program.h"

#include <algorithm>
#include <cstring>

#include "harness/emulator/machine/control/tallies.h"
#include "harness/emulator/machine/core/parameter_layout.h"
#include "harness/emulator/machine/core/window.h"
#include "harness/emulator/ptx/error.h"

namespace warpgauge::emulator::machine {
namespace {

// Addresses of functions: a window of their own, so that no data can be taken for one.
constexpr std::uint64_t kFunctionWindow = std::uint64_t{0x00f0} << kWindowShift;

std::uint64_t function_address(std::uint32_t program, std::size_t function) {
  return kFunctionWindow | std::uint64_t{program} << 24 | (function + 1) << 4;
}

bool is_dynamic(const ptx::Variable& variable) { return variable.bytes == 0; }

KernelInfo info_of(const ptx::Function& kernel, const KernelScope& scope, const Program& program) {
  KernelInfo info;
  info.name = kernel.name;
  for (const ptx::Instruction& instruction : kernel.body) {
    if (instruction.source_line < 0) continue;
    const ptx::SourceLine& line = program.module().source_lines[instruction.source_line];
    info.source = {line.file, line.line};
    break;
  }
  info.shared_static_bytes = scope.shared_bytes;
  for (const ptx::Variable& variable : kernel.variables) {
    if (variable.space != ptx::Space::local) continue;
    info.local_bytes = round_up(info.local_bytes, variable.alignment) + variable.bytes;
  }
  for (const ptx::Variable& variable : program.module().variables) {
    if (variable.space == ptx::Space::constant) info.constant_bytes += variable.bytes;
  }
  if (!kernel.cluster.empty()) {
    info.cluster = {1, 1, 1};
    std::ranges::copy(kernel.cluster, info.cluster->begin());
  }
  info.max_threads = kernel.required_threads.empty() ? kernel.max_threads : kernel.required_threads;
  auto [parameters, bytes] = parameters_of(kernel);
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    if (!kernel.parameters[n].is_hidden) info.parameters.push_back(parameters[n]);
  }
  info.parameter_bytes = bytes;
  return info;
}

}  // namespace

Program::Program(ptx::Module module, memory::Memory& memory, std::uint32_t number)
    : module_(std::move(module)), memory_(memory), number_(number) {
  for (const ptx::Function& function : module_.functions) {
    const auto [known, is_new] = functions_.try_emplace(function.name, &function);
    if (!is_new && function.has_body) known->second = &function;
  }
  for (const ptx::Variable& variable : module_.variables) {
    const auto [known, is_new] = variables_.try_emplace(variable.name, &variable);
    if (!is_new && known->second->is_extern) known->second = &variable;
  }
  for (const ptx::Variable& variable : module_.variables) allocate(variable);
  for (const ptx::Variable& variable : module_.variables) initialise(variable);
}

Program::~Program() {
  for (const auto& [name, address] : addresses_) memory_.free(address);
}

Kernel* Program::kernel(std::string_view name) {
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second.get();
  const ptx::Function* const found = function(name);
  if (found == nullptr || !found->is_kernel || !found->has_body) return nullptr;
  auto& made = kernels_[std::string(name)];
  made = std::make_unique<Kernel>(*this, *found);
  return made.get();
}

const ptx::Variable* Program::variable(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : found->second;
}

const ptx::Function* Program::function(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

const ptx::Function* Program::function_at(std::uint64_t address) const {
  const std::uint64_t first = function_address(number_, 0);
  const std::uint64_t step = function_address(number_, 1) - first;
  const std::uint64_t position = (address - first) / step;  // huge for an address in front of it
  const bool is_one = position < module_.functions.size() && (address - first) % step == 0;
  return is_one ? function(module_.functions[position].name) : nullptr;
}

std::optional<Location> Program::place(std::string_view name) const {
  if (const auto found = addresses_.find(name); found != addresses_.end()) {
    const ptx::Variable& of = *variables_.at(name);
    const auto kind =
        of.space == ptx::Space::constant ? Location::Kind::constant : Location::Kind::global;
    return Location{kind, reinterpret_cast<std::uint64_t>(found->second), of.bytes, of.alignment};
  }
  if (const ptx::Function* const found = function(name)) {
    const auto position = static_cast<std::size_t>(found - module_.functions.data());
    return Location{Location::Kind::function, function_address(number_, position)};
  }
  return std::nullopt;
}

Symbol Program::symbol(std::string_view name) const {
  const auto found = addresses_.find(name);
  if (found == addresses_.end()) return {};
  const ptx::Variable& of = *variables_.at(name);
  return {found->second, of.bytes, of.space == ptx::Space::constant};
}

void Program::allocate(const ptx::Variable& variable) {
  if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) return;
  if (variable.bytes == 0) return;  // textures and samplers: no memory of their own
  if (variable.is_extern || variables_.at(variable.name) != &variable) return;  // only declared
  std::byte* const address =
      memory_.allocate(variable.bytes, memory::Memory::Kind::symbol, variable.name);
  if (address == nullptr) {
    throw ptx::PtxError(module_.file + ": no memory for the " + std::to_string(variable.bytes) +
                        " bytes of variable " + variable.name);
  }
  addresses_[variable.name] = address;
}

std::uint64_t Program::address_of(std::string_view name, const ptx::Variable& user) const {
  if (const auto found = place(name)) return found->address;
  throw ptx::PtxError(module_.file + ":" + std::to_string(user.text_line) + ": variable " +
                      user.name + " holds the address of " + std::string(name) +
                      ", which this module does not define: link the whole program (no -rdc=true)");
}

void Program::initialise(const ptx::Variable& variable) {
  const auto found = addresses_.find(variable.name);
  if (found == addresses_.end() || variables_.at(variable.name) != &variable) return;
  std::byte* const address = found->second;
  std::memset(address, 0, variable.bytes);
  std::copy(variable.initial.begin(), variable.initial.end(), address);
  for (const auto& relocation : variable.relocations) {
    const std::uint64_t value =
        address_of(relocation.name, variable) + static_cast<std::uint64_t>(relocation.addend);
    std::memcpy(address + relocation.offset, &value, static_cast<std::size_t>(relocation.size));
    const ptx::Function* const target = function(relocation.name);
    if (target != nullptr && !target->is_kernel) in_variables_.push_back(target);
  }
  if (variable.space == ptx::Space::constant) {
    memory_.make_read_only(address, memory::Memory::Rights::constant, "which is constant");
  }
}

namespace {

// Walks over all names that a function's instructions mention.
template <typename Visit>
void visit_names(const ptx::Operand& operand, const Visit& visit) {
  if (operand.kind == ptx::Operand::Kind::name) visit(operand.name);
  for (const ptx::Operand& element : operand.elements) visit_names(element, visit);
}

const ptx::Variable* own_variable(const ptx::Function& function, std::string_view name) {
  for (const ptx::Variable& variable : function.variables) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

// The names that the functions of a kernel mention, each once.
struct Mentioned {
  std::vector<const ptx::Function*> functions, addressed;
  std::vector<const ptx::Variable*> shared;

  template <typename T>
  static void add(std::vector<const T*>& list, const T& item) {
    if (std::find(list.begin(), list.end(), &item) == list.end()) list.push_back(&item);
  }
  void reach(const ptx::Function& function) { add(functions, function); }
  void take_address(const ptx::Function& function) {
    add(addressed, function);
    reach(function);
  }
};

void look_through(const Program& program, const ptx::Function& function, Mentioned* mentioned) {
  for (const ptx::Instruction& instruction : function.body) {
    const bool is_call = instruction.opcode == "call";
    const auto visit = [&](std::string_view name) {
      if (name.starts_with('%')) return;  // a register: nearly all names are
      const ptx::Variable* variable = own_variable(function, name);
      if (variable == nullptr) variable = program.variable(name);
      if (variable != nullptr) {
        if (variable->space == ptx::Space::shared) Mentioned::add(mentioned->shared, *variable);
      } else if (const ptx::Function* const named = program.function(name)) {
        if (named->is_kernel) return;  // a launch takes its address
        is_call ? mentioned->reach(*named) : mentioned->take_address(*named);
      }
    };
    for (const ptx::Operand& operand : instruction.operands) visit_names(operand, visit);
    if (!is_call || program.function(callee(instruction)) != nullptr) continue;
    for (const ptx::Function* const target : program.addressed()) mentioned->take_address(*target);
  }
}

}  // namespace

const std::vector<const ptx::Function*>& Program::addressed() const {
  if (addressed_) return *addressed_;
  addressed_ = in_variables_;
  for (const ptx::Function& function : module_.functions) {
    for (const ptx::Instruction& instruction : function.body) {
      if (instruction.opcode == "call") continue;
      const auto visit = [&](std::string_view name) {
        if (name.starts_with('%') || own_variable(function, name) != nullptr) return;
        const ptx::Function* const named = this->function(name);
        if (named != nullptr && !named->is_kernel) Mentioned::add(*addressed_, *named);
      };
      for (const ptx::Operand& operand : instruction.operands) visit_names(operand, visit);
    }
  }
  return *addressed_;
}

std::string_view callee(const ptx::Instruction& call) {
  for (const ptx::Operand& operand : call.operands) {
    if (operand.kind == ptx::Operand::Kind::name) return operand.name;
  }
  return {};
}

KernelScope::KernelScope(const Program& program, const ptx::Function& kernel) {
  Mentioned mentioned;
  mentioned.reach(kernel);
  for (std::size_t n = 0; n < mentioned.functions.size(); ++n) {
    look_through(program, *mentioned.functions[n], &mentioned);
  }
  functions = std::move(mentioned.functions);
  addressed = std::move(mentioned.addressed);
  lay_out_shared(mentioned.shared);
}

// Static variables in the order in which they are mentioned, then the dynamic ones, which all
// begin at the same place.
void KernelScope::lay_out_shared(const std::vector<const ptx::Variable*>& variables) {
  std::uint64_t dynamic_alignment = 1;
  for (const ptx::Variable* const variable : variables) {
    if (is_dynamic(*variable)) {
      dynamic_alignment = std::max<std::uint64_t>(dynamic_alignment, variable->alignment);
      continue;
    }
    const std::uint64_t offset = round_up(shared_bytes, variable->alignment);
    shared.push_back({variable, offset});
    shared_bytes = offset + variable->bytes;
  }
  shared_bytes = round_up(shared_bytes, dynamic_alignment);
  for (const ptx::Variable* const variable : variables) {
    if (is_dynamic(*variable)) shared.push_back({variable, shared_bytes});
  }
}

const KernelScope::Shared* KernelScope::find(const ptx::Variable& variable) const {
  const auto found = std::find_if(shared.begin(), shared.end(), [&](const Shared& candidate) {
    return candidate.variable == &variable;
  });
  return found == shared.end() ? nullptr : &*found;
}

Kernel::Kernel(const Program& program, const ptx::Function& function)
    : program(program),
      function(function),
      scope(program, function),
      info(info_of(function, scope, program)) {}

Kernel::~Kernel() = default;

}  // namespace warpgauge::emulator::machine
