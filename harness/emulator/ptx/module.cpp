// Types by name and size, and look-ups in a parsed module.
#include "harness/emulator/ptx/module.h"

#include <algorithm>
#include <array>

namespace warpgauge::emulator::ptx {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  int bytes;
};

// In the order of the enumeration.
constexpr std::array<TypeRow, 32> kTypes = {{
    {Type::none, "", 0},
    {Type::pred, "pred", 0},
    {Type::b8, "b8", 1},
    {Type::b16, "b16", 2},
    {Type::b32, "b32", 4},
    {Type::b64, "b64", 8},
    {Type::b128, "b128", 16},
    {Type::u8, "u8", 1},
    {Type::u16, "u16", 2},
    {Type::u32, "u32", 4},
    {Type::u64, "u64", 8},
    {Type::s8, "s8", 1},
    {Type::s16, "s16", 2},
    {Type::s32, "s32", 4},
    {Type::s64, "s64", 8},
    {Type::f16, "f16", 2},
    {Type::f16x2, "f16x2", 4},
    {Type::bf16, "bf16", 2},
    {Type::bf16x2, "bf16x2", 4},
    {Type::tf32, "tf32", 4},
    {Type::f32, "f32", 4},
    {Type::f32x2, "f32x2", 8},
    {Type::f64, "f64", 8},
    {Type::e4m3x2, "e4m3x2", 2},
    {Type::e5m2x2, "e5m2x2", 2},
    {Type::e2m1x2, "e2m1x2", 1},
    {Type::e2m3x2, "e2m3x2", 2},
    {Type::e3m2x2, "e3m2x2", 2},
    {Type::ue8m0x2, "ue8m0x2", 2},
    {Type::texref, "texref", 0},
    {Type::samplerref, "samplerref", 0},
    {Type::surfref, "surfref", 0},
}};

const TypeRow& row_of(Type type) { return kTypes[static_cast<std::size_t>(type)]; }
static_assert(kTypes.back().type == Type::surfref &&
              kTypes.size() == static_cast<std::size_t>(Type::surfref) + 1);

}  // namespace

int bytes_of(Type type) { return row_of(type).bytes; }

std::string_view to_string(Type type) { return row_of(type).name; }

std::optional<Type> type_from(std::string_view name) {
  if (name.empty()) return std::nullopt;
  const auto found = std::ranges::find(kTypes, name, &TypeRow::name);
  if (found == kTypes.end()) return std::nullopt;
  return found->type;
}

std::string Instruction::full_name() const {
  std::string name = opcode;
  for (const std::string& modifier : modifiers) name += "." + modifier;
  return name;
}

bool Instruction::has(std::string_view modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

const Function* Module::find(std::string_view function) const {
  const auto found = std::ranges::find(functions, function, &Function::name);
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace warpgauge::emulator::ptx
