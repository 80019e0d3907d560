// Computes an address anew from parameters, indices and constants, by the definitions in the PTX.
#include "harness/emulator/machine/core/wrapped_product.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/parameter_layout.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {
namespace {

using ptx::Operand;
using ptx::Type;

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

bool is_whole(Type type) {
  return is_signed(type) || type == Type::u8 || type == Type::u16 || type == Type::u32 ||
         type == Type::u64 || type == Type::b8 || type == Type::b16 || type == Type::b32 ||
         type == Type::b64;
}

/// The type of the sources of an instruction that is of whole numbers alone.
std::optional<Type> whole_type(const ptx::Instruction& instruction) {
  std::optional<Type> last;
  for (const std::string& modifier : instruction.modifiers) {
    const std::optional<Type> type = ptx::type_from(modifier);
    if (type && !is_whole(*type)) return std::nullopt;
    if (type) last = type;
  }
  return last;
}

/// The number that the low bits of `value` are in this type.
std::int64_t as_held(std::int64_t value, int bytes, bool has_sign) {
  if (bytes >= 8) return value;
  const int unused = 64 - 8 * bytes;
  const auto moved = static_cast<std::uint64_t>(value) << unused;
  return has_sign ? static_cast<std::int64_t>(moved) >> unused
                  : static_cast<std::int64_t>(moved >> unused);
}

/// As GCC and Clang compute it: what does not fit 64 bits wraps.
std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

class AddressReader {
 public:
  AddressReader(const Act& act, const Launch& launch)
      : function_(*act.code->function),
        act_(act),
        launch_(launch),
        thread_(index_in(launch.block, act.thread)),
        block_(index_in(launch.grid, act.block)) {
    for (const ptx::Instruction& instruction : function_.body) {
      if (!instruction.operands.empty()) define(instruction.operands.front(), instruction);
    }
  }

  std::string text() {
    for (const Operand& operand : function_.body.at(act_.instruction).operands) {
      if (operand.kind != Operand::Kind::address || operand.elements.empty()) continue;
      value(operand.elements.front(), 8, false);
    }
    return text_;
  }

 private:
  using Value = std::optional<std::int64_t>;

  /// A register has a definition if one instruction alone has it as its first operand.
  void define(const Operand& operand, const ptx::Instruction& instruction) {
    if (operand.kind == Operand::Kind::name) {
      const auto [known, is_new] = definitions_.try_emplace(operand.name, &instruction);
      if (!is_new) known->second = nullptr;
    } else if (operand.kind != Operand::Kind::address) {
      for (const Operand& element : operand.elements) define(element, instruction);
    }
  }

  /// The number that the operand is, read as one of so many bytes: PTX leaves it to the reader
  /// whether a register has a sign.
  Value value(const Operand& operand, int bytes, bool has_sign) {
    if (operand.kind == Operand::Kind::integer) {
      return as_held(static_cast<std::int64_t>(operand.bits), bytes, has_sign);
    }
    if (operand.kind != Operand::Kind::name) return std::nullopt;
    if (const Value special = index_or_size(operand.name)) return special;
    const auto found = definitions_.find(operand.name);
    if (found == definitions_.end() || found->second == nullptr) return std::nullopt;
    const ptx::Instruction& definition = *found->second;
    found->second = nullptr;  // where it is a part of itself, it is not known
    Value result;
    if (!definition.guard) result = result_of(definition, has_sign);
    found->second = &definition;
    if (!result) return std::nullopt;
    return as_held(*result, bytes, has_sign);
  }

  Value result_of(const ptx::Instruction& definition, bool has_sign) {
    const auto& operands = definition.operands;
    const std::string& opcode = definition.opcode;
    const std::optional<Type> type = whole_type(definition);
    if (operands.size() < 2 || !type) return std::nullopt;
    const int bytes = ptx::bytes_of(*type);
    if (opcode == "ld") return definition.has("param") ? parameter(operands[1], *type) : Value{};
    if (opcode == "mov" || opcode == "cvta") return value(operands[1], bytes, has_sign);
    if (opcode == "cvt") return value(operands[1], bytes, is_signed(*type));
    const bool adds = opcode == "mad", multiplies = adds || opcode == "mul";
    const bool is_known = multiplies || opcode == "shl" || opcode == "add" || opcode == "sub";
    // What others make of a product, as a hash does by a mask, may well want it to wrap.
    if (!is_known || definition.has("hi") || operands.size() < (adds ? 4 : 3)) return std::nullopt;
    const bool is_wide = definition.has("wide");
    // A register of 32 bits is what those who read it take it for; `wide` says what it takes.
    const bool sign = is_wide ? is_signed(*type) : has_sign;
    const Value a = value(operands[1], bytes, sign);
    if (opcode == "shl") {
      const Value count = value(operands[2], 4, false);
      if (!count || *count < 0 || *count >= 8 * bytes) return std::nullopt;
      return checked(definition, a, std::int64_t{1} << *count, bytes, sign);
    }
    const Value b = value(operands[2], bytes, sign);
    if (opcode == "add" && a && b) return sum(*a, *b);
    if (opcode == "sub" && a && b) return sum(*a, product(*b, -1));
    if (!multiplies) return std::nullopt;
    const Value c = adds ? value(operands[3], is_wide ? 8 : bytes, sign) : Value{0};
    const Value whole =
        is_wide && a && b ? product(*a, *b) : checked(definition, a, b, bytes, sign);
    if (!whole || !c) return std::nullopt;
    return sum(*whole, *c);
  }

  /// a * b as the register holds it. The first product that does not fit 32 bits becomes the text.
  Value checked(const ptx::Instruction& definition, Value a, Value b, int bytes, bool has_sign) {
    if (!a || !b) return std::nullopt;
    const std::int64_t exact = product(*a, *b), held = as_held(exact, bytes, has_sign);
    if (bytes == 4 && exact != held && text_.empty()) {
      const auto position = static_cast<std::uint32_t>(&definition - function_.body.data());
      text_ = "; the 32-bit product " + std::to_string(*a) + " * " + std::to_string(*b) + " at " +
              source_place(*act_.code, position) + " wrapped to " + std::to_string(held) +
              ": compute it in 64 bits";
    }
    return held;
  }

  /// A kernel's parameter; the launch has none of a device function's.
  Value parameter(const Operand& operand, Type type) const {
    if (!function_.is_kernel || operand.kind != Operand::Kind::address) return std::nullopt;
    if (operand.elements.size() != 1) return std::nullopt;
    const std::string& name = operand.elements.front().name;
    const auto found = std::ranges::find(function_.parameters, name, &ptx::Variable::name);
    if (found == function_.parameters.end()) return std::nullopt;
    const auto index = static_cast<std::size_t>(found - function_.parameters.begin());
    const std::uint64_t offset = parameters_of(function_).parameters[index].offset +
                                 static_cast<std::uint64_t>(operand.offset);
    const int bytes = ptx::bytes_of(type);
    if (offset + static_cast<std::uint64_t>(bytes) > launch_.parameters.size()) return std::nullopt;
    std::int64_t held = 0;
    std::memcpy(&held, launch_.parameters.data() + offset, static_cast<std::size_t>(bytes));
    return as_held(held, bytes, is_signed(type));
  }

  /// %tid, %ntid, %ctaid and %nctaid.
  Value index_or_size(std::string_view name) const {
    const std::size_t point = name.rfind('.');
    if (point == std::string_view::npos || point + 2 != name.size()) return std::nullopt;
    const auto axis = static_cast<std::size_t>(name.back() - 'x');
    if (axis > 2) return std::nullopt;
    const std::string_view what = name.substr(0, point);
    if (what == "%tid") return thread_[axis];
    if (what == "%ntid") return launch_.block[axis];
    if (what == "%ctaid") return block_[axis];
    if (what == "%nctaid") return launch_.grid[axis];
    return std::nullopt;
  }

  const ptx::Function& function_;
  const Act& act_;
  const Launch& launch_;
  const std::array<std::uint32_t, 3> thread_, block_;
  std::unordered_map<std::string_view, const ptx::Instruction*> definitions_;
  std::string text_;
};

}  // namespace

std::string wrapped_product_text(const Act& act, const Launch& launch) {
  return AddressReader(act, launch).text();
}

}  // namespace warpgauge::emulator::machine
