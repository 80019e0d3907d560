// cvt to and from f16, bf16, tf32 and the formats of 4, 6 and 8 bits.
#include "harness/emulator/machine/isa/conversion.h"
#include "harness/emulator/machine/isa/convert_families.h"
#include "harness/emulator/machine/isa/halves.h"
#include "harness/emulator/machine/isa/rounding.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using convert_option::kFtz;
using convert_option::kRelu;
using convert_option::kSat;
using convert_option::kSatfinite;
using ptx::Type;
using Rounded = ConvertRounding;

/// A value that a format of at most 24 bits rounds as it would the original: exact, except for
/// integers of more than 48 bits, of whose lowest bits only zero or not zero is known.
template <typename From>
WARPGAUGE_INLINE double as_double(From value) {
  if constexpr (kSame<From, u64> || kSame<From, s64>) {
    const u64 bits = static_cast<u64>(value);
    const u64 magnitude = value < 0 ? u64{0} - bits : bits;
    const u64 some = (magnitude & 0xffff) != 0 ? 1 : 0;
    const bool large = magnitude >> 48 != 0;
    const double size = large
                            ? static_cast<double>(static_cast<s64>(magnitude >> 16 | some)) * 0x1p16
                            : static_cast<double>(static_cast<s64>(magnitude));
    return value < 0 ? -size : size;
  } else if constexpr (requires { value.bits; }) {
    return widen(value);
  } else {
    return static_cast<double>(value);
  }
}

/// The 32 values of the source.
template <typename From>
[[gnu::noinline]] void read_doubles(const Warp& warp, const Instruction& instruction,
                                    double* values) {
  alignas(64) From buffer[kLanes];
  const From* const a = converted_source(warp, instruction, buffer);
  for (int i = 0; i < kLanes; ++i) values[i] = as_double(a[i]);
}

/// Applies the modifiers to a value before it is rounded, which has the same result as after.
WARPGAUGE_INLINE double modified(double value, unsigned options) {
  double result = value;
  if ((options & kFtz) != 0) result = __builtin_fabs(result) < 0x1p-126 ? result * 0 : result;
  if ((options & kRelu) != 0) result = (result > 0) | is_nan(result) ? result : 0.0;
  if ((options & kSat) != 0) result = saturate(result);
  return result;
}

/// tf32 is a float whose 13 lowest bits are 0; the others are their bits.
template <typename To>
using Register = Choose<kSame<To, Tf32Format>, u32, u16>;
template <typename To>
WARPGAUGE_INLINE Register<To> register_of(u32 bits) {
  if constexpr (!kSame<To, Tf32Format>) return static_cast<u16>(bits);
  return bits == To::kNan ? kNanBits : bits << 13;
}

template <typename To, Rounded kRounding, typename From, unsigned kOptions>
void convert(Warp& warp, const Instruction& instruction) {
  alignas(64) double values[kLanes];
  read_doubles<From>(warp, instruction, values);
  write_converted<Register<To>>(warp, instruction, [&](int i) {
    return register_of<To>(
        round_to<To, kRounding>(modified(values[i], kOptions), (kOptions & kSatfinite) != 0));
  });
}

/// The usual conversions of floats, to nearest.
template <typename To, bool kPositive>
void convert_nearest(Warp& warp, const Instruction& instruction) {
  alignas(64) float buffer[kLanes];
  const float* const a = converted_source(warp, instruction, buffer);
  write_converted<u16>(warp, instruction, [=](int i) -> u16 {
    const float value = !kPositive || (a[i] > 0) | is_nan(a[i]) ? a[i] : 0.0f;
    return round_to_small<To>(value).bits;
  });
}

template <typename To, typename From>
Execute rounded(Rounded rounding) {
  switch (rounding) {
    case Rounded::rn:
      return convert<To, Rounded::rn, From, 0>;
    case Rounded::rz:
      return convert<To, Rounded::rz, From, 0>;
    case Rounded::rm:
      return convert<To, Rounded::rm, From, 0>;
    case Rounded::rp:
      return convert<To, Rounded::rp, From, 0>;
    default:
      return nullptr;
  }
}

/// .relu and .satfinite are of floats, rounded to nearest or towards zero.
template <typename To, Rounded kRounding>
Execute with_options(unsigned options) {
  switch (options) {
    case 0:
      return convert<To, kRounding, float, 0>;
    case kRelu:
      return convert<To, kRounding, float, kRelu>;
    case kSatfinite:
      return convert<To, kRounding, float, kSatfinite>;
    case kRelu | kSatfinite:
      return convert<To, kRounding, float, kRelu | kSatfinite>;
    default:
      return nullptr;
  }
}
template <typename To>
Execute of_floats(const ConvertKey& key) {
  if (key.options == kSat && key.rounding == Rounded::rn)
    return convert<To, Rounded::rn, float, kSat>;
  if (key.options == kFtz && key.rounding == Rounded::rn)
    return convert<To, Rounded::rn, float, kFtz>;
  switch (key.rounding) {
    case Rounded::rn:
      return with_options<To, Rounded::rn>(key.options);
    case Rounded::rz:
      return with_options<To, Rounded::rz>(key.options);
    case Rounded::rm:
    case Rounded::rp:
      return key.options == 0 ? rounded<To, float>(key.rounding) : nullptr;
    case Rounded::rna:
      if constexpr (kSame<To, Tf32Format>) {
        if (key.options == 0) return convert<To, Rounded::rna, float, 0>;
        if (key.options == kSatfinite) return convert<To, Rounded::rna, float, kSatfinite>;
      }
      return nullptr;
    default:
      return nullptr;
  }
}

template <typename Small, typename To>
Execute to_half(const ConvertKey& key) {
  if (key.from == Type::f32) {
    if (key.rounding == Rounded::rn && key.options == 0) return convert_nearest<Small, false>;
    if (key.rounding == Rounded::rn && key.options == kRelu) return convert_nearest<Small, true>;
    return of_floats<To>(key);
  }
  if (key.options != 0) return nullptr;
  // Between f16 and bf16 the rounding may be left out, and is then to nearest.
  const bool is_between = key.from == Type::f16 || key.from == Type::bf16;
  const bool is_nearest = is_between && key.rounding == Rounded::none;
  const Rounded rounding = is_nearest ? Rounded::rn : key.rounding;
  const auto of_type = [&]<typename From>() { return rounded<To, From>(rounding); };
  if (const Execute execute = select_integer(key.from, of_type)) return execute;
  return select<Type::f64, Type::f16, Type::bf16>(key.from, of_type);
}

/// f16 or bf16 to f32 or f64: exact.
template <typename To, typename From, bool kSaturate>
void convert_from(Warp& warp, const Instruction& instruction) {
  alignas(64) From buffer[kLanes];
  const From* const a = converted_source(warp, instruction, buffer);
  write_converted<To>(warp, instruction, [=](int i) -> To {
    const float value = widen(a[i]);
    return static_cast<To>(kSaturate ? saturate(value) : canonical(value));
  });
}

/// To an integral value of the same type.
template <typename T, Rounded kRounding>
void convert_integral(Warp& warp, const Instruction& instruction) {
  alignas(64) T buffer[kLanes];
  const T* const a = converted_source(warp, instruction, buffer);
  write_converted<u16>(warp, instruction, [=](int i) -> u16 {
    return round_to_small<T>(integral<kRounding>(widen(a[i]))).bits;
  });
}
template <typename T>
Execute integral_handler(const ConvertKey& key) {
  if (key.options != 0) return nullptr;
  switch (key.rounding) {
    case Rounded::rni:
      return convert_integral<T, Rounded::rni>;
    case Rounded::rzi:
      return convert_integral<T, Rounded::rzi>;
    case Rounded::rmi:
      return convert_integral<T, Rounded::rmi>;
    case Rounded::rpi:
      return convert_integral<T, Rounded::rpi>;
    default:
      return nullptr;
  }
}

/// Bits that an element of a pair takes: those of 6 bits have two zeros above them.
template <typename To>
inline constexpr int kPlace = To::kSign <= 0x8    ? 4
                              : To::kSign <= 0x80 ? 8
                                                  : 16;
template <typename To>
using Pair = Choose<kPlace<To> == 4, u8, Choose<kPlace<To> == 8, u16, u32>>;

// Pairs: the first source goes to the upper half.
template <typename To, Rounded kRounding, unsigned kOptions>
void convert_pair(Warp& warp, const Instruction& instruction) {
  const float* const upper = lanes<float>(warp, instruction, 0);
  const float* const lower = lanes<float>(warp, instruction, 1);
  const auto part = [](float value) {
    return round_to<To, kRounding>(modified(value, kOptions), (kOptions & kSatfinite) != 0);
  };
  write<Pair<To>>(warp, instruction, [=](int i) {
    return static_cast<Pair<To>>(part(upper[i]) << kPlace<To> | part(lower[i]));
  });
}
template <typename Small, bool kPositive>
void convert_pair_nearest(Warp& warp, const Instruction& instruction) {
  const float* const upper = lanes<float>(warp, instruction, 0);
  const float* const lower = lanes<float>(warp, instruction, 1);
  const auto part = [](float a) {
    const float value = !kPositive || (a > 0) | is_nan(a) ? a : 0.0f;
    return u32{round_to_small<Small>(value).bits};
  };
  write<u32>(warp, instruction, [=](int i) { return part(upper[i]) << 16 | part(lower[i]); });
}
template <typename To, Rounded kRounding>
Execute pair_with_options(unsigned options) {
  switch (options) {
    case 0:
      return convert_pair<To, kRounding, 0>;
    case kRelu:
      return convert_pair<To, kRounding, kRelu>;
    case kSatfinite:
      return convert_pair<To, kRounding, kSatfinite>;
    case kRelu | kSatfinite:
      return convert_pair<To, kRounding, kRelu | kSatfinite>;
    default:
      return nullptr;
  }
}
template <typename Small, typename To>
Execute pair_of_halves(const ConvertKey& key) {
  if (key.rounding == Rounded::rz) return pair_with_options<To, Rounded::rz>(key.options);
  if (key.rounding != Rounded::rn) return nullptr;
  if (key.options == 0) return convert_pair_nearest<Small, false>;
  if (key.options == kRelu) return convert_pair_nearest<Small, true>;
  return pair_with_options<To, Rounded::rn>(key.options);
}

/// Between pairs of halves and of values of up to 8 bits, element by element.
template <typename To, bool kPositive>
void pack_small(Warp& warp, const Instruction& instruction) {
  const u16* const a = lanes<u16>(warp, instruction, 0);
  const auto part = [=](int i) {
    const double value = modified(widen(Half{a[i]}), kPositive ? kRelu : 0);
    return round_to<To, Rounded::rn>(value, true);
  };
  write<Pair<To>>(warp, instruction, [=](int i) {
    return static_cast<Pair<To>>(part(2 * i + 1) << kPlace<To> | part(2 * i));
  });
}
template <typename From>
WARPGAUGE_INLINE u16 widened(u32 bits) {
  if constexpr (kSame<From, E5M2Format>) {
    return half_of_e5m2(static_cast<u8>(bits));
  } else if constexpr (kSame<From, E4M3Format>) {
    return half_of_e4m3(static_cast<u8>(bits));
  } else {
    return half_of<From>(bits);
  }
}
template <typename From, bool kPositive>
void unpack_small(Warp& warp, const Instruction& instruction) {
  const Pair<From>* const a = lanes<Pair<From>>(warp, instruction, 0);
  write<u16, 2>(warp, instruction, [=](int i) -> u16 {
    const u32 bits = u32{a[i / 2]} >> (i % 2 * kPlace<From>);
    const u16 half = widened<From>(bits & ((u32{1} << kPlace<From>)-1));
    return kPositive && (half & 0x8000) != 0 ? u16{0} : half;
  });
}

template <typename Small>
Execute small_pairs(const ConvertKey& key) {
  if (key.rounding != Rounded::rn) return nullptr;
  if (key.to == Type::f16x2) {
    return key.options == 0       ? unpack_small<Small, false>
           : key.options == kRelu ? unpack_small<Small, true>
                                  : nullptr;
  }
  const bool relu = key.options == (kSatfinite | kRelu);
  if (!relu && key.options != kSatfinite) return nullptr;
  if (key.from == Type::f32) {
    return relu ? convert_pair<Small, Rounded::rn, kSatfinite | kRelu>
                : convert_pair<Small, Rounded::rn, kSatfinite>;
  }
  if (key.from != Type::f16x2) return nullptr;
  return relu ? pack_small<Small, true> : pack_small<Small, false>;
}

// ue8m0: a power of two, by an exponent whose bias is that of a float. Signs do not count.
template <bool kUp, bool kSaturate>
WARPGAUGE_INLINE u32 exponent_of(float value) {
  const u32 magnitude = bits_as<u32>(value) & 0x7fffffff;
  const u32 exponent = magnitude >> 23;
  // 0 is 2^-127, the value of a subnormal with the first bit alone.
  const bool above = (magnitude & 0x7fffff) != 0 && magnitude > 0x400000 && magnitude < 0x7f800000;
  const u32 rounded = exponent + (kUp && above ? 1 : 0);
  return kSaturate && magnitude <= 0x7f800000 && rounded == 0xff ? 0xfe : rounded;
}
template <bool kUp, bool kSaturate, bool kOfHalves>
void to_exponents(Warp& warp, const Instruction& instruction) {
  const BFloat* const both = lanes<BFloat>(warp, instruction, 0);
  const float* const upper = lanes<float>(warp, instruction, 0);
  const float* const lower = lanes<float>(warp, instruction, kOfHalves ? 0 : 1);
  write<u16>(warp, instruction, [=](int i) {
    const float high = kOfHalves ? widen(both[2 * i + 1]) : upper[i];
    const float low = kOfHalves ? widen(both[2 * i]) : lower[i];
    return static_cast<u16>(exponent_of<kUp, kSaturate>(high) << 8 |
                            exponent_of<kUp, kSaturate>(low));
  });
}
template <bool kUp, bool kSaturate>
Execute exponents_from(Type type) {
  if (type == Type::bf16x2) return to_exponents<kUp, kSaturate, true>;
  return type == Type::f32 ? to_exponents<kUp, kSaturate, false> : nullptr;
}
Execute to_exponents_handler(const ConvertKey& key) {
  if ((key.options & ~kSatfinite) != 0) return nullptr;
  const bool saturates = key.options != 0;
  switch (key.rounding) {
    case Rounded::rz:
      return saturates ? exponents_from<false, true>(key.from)
                       : exponents_from<false, false>(key.from);
    case Rounded::rp:
      return saturates ? exponents_from<true, true>(key.from)
                       : exponents_from<true, false>(key.from);
    default:
      return nullptr;
  }
}
void from_exponents(Warp& warp, const Instruction& instruction) {
  const u8* const a = lanes<u8>(warp, instruction, 0);
  write<u16, 2>(warp, instruction, [=](int i) {
    const u32 number = a[i] == 0 ? 0x40 : u32{a[i]} << 7;
    return static_cast<u16>(a[i] == 0xff ? u32{kHalfNanBits} : number);
  });
}

template <typename To>
Execute from_half(const ConvertKey& key) {
  if (key.rounding != Rounded::none || (key.options & ~(kSat | kFtz)) != 0) return nullptr;
  // .ftz is of f32: every half but a subnormal bf16 is normal there.
  if (key.from == Type::bf16 && (key.options & kFtz) != 0) return nullptr;
  const bool sat = (key.options & kSat) != 0;
  return select<Type::f16, Type::bf16>(key.from, [&]<typename From>() -> Execute {
    return sat ? convert_from<To, From, true> : convert_from<To, From, false>;
  });
}

}  // namespace

Execute small_float_conversion(const ConvertKey& key) {
  switch (key.to) {
    case Type::f16:
      if (key.from == Type::f16) return integral_handler<Half>(key);
      return to_half<Half, HalfFormat>(key);
    case Type::bf16:
      if (key.from == Type::bf16) return integral_handler<BFloat>(key);
      return to_half<BFloat, BFloatFormat>(key);
    case Type::tf32:
      return key.from == Type::f32 ? of_floats<Tf32Format>(key) : nullptr;
    case Type::f32:
      return from_half<float>(key);
    case Type::f64:
      return from_half<double>(key);
    case Type::f16x2:
      if (key.from == Type::e4m3x2) return small_pairs<E4M3Format>(key);
      if (key.from == Type::e5m2x2) return small_pairs<E5M2Format>(key);
      if (key.from == Type::e2m1x2) return small_pairs<E2M1Format>(key);
      if (key.from == Type::e2m3x2) return small_pairs<E2M3Format>(key);
      if (key.from == Type::e3m2x2) return small_pairs<E3M2Format>(key);
      return key.from == Type::f32 ? pair_of_halves<Half, HalfFormat>(key) : nullptr;
    case Type::bf16x2:
      if (key.from == Type::ue8m0x2) {
        return key.rounding == Rounded::rn && key.options == 0 ? from_exponents : nullptr;
      }
      return key.from == Type::f32 ? pair_of_halves<BFloat, BFloatFormat>(key) : nullptr;
    case Type::e4m3x2:
      return small_pairs<E4M3Format>(key);
    case Type::e5m2x2:
      return small_pairs<E5M2Format>(key);
    case Type::e2m1x2:
      return small_pairs<E2M1Format>(key);
    case Type::e2m3x2:
      return small_pairs<E2M3Format>(key);
    case Type::e3m2x2:
      return small_pairs<E3M2Format>(key);
    case Type::ue8m0x2:
      return to_exponents_handler(key);
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
