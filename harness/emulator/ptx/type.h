// Types and state spaces of PTX.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpgauge::emulator::ptx {

/// Scalar types of declarations and of instructions (PTX ISA, "Types"). `none` where there is none.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3x2,
  e5m2x2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  texref,
  samplerref,
  surfref,
};
int bytes_of(Type type);  ///< size of one value; 0 for none, pred and the opaque types
std::optional<Type> type_from(std::string_view name);  ///< "f32" -> Type::f32
std::string_view to_string(Type type);

enum class Space : std::uint8_t { generic, reg, constant, global, local, param, shared };

}  // namespace warpgauge::emulator::ptx
