// cvt between f32 and f64, and from integers.
#include "harness/emulator/machine/isa/conversion.h"
#include "harness/emulator/machine/isa/convert_families.h"
#include "harness/emulator/machine/isa/rounding.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using convert_option::kFtz;
using convert_option::kSat;
using ptx::Type;

// Integers to floating point. In the modes rm and rp a host that has no instruction for it makes
// 0 out of differences that round to -0.
template <typename To, typename From, bool kSaturate>
void from_integer(Warp& warp, const Instruction& instruction) {
  alignas(64) From buffer[kLanes];
  const From* const a = converted_source(warp, instruction, buffer);
  write_converted<To>(warp, instruction, [=](int i) -> To {
    const To value = a[i] == 0 ? To{0} : static_cast<To>(a[i]);
    return kSaturate ? saturate(value) : value;
  });
}

/// Between f32 and f64; kRounding (to an integral value) only where both are the same.
template <typename To, typename From, ConvertRounding kRounding, unsigned kOptions>
void convert(Warp& warp, const Instruction& instruction) {
  constexpr bool kFlush = (kOptions & kFtz) != 0;
  alignas(64) From buffer[kLanes];
  const From* const a = converted_source(warp, instruction, buffer);
  write_converted<To>(warp, instruction, [=](int i) -> To {
    From value = a[i];
    if constexpr (kFlush && kSame<From, float>) value = flush(value);
    if constexpr (kRounding != ConvertRounding::none) value = integral<kRounding>(value);
    To result = static_cast<To>(value);
    if constexpr (kFlush && kSame<From, double>) {
      result = flush(result, static_cast<float>(value * kScale));
    }
    return (kOptions & kSat) != 0 ? saturate(result) : canonical(result);
  });
}

template <typename To, typename From, ConvertRounding kRounding>
Execute with_options(const ConvertKey& key) {
  constexpr bool kSingle = kSame<To, float> || kSame<From, float>;
  switch (key.options) {
    case 0:
      return convert<To, From, kRounding, 0>;
    case kSat:
      return convert<To, From, kRounding, kSat>;
    case kFtz:
      return kSingle ? convert<To, From, kRounding, kFtz * kSingle> : nullptr;
    case kFtz | kSat:
      return kSingle ? convert<To, From, kRounding, kFtz * kSingle | kSat> : nullptr;
    default:
      return nullptr;
  }
}

template <typename T>
Execute to_itself(const ConvertKey& key) {
  switch (key.rounding) {
    case ConvertRounding::none:
      return with_options<T, T, ConvertRounding::none>(key);
    case ConvertRounding::rni:
      return with_options<T, T, ConvertRounding::rni>(key);
    case ConvertRounding::rzi:
      return with_options<T, T, ConvertRounding::rzi>(key);
    case ConvertRounding::rmi:
      return with_options<T, T, ConvertRounding::rmi>(key);
    case ConvertRounding::rpi:
      return with_options<T, T, ConvertRounding::rpi>(key);
    default:
      return nullptr;
  }
}

template <unsigned kOptions>
Execute narrowed(ConvertRounding rounding) {
  return rounding == ConvertRounding::none
             ? nullptr
             : with_host_rounding<convert<float, double, ConvertRounding::none, kOptions>>(
                   rounding);
}

}  // namespace

Execute integer_to_float_conversion(const ConvertKey& key) {
  // .ftz changes nothing: no integer is subnormal.
  const unsigned options = key.options & ~kFtz;
  if ((options & ~kSat) != 0 || key.rounding == ConvertRounding::none) return nullptr;
  return select<Type::f32, Type::f64>(key.to, [&]<typename To>() {
    return select_integer(key.from, [&]<typename From>() -> Execute {
      return options != 0 ? with_host_rounding<from_integer<To, From, true>>(key.rounding)
                          : with_host_rounding<from_integer<To, From, false>>(key.rounding);
    });
  });
}

Execute float_conversion(const ConvertKey& key) {
  if (key.to == Type::f32 && key.from == Type::f32) return to_itself<float>(key);
  if (key.to == Type::f64 && key.from == Type::f64) return to_itself<double>(key);
  if (key.to == Type::f64 && key.from == Type::f32) {
    return key.rounding == ConvertRounding::none
               ? with_options<double, float, ConvertRounding::none>(key)
               : nullptr;
  }
  if (key.to != Type::f32 || key.from != Type::f64) return nullptr;
  switch (key.options) {
    case 0:
      return narrowed<0>(key.rounding);
    case kSat:
      return narrowed<kSat>(key.rounding);
    case kFtz:
      return narrowed<kFtz>(key.rounding);
    case kFtz | kSat:
      return narrowed<kFtz | kSat>(key.rounding);
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
