// Operands (registers, variables, immediates) and the loop over a function's instructions.
#include "harness/emulator/machine/decode/function_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/control/calls.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/control/warpgroup.h"
#include "harness/emulator/machine/decode/control.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/decode/fragment.h"
#include "harness/emulator/machine/decode/memory_common.h"
#include "harness/emulator/machine/decode/parameter_registers.h"
#include "harness/emulator/machine/memory/address_conversion.h"

namespace warpgauge::emulator::machine::decode {
namespace {

bool is_double(ptx::Type type) { return lane_bytes(type) == 8; }

// An immediate in floating point takes the width of what it is used for.
std::uint64_t real_bits(const ptx::Operand& operand, ptx::Type type) {
  const bool wants_double = is_double(type);
  if (wants_double == (operand.type == ptx::Type::f64)) return operand.bits;
  if (wants_double) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  }
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
}

void refuse(Warp& warp, const Instruction& instruction) {
  const auto& what = *static_cast<const std::string*>(instruction.detail);
  fault(warp, instruction, warp.active, Fault::Kind::not_emulated, what.c_str());
}

constexpr Family* kFamilies[] = {decode_warp_op, decode_memory,    decode_alu,     decode_convert,
                                 decode_matrix,  decode_warpgroup, decode_texture, decode_video};

/// Families that know parts and signs take them away before they ask for the operand.
void refuse_parts_and_signs(const ptx::Operand& operand, ptx::Type type) {
  if (!operand.selector.empty()) throw Unsupported("selector ." + operand.selector);
  if (operand.negated && type != ptx::Type::pred) {
    throw Unsupported("a negated operand that is not a predicate");
  }
}

}  // namespace

FunctionDecoder::FunctionDecoder(KernelDecoder& kernel, Code& code)
    : kernel_(kernel), code_(code), rewritten_(with_parameters_in_registers(*code.function)) {
  for (const ptx::Register& declared : function().registers) types_[declared.name] = declared.type;
  for (const ptx::Label& label : function().labels) labels_[label.name] = label.position;
}

void FunctionDecoder::decode() {
  const auto& body = function().body;
  const auto last = static_cast<std::uint32_t>(body.empty() ? 0 : body.size() - 1);
  operations_.resize(placed_.size());
  for (place_ = 0; place_ < placed_.size(); ++place_) {
    const auto [position, kind] = placed_[place_];
    Instruction& result = code_.instructions[place_];
    position_ = std::min(position, last);
    if (kind == Placed::Kind::jump) {
      decode_jump(code_.instructions.data() + first_place(position), *this, &result);
      result.index = position_;
    } else if (kind == Placed::Kind::check) {
      result = decode_check(body[position]);
    } else if (kind == Placed::Kind::meeting) {
      result = decode_meeting(body[position]);
    } else if (position == body.size()) {
      result.execute = function().is_kernel ? control::execute_exit : control::execute_return;
      result.index = position_;
    } else {
      result = decode_one(body[position]);
    }
  }
  code_.register_bytes = round_up(code_.register_bytes, kVectorAlignment);
  code_.places = std::move(places_);
}

void FunctionDecoder::compile() {
  if (!kernel_.isa.compiles) return;
  std::shared_ptr<const void> compiled =
      compile::compile({code_.instructions, operations_, entries_, lives_});
  if (compiled) keep(std::move(compiled));
}

namespace {

/// Whether rules about asynchronous accesses may hold of it: see KernelCode::is_async.
bool is_asynchronous(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "mbarrier" || opcode == "mapa" || opcode == "wgmma") return true;
  return instruction.has("async") &&
         (instruction.has("bulk") || instruction.has("mbarrier::complete_tx::bytes"));
}

/// See KernelCode::has_narrow_scope.
bool is_of_narrow_scope(const ptx::Instruction& instruction) {
  constexpr std::string_view kOpcodes[] = {"ld", "st", "atom", "red"};
  return scope_of(instruction) != Scope::grid && !instruction.has("shared") &&
         std::ranges::find(kOpcodes, instruction.opcode) != std::end(kOpcodes);
}

}  // namespace

Instruction FunctionDecoder::decode_one(const ptx::Instruction& instruction) {
  Instruction result;
  const auto refused = [&](const std::string& why) {
    result = {};
    operations_[place_] = {};
    result.execute = refuse;
    const std::string what = "not emulated: " + instruction.full_name();
    result.detail = keep(std::make_shared<std::string>(why.empty() ? what : what + ": " + why));
    kernel_.result->refused.push_back({&code_, position_, why});
  };
  try {
    bool known = decode_control(instruction, *this, &result);
    for (Family* const family : kFamilies) {
      if (!known) known = family(instruction, *this, kernel_.isa, &result);
    }
    if (!known) {
      refused("");
    } else if (result.execute == nullptr) {
      refused("this form");
    } else if (fixed_.contains(position_)) {
      result = {};
      result.execute = memory::execute_nothing;
    }
  } catch (const Unsupported& problem) {
    refused(problem.what());
  } catch (const std::out_of_range&) {
    refused("operands are missing");
  }
  if (result.execute == memory::execute_nothing) {
    operations_[place_].kind = compile::Operation::Kind::nothing;
  }
  kernel_.result->is_async |= is_asynchronous(instruction);
  kernel_.result->has_narrow_scope |= is_of_narrow_scope(instruction);
  result.index = position_;
  take_guard(instruction, result);
  return result;
}

void FunctionDecoder::take_guard(const ptx::Instruction& instruction, Instruction& result) {
  if (!instruction.guard) return;
  result.guard = source(*instruction.guard, ptx::Type::pred);
  result.guarded = !result.sees_to_guard;
  result.guard_negated = instruction.guard->negated;
}

Instruction FunctionDecoder::decode_check(const ptx::Instruction& instruction) {
  auto products = std::make_shared<control::Products>();
  for (const std::uint32_t position : early_reads_.at(position_)) {
    products->push_back(code_.instructions.data() + places_[position]);
  }
  Instruction result;
  result.execute = control::check_products;
  result.sees_to_guard = instruction.guard.has_value();
  result.detail = keep(std::move(products));
  result.index = position_;
  take_guard(instruction, result);
  return result;
}

Instruction FunctionDecoder::decode_meeting(const ptx::Instruction& instruction) {
  Instruction result;
  result.execute = control::execute_product_meeting;
  result.index = position_;
  wait_for_all_lanes(*this, &result);
  note_dependence();
  take_guard(instruction, result);
  return result;
}

OperandSlot FunctionDecoder::source(const ptx::Operand& operand, ptx::Type type) {
  using Kind = ptx::Operand::Kind;
  refuse_parts_and_signs(operand, type);
  switch (operand.kind) {
    case Kind::integer:
    case Kind::real:
      return immediate(operand, type);
    case Kind::name:
      break;
    default:
      throw Unsupported("an operand that is a list or an address where a value is meant");
  }
  const ptx::Type declared = register_type(operand);
  if (declared == ptx::Type::none) return address(operand, type);
  if (lane_bytes(declared) != lane_bytes(type)) {
    throw Unsupported(operand.name + " of type ." + std::string(to_string(declared)) +
                      " is read as ." + std::string(to_string(type)));
  }
  if (types_.contains(operand.name)) return register_slot(operand.name, declared);
  const Special* const special = find_special(operand.name);
  if (special == nullptr) {
    throw Unsupported(operand.name + " can only be read by a mov of its own type");
  }
  return kernel_.result->specials.add(*special);
}

OperandSlot FunctionDecoder::immediate(const ptx::Operand& operand, ptx::Type type) {
  if (type == ptx::Type::pred) return kernel_.constants.mask(operand.bits != 0);
  const int bytes = lane_bytes(type);
  if (bytes == 0 || bytes > 8) throw Unsupported("an immediate of this type");
  const bool is_real = operand.kind == ptx::Operand::Kind::real;
  if (is_real && bytes < 4) throw Unsupported("a real immediate of 16 bits");
  return kernel_.constants.vector(is_real ? real_bits(operand, type) : operand.bits, bytes);
}

OperandSlot FunctionDecoder::address(const ptx::Operand& operand, ptx::Type type) {
  const std::optional<Location> found = place(operand.name);
  if (!found) throw Unsupported(operand.name + " is not defined in this module");
  const int bytes = lane_bytes(type);
  if (bytes != 4 && bytes != 8) throw Unsupported("an address of this type");
  const std::uint64_t value = found->address + static_cast<std::uint64_t>(operand.offset);
  if (found->kind == Location::Kind::local) return local_address(value, bytes);
  return kernel_.constants.vector(value, bytes);
}

// Depends on how deep in the stack the frame is, so the frame has it as a vector.
OperandSlot FunctionDecoder::local_address(std::uint64_t offset, int bytes) {
  for (const Code::LocalAddress& known : code_.local_addresses) {
    if (known.offset == offset && known.bytes == bytes) return known.slot;
  }
  const OperandSlot slot = scratch(static_cast<std::uint32_t>(bytes * kLanes));
  code_.local_addresses.push_back({slot, bytes, offset});
  return slot;
}

OperandSlot FunctionDecoder::destination(const ptx::Operand& operand, ptx::Type type) {
  refuse_parts_and_signs(operand, type);
  if (operand.kind == ptx::Operand::Kind::sink) {
    constexpr std::uint32_t kWidest = 16 * kLanes;
    if (!sink_) sink_ = scratch(kWidest);
    return *sink_;
  }
  const auto declared = types_.find(operand.name);
  if (operand.kind != ptx::Operand::Kind::name || declared == types_.end()) {
    throw Unsupported("the result must be a register");
  }
  if (lane_bytes(declared->second) != lane_bytes(type)) {
    throw Unsupported(operand.name + " of type ." + std::string(to_string(declared->second)) +
                      " is written as ." + std::string(to_string(type)));
  }
  return register_slot(operand.name, declared->second);
}

ptx::Type FunctionDecoder::register_type(const ptx::Operand& operand) const {
  if (operand.kind != ptx::Operand::Kind::name) return ptx::Type::none;
  if (const auto found = types_.find(operand.name); found != types_.end()) return found->second;
  if (const Special* const special = find_special(operand.name)) return special->type;
  return ptx::Type::none;
}

const void* FunctionDecoder::keep(std::shared_ptr<const void> detail) {
  return kernel_.result->details.emplace_back(std::move(detail)).get();
}

std::optional<Location> FunctionDecoder::place(std::string_view name) const {
  if (const auto found = locals_.find(name); found != locals_.end()) {
    const auto& [offset, variable] = found->second;
    return Location{Location::Kind::local, offset, variable->bytes, variable->alignment};
  }
  const auto as_shared = [&](const ptx::Variable& variable) -> std::optional<Location> {
    const KernelScope::Shared* const shared = kernel_.kernel.scope.find(variable);
    if (shared == nullptr) return std::nullopt;
    return Location{Location::Kind::shared, shared->offset, variable.bytes, variable.alignment};
  };
  for (const ptx::Variable& variable : code_.function->variables) {
    if (variable.name == name) return as_shared(variable);
  }
  if (function().is_kernel) {
    std::size_t number = 0;  // among those that a launch passes
    for (const ptx::Variable& parameter : function().parameters) {
      if (parameter.name != name) {
        number += parameter.is_hidden ? 0 : 1;
        continue;
      }
      if (parameter.is_hidden) {
        throw Unsupported("the hidden parameter " + std::string(name) +
                          ", which only NVIDIA's driver fills in");
      }
      const KernelInfo::Parameter& placed = kernel_.kernel.info.parameters[number];
      return Location{Location::Kind::kernel_parameter, placed.offset, placed.bytes,
                      parameter.alignment};
    }
  }
  const Program& program = kernel_.kernel.program;
  const ptx::Variable* const variable = program.variable(name);
  if (variable != nullptr && variable->space == ptx::Space::shared) return as_shared(*variable);
  return program.place(name);
}

std::uint32_t FunctionDecoder::counter(const ptx::Instruction&) {
  kernel_.result->counters.push_back({&code_, position_});
  return static_cast<std::uint32_t>(kernel_.result->counters.size() - 1);
}

AccessPlan FunctionDecoder::access_plan(const ptx::Instruction& instruction) const {
  const auto& entries = kernel_.kernel.plans.entries;
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), instruction.text_line,
      [](const AccessPlans::Entry& entry, int line) { return entry.text_line < line; });
  const bool known = found != entries.end() && found->text_line == instruction.text_line;
  return known ? found->plan : AccessPlan{};
}

std::int64_t FunctionDecoder::branch_number() {
  kernel_.result->branches.push_back({&code_, position_});
  return static_cast<std::int64_t>(kernel_.result->branches.size() - 1);
}

bool FunctionDecoder::is_watched(const ptx::Instruction& branch) const {
  return kernel_.kernel.plans.watched.contains(branch.text_line);
}

const Instruction* FunctionDecoder::label(std::string_view name) const {
  const auto found = labels_.find(name);
  if (found == labels_.end()) throw Unsupported("there is no label " + std::string(name));
  return code_.instructions.data() + first_place(found->second);
}

bool FunctionDecoder::is_ahead(const Instruction* target) const {
  return target > code_.instructions.data() + place_;
}

const Code* FunctionDecoder::code(std::string_view function) const {
  return kernel_.code(kernel_.kernel.program.function(function));
}

bool FunctionDecoder::is_function(std::string_view name) const {
  return kernel_.kernel.program.function(name) != nullptr;
}

Passed FunctionDecoder::passed(const ptx::Operand& operand) {
  if (operand.kind == ptx::Operand::Kind::name) {
    if (const auto found = locals_.find(operand.name); found != locals_.end()) {
      return {false,
              {},
              found->second.offset,
              static_cast<std::uint32_t>(found->second.variable->bytes)};
    }
    const ptx::Type type = register_type(operand);
    if (lane_bytes(type) == 0) throw Unsupported("cannot pass " + operand.name);
    return {true, source(operand, type), 0, static_cast<std::uint32_t>(lane_bytes(type))};
  }
  // Immediates are not typed: 64 bits serve parameters of any width.
  if (operand.kind == ptx::Operand::Kind::real) {
    return {true, immediate(operand, operand.type), 0,
            static_cast<std::uint32_t>(lane_bytes(operand.type))};
  }
  return {true, source(operand, ptx::Type::b64), 0, 8};
}

}  // namespace warpgauge::emulator::machine::decode
