// Parameters of calls in registers.
#include "harness/emulator/machine/decode/parameter_registers.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpgauge::emulator::machine::decode {
namespace {

using Kind = ptx::Operand::Kind;

/// The type of a register in place of a variable of so many bytes; none: it cannot be in one.
ptx::Type register_of(std::uint64_t bytes) {
  if (bytes == 4) return ptx::Type::b32;
  return bytes == 8 ? ptx::Type::b64 : ptx::Type::none;
}

bool is_load(const ptx::Instruction& instruction) { return instruction.opcode == "ld"; }

/// ld.param or st.param of one value.
bool is_access(const ptx::Instruction& instruction) {
  return (is_load(instruction) || instruction.opcode == "st") && instruction.operands.size() == 2 &&
         instruction.modifiers.size() == 2 && instruction.modifiers[0] == "param";
}

const ptx::Operand& address_of(const ptx::Instruction& access) {
  return access.operands[is_load(access) ? 1 : 0];
}
const ptx::Operand& value_of(const ptx::Instruction& access) {
  return access.operands[is_load(access) ? 0 : 1];
}

/// The variables of a function that can be in registers.
class Candidates {
 public:
  explicit Candidates(const ptx::Function& function) {
    for (const ptx::Register& declared : function.registers)
      registers_[declared.name] = declared.type;
    for (const ptx::Variable& variable : function.variables) add(variable);
    if (!function.is_kernel) {
      for (const ptx::Variable& variable : function.parameters) add(variable);
      for (const ptx::Variable& variable : function.results) add(variable);
    }
    if (bytes_.empty()) return;
    for (const ptx::Instruction& instruction : function.body) look_at(instruction);
  }

  bool empty() const { return bytes_.empty(); }
  bool contains(std::string_view name) const { return bytes_.contains(name); }
  /// Whether an access has the address of one of them.
  bool are_accessed(const ptx::Instruction& access) const {
    return is_access(access) && address_of(access).kind == Kind::address &&
           contains(address_of(access).elements.at(0).name);
  }

 private:
  void add(const ptx::Variable& variable) {
    const bool fits = register_of(variable.bytes) != ptx::Type::none;
    const bool has_name = variable.name != "_";
    if (variable.space == ptx::Space::param && fits && has_name) {
      bytes_[variable.name] = variable.bytes;
    }
  }

  void look_at(const ptx::Instruction& instruction) {
    if (are_accessed(instruction) && is_whole(instruction)) return;
    for (const ptx::Operand& operand : instruction.operands) {
      const bool is_passed = instruction.opcode == "call" && operand.kind == Kind::list;
      if (!is_passed) remove(operand);
    }
  }
  bool is_whole(const ptx::Instruction& access) const {
    const ptx::Operand& address = address_of(access);
    const std::uint64_t bytes = bytes_.at(address.elements[0].name);
    const auto type = ptx::type_from(access.modifiers[1]).value_or(ptx::Type::none);
    return address.elements.size() == 1 && address.offset == 0 && address.elements[0].offset == 0 &&
           size_of(type) == bytes && fits(value_of(access), bytes);
  }
  /// A move takes a register of its own width only.
  bool fits(const ptx::Operand& value, std::uint64_t bytes) const {
    if (value.kind == Kind::integer || value.kind == Kind::real) return true;
    const auto found = registers_.find(value.name);
    return value.kind == Kind::name && found != registers_.end() && size_of(found->second) == bytes;
  }
  static std::uint64_t size_of(ptx::Type type) {
    return static_cast<std::uint64_t>(ptx::bytes_of(type));
  }
  void remove(const ptx::Operand& mentioned) {
    bytes_.erase(mentioned.name);
    for (const ptx::Operand& element : mentioned.elements) remove(element);
  }

  std::unordered_map<std::string_view, ptx::Type> registers_;
  std::unordered_map<std::string_view, std::uint64_t> bytes_;
};

/// A load or store of a register.
void make_move(ptx::Instruction& access) {
  const ptx::Operand value = value_of(access), variable = address_of(access).elements[0];
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(ptx::bytes_of(*ptx::type_from(access.modifiers[1])));
  const bool loads = is_load(access);
  access.opcode = "mov";
  access.modifiers = {std::string(to_string(register_of(bytes)))};
  access.operands = loads ? std::vector{value, variable} : std::vector{variable, value};
}

}  // namespace

std::unique_ptr<const ptx::Function> with_parameters_in_registers(const ptx::Function& function) {
  const Candidates chosen(function);
  if (chosen.empty()) return nullptr;
  auto made = std::make_unique<ptx::Function>(function);
  ptx::Function& result = *made;
  for (ptx::Instruction& instruction : result.body) {
    if (chosen.are_accessed(instruction)) make_move(instruction);
  }
  for (const ptx::Variable& variable : function.variables) {
    if (!chosen.contains(variable.name)) continue;
    result.registers.push_back({variable.name, register_of(variable.bytes)});
  }
  std::erase_if(result.variables,
                [&](const ptx::Variable& variable) { return chosen.contains(variable.name); });
  for (auto* const variables : {&result.parameters, &result.results}) {
    for (ptx::Variable& variable : *variables) {
      if (!chosen.contains(variable.name)) continue;
      variable.space = ptx::Space::reg;
      variable.type = register_of(variable.bytes);
    }
  }
  return made;
}

}  // namespace warpgauge::emulator::machine::decode
