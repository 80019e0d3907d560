// Handlers made of a function of one lane's values, and their selection by type.
#pragma once

#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// Unsigned, and wide enough that C++ does not promote it to int: arithmetic wraps.
template <typename T>
using Modular = typename Bits<(sizeof(T) < 4 ? 4 : sizeof(T))>::Unsigned;

template <auto kFunction, typename T, int kPerLane = 1>
void unary(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  write<T, kPerLane>(warp, instruction, [=](int i) -> T { return kFunction(a[i]); });
}

template <auto kFunction, typename T, int kPerLane = 1>
void binary(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  write<T, kPerLane>(warp, instruction, [=](int i) -> T { return kFunction(a[i], b[i]); });
}

template <auto kFunction, typename T, int kPerLane = 1>
void ternary(Warp& warp, const Instruction& instruction) {
  const T* const a = lanes<T>(warp, instruction, 0);
  const T* const b = lanes<T>(warp, instruction, 1);
  const T* const c = lanes<T>(warp, instruction, 2);
  write<T, kPerLane>(warp, instruction, [=](int i) -> T { return kFunction(a[i], b[i], c[i]); });
}

// Like unary, binary and ternary as template arguments.
template <auto kFunction>
struct Unary {
  template <typename T>
  static constexpr Execute kHandler = unary<kFunction, T>;
};
template <auto kFunction>
struct Binary {
  template <typename T>
  static constexpr Execute kHandler = binary<kFunction, T>;
};
template <auto kFunction>
struct Ternary {
  template <typename T>
  static constexpr Execute kHandler = ternary<kFunction, T>;
};

/// The handler for an integer type; `kSigns` false: signed types share that of the unsigned ones.
template <typename Form, bool kSigns>
Execute for_integer(ptx::Type type) {
  using ptx::Type;
  if constexpr (kSigns) {
    switch (type) {
      case Type::s16:
        return Form::template kHandler<s16>;
      case Type::s32:
        return Form::template kHandler<s32>;
      case Type::s64:
        return Form::template kHandler<s64>;
      default:
        break;
    }
  }
  switch (type) {
    case Type::u16:
    case Type::s16:
      return Form::template kHandler<u16>;
    case Type::u32:
    case Type::s32:
      return Form::template kHandler<u32>;
    case Type::u64:
    case Type::s64:
      return Form::template kHandler<u64>;
    default:
      return nullptr;
  }
}

/// Handlers of functions whose result depends on whether the values are signed, and of functions
/// for which it does not.
template <auto kFunction>
Execute signed_unary(ptx::Type type) {
  return for_integer<Unary<kFunction>, true>(type);
}
template <auto kFunction>
Execute modular_unary(ptx::Type type) {
  return for_integer<Unary<kFunction>, false>(type);
}
template <auto kFunction>
Execute signed_binary(ptx::Type type) {
  return for_integer<Binary<kFunction>, true>(type);
}
template <auto kFunction>
Execute modular_binary(ptx::Type type) {
  return for_integer<Binary<kFunction>, false>(type);
}
template <auto kFunction>
Execute signed_ternary(ptx::Type type) {
  return for_integer<Ternary<kFunction>, true>(type);
}
template <auto kFunction>
Execute modular_ternary(ptx::Type type) {
  return for_integer<Ternary<kFunction>, false>(type);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
