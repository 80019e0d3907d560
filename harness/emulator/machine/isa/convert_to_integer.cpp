// cvt from floating point to integers.
#include "harness/emulator/machine/isa/conversion.h"
#include "harness/emulator/machine/isa/convert_families.h"
#include "harness/emulator/machine/isa/rounding.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

// Floating point to integers. Out of range gives the nearest one; what a NaN gives depends on the
// types (PTX ISA, cvt).
template <typename To, typename From, ConvertRounding kRounding, bool kFlush>
void to_integer(Warp& warp, const Instruction& instruction) {
  using Value = decltype(widen(From{}));
  constexpr Unsigned<To> kTop = static_cast<Unsigned<To>>(Unsigned<To>{1} << (sizeof(To) * 8 - 1));
  constexpr To kMost = static_cast<To>(kIsSigned<To> ? kTop - 1 : ~Unsigned<To>{0});
  constexpr To kLeast = static_cast<To>(kIsSigned<To> ? kTop : 0);
  constexpr Value kLow = static_cast<Value>(kLeast);
  constexpr Value kHigh = static_cast<Value>(kTop) * (kIsSigned<To> ? 1 : 2);
  constexpr To kOfNan = kSame<From, double> || sizeof(To) == 8 ? static_cast<To>(kTop) : To{0};
  alignas(64) From buffer[kLanes];
  const From* const a = converted_source(warp, instruction, buffer);
  write_converted<To>(warp, instruction, [=](int i) -> To {
    const Value value = integral<kRounding>(flush_if<kFlush>(widen(a[i])));
    const bool fits = (value >= kLow) & (value < kHigh);
    using Wide = Choose<(sizeof(To) < 4), s32, To>;
    const To inside = static_cast<To>(static_cast<Wide>(fits ? value : Value{0}));
    const To outside = value < Value{0} ? kLeast : kMost;
    return fits ? inside : is_nan(value) ? kOfNan : outside;
  });
}

template <typename To, typename From, bool kFlush>
Execute to_integer_rounded(ConvertRounding rounding) {
  switch (rounding) {
    case ConvertRounding::rni:
      return to_integer<To, From, ConvertRounding::rni, kFlush>;
    case ConvertRounding::rzi:
      return to_integer<To, From, ConvertRounding::rzi, kFlush>;
    case ConvertRounding::rmi:
      return to_integer<To, From, ConvertRounding::rmi, kFlush>;
    case ConvertRounding::rpi:
      return to_integer<To, From, ConvertRounding::rpi, kFlush>;
    default:
      return nullptr;
  }
}

}  // namespace

Execute float_to_integer_conversion(const ConvertKey& key) {
  using ptx::Type;
  // .sat changes nothing: these conversions always saturate.
  const unsigned options = key.options & ~convert_option::kSat;
  if (options == convert_option::kFtz && key.from == Type::f32) {
    return select_integer(
        key.to, [&]<typename To>() { return to_integer_rounded<To, float, true>(key.rounding); });
  }
  if (options != 0) return nullptr;
  return select_integer(key.to, [&]<typename To>() {
    return select<Type::f16, Type::bf16, Type::f32, Type::f64>(key.from, [&]<typename From>() {
      return to_integer_rounded<To, From, false>(key.rounding);
    });
  });
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
