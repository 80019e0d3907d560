// Reading and writing of registers that are wider than what is converted, and rounding modes.
#pragma once

#include <fenv.h>

#include "harness/emulator/machine/isa/convert.h"
#include "harness/emulator/machine/isa/floats.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// The integers of a key's types.
template <ptx::Type kType>
struct Represented;
template <>
struct Represented<ptx::Type::u8> {
  using Type = u8;
};
template <>
struct Represented<ptx::Type::s8> {
  using Type = s8;
};
template <>
struct Represented<ptx::Type::u16> {
  using Type = u16;
};
template <>
struct Represented<ptx::Type::s16> {
  using Type = s16;
};
template <>
struct Represented<ptx::Type::u32> {
  using Type = u32;
};
template <>
struct Represented<ptx::Type::s32> {
  using Type = s32;
};
template <>
struct Represented<ptx::Type::u64> {
  using Type = u64;
};
template <>
struct Represented<ptx::Type::s64> {
  using Type = s64;
};
template <>
struct Represented<ptx::Type::f16> {
  using Type = Half;
};
template <>
struct Represented<ptx::Type::bf16> {
  using Type = BFloat;
};
template <>
struct Represented<ptx::Type::f32> {
  using Type = float;
};
template <>
struct Represented<ptx::Type::f64> {
  using Type = double;
};

/// How a value is seen when it is extended to a wider register.
template <typename T>
struct ExtendedFrom {
  using Type = decltype([] {
    if constexpr (requires(T value) { value.bits; } || kSame<T, float> || kSame<T, double>) {
      return Unsigned<T>{};
    } else {
      return T{};
    }
  }());
};

/// select<Type::a, Type::b>(type, f): f's call with the C++ type of `type`, if it is one of these.
template <ptx::Type... kTypes, typename Function>
Execute select(ptx::Type type, Function function) {
  Execute result = nullptr;
  ((type == kTypes
        ? void(result = function.template operator()<typename Represented<kTypes>::Type>())
        : void()),
   ...);
  return result;
}
template <typename Function>
Execute select_integer(ptx::Type type, Function function) {
  using ptx::Type;
  return select<Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64,
                Type::s64>(type, function);
}

/// The low bits of registers of so many bytes.
template <typename Low>
[[gnu::noinline]] void take_low(Low* low, const std::byte* registers, int bytes) {
  const auto take = [=](const auto* wide) {
    for (int i = 0; i < kLanes; ++i) low[i] = static_cast<Low>(wide[i]);
  };
  switch (bytes) {
    case 2:
      take(reinterpret_cast<const u16*>(registers));
      break;
    case 4:
      take(reinterpret_cast<const u32*>(registers));
      break;
    default:
      take(reinterpret_cast<const u64*>(registers));
      break;
  }
}

/// The vector of the source as From's; `buffer` holds them if its registers are wider.
template <typename From>
WARPGAUGE_INLINE const From* converted_source(const Warp& warp, const Instruction& instruction,
                                              From* buffer) {
  const int bytes = source_bytes(instruction.flags);
  if (bytes == int{sizeof(From)}) return lanes<From>(warp, instruction, 0);
  typedef Unsigned<From> Low __attribute__((may_alias));
  take_low<Unsigned<From>>(reinterpret_cast<Low*>(buffer), lanes<std::byte>(warp, instruction, 0),
                           bytes);
  return buffer;
}

/// Writes values to registers of so many bytes, extended by their sign or by zeros.
template <typename To>
[[gnu::noinline]] void write_extended(Warp& warp, const Instruction& instruction, const To* values,
                                      int bytes) {
  switch (bytes) {
    case 2:
      write<u16>(warp, instruction, [=](int i) { return static_cast<u16>(values[i]); });
      break;
    case 4:
      write<u32>(warp, instruction, [=](int i) { return static_cast<u32>(values[i]); });
      break;
    default:
      write<u64>(warp, instruction, [=](int i) { return static_cast<u64>(values[i]); });
      break;
  }
}

/// Writes function(i), of type To, to registers that may be wider.
template <typename To, typename Function>
WARPGAUGE_INLINE void write_converted(Warp& warp, const Instruction& instruction,
                                      Function function) {
  const int bytes = destination_bytes(instruction.flags);
  const bool direct = bytes == int{sizeof(To)};
  alignas(64) To buffer[kLanes];
  To* const registers = destination<To>(warp, instruction);
  To* const out = static_cast<To*>(
      __builtin_assume_aligned(direct && warp.active == kAllLanes ? registers : buffer, 64));
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) out[i] = function(i);
  if (!direct) {
    // Only integers have a sign to extend; the bits of floating-point values do not.
    using Extended = typename ExtendedFrom<To>::Type;
    typedef Extended Value __attribute__((may_alias));
    write_extended<Extended>(warp, instruction, reinterpret_cast<const Value*>(buffer), bytes);
  } else if (out == buffer) {
    blend(registers, buffer, warp.active);
  }
}

/// kExecute in another rounding mode of the host (see rounded() in alu_float.cpp).
template <Execute kExecute, int kMode>
void in_rounding_mode(Warp& warp, const Instruction& instruction) {
  const int before = fegetround();
  fesetround(kMode);
  kExecute(warp, instruction);
  fesetround(before);
}
template <Execute kExecute>
Execute with_host_rounding(ConvertRounding rounding) {
  switch (rounding) {
    case ConvertRounding::none:
    case ConvertRounding::rn:
      return kExecute;
    case ConvertRounding::rz:
      return in_rounding_mode<kExecute, FE_TOWARDZERO>;
    case ConvertRounding::rm:
      return in_rounding_mode<kExecute, FE_DOWNWARD>;
    case ConvertRounding::rp:
      return in_rounding_mode<kExecute, FE_UPWARD>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
