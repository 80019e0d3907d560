// cvt between integers, with and without saturation, and cvt.pack.
#include "harness/emulator/machine/isa/conversion.h"
#include "harness/emulator/machine/isa/convert_families.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

/// `value` clamped to what To can hold.
template <typename To, typename From>
WARPGAUGE_INLINE To clamped(From value) {
  constexpr Unsigned<To> kMost = kIsSigned<To> ? static_cast<Unsigned<To>>(~Unsigned<To>{0}) >> 1
                                               : static_cast<Unsigned<To>>(~Unsigned<To>{0});
  if constexpr (kIsSigned<From>) {
    constexpr s64 kLeast = kIsSigned<To> ? -static_cast<s64>(kMost) - 1 : 0;
    if (value < 0) return value < kLeast ? static_cast<To>(kLeast) : static_cast<To>(value);
  }
  return static_cast<u64>(value) > u64{kMost} ? static_cast<To>(kMost) : static_cast<To>(value);
}

template <typename To, typename From, bool kSaturate>
void convert(Warp& warp, const Instruction& instruction) {
  alignas(64) From buffer[kLanes];
  const From* const a = converted_source(warp, instruction, buffer);
  write_converted<To>(warp, instruction, [=](int i) -> To {
    return kSaturate ? clamped<To>(a[i]) : static_cast<To>(a[i]);
  });
}

/// cvt.pack.sat: d = a, b as two numbers of kBits, b lowest; above them come c's lowest bits.
template <int kBits, bool kSigned>
void pack(Warp& warp, const Instruction& instruction) {
  constexpr s32 kMost = kSigned ? (1 << (kBits - 1)) - 1 : (1 << kBits) - 1;
  constexpr s32 kLeast = kSigned ? -kMost - 1 : 0;
  const s32* const a = lanes<s32>(warp, instruction, 0);
  const s32* const b = lanes<s32>(warp, instruction, 1);
  const u32* const c = lanes<u32>(warp, instruction, kBits < 16 ? 2 : 0);
  const auto part = [](s32 value) {
    const s32 result = value < kLeast ? kLeast : value > kMost ? kMost : value;
    return static_cast<u32>(result) & ((u32{1} << kBits) - 1);
  };
  write<u32>(warp, instruction, [=](int i) -> u32 {
    const u32 both = part(a[i]) << kBits | part(b[i]);
    if constexpr (kBits < 16) return c[i] << (2 * kBits) | both;
    return both;
  });
}

}  // namespace

Execute integer_conversion(const ConvertKey& key) {
  using ptx::Type;
  if (key.rounding != ConvertRounding::none) return nullptr;
  if (key.options == (convert_option::kPack | convert_option::kSat) && key.from == Type::s32) {
    switch (key.to) {
      case Type::u16:
        return pack<16, false>;
      case Type::s16:
        return pack<16, true>;
      case Type::u8:
        return pack<8, false>;
      case Type::s8:
        return pack<8, true>;
      default:
        return nullptr;
    }
  }
  if (key.options != 0 && key.options != convert_option::kSat) return nullptr;
  return select_integer(key.to, [&]<typename To>() {
    return select_integer(key.from, [&]<typename From>() -> Execute {
      return key.options != 0 ? convert<To, From, true> : convert<To, From, false>;
    });
  });
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
