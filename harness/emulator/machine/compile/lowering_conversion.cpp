// Lowering of cvt.

#include "harness/emulator/machine/compile/constants.h"
#include "harness/emulator/machine/compile/lowering.h"

namespace warpgauge::emulator::machine::compile {

using isa::ConvertKey;
using isa::ConvertRounding;
using ptx::Type;
using Xbyak::Ymm;
using Xbyak::Zmm;

Lanes widened(Emitter& e, const Lanes& value, bool by_sign) {
  const Lanes result = e.fresh(8);
  const Ymm low = half_of(value.part[0]), upper = half_of(result.part[1]);
  e.vextracti64x4(upper, value.part[0], 1);
  if (by_sign) {
    e.vpmovsxdq(result.part[0], low);
    e.vpmovsxdq(result.part[1], upper);
  } else {
    e.vpmovzxdq(result.part[0], low);
    e.vpmovzxdq(result.part[1], upper);
  }
  return result;
}

namespace {

bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

/// Values of 64 bits to their low 32.
Lanes narrowed(Emitter& e, const Lanes& value) {
  const Lanes result = e.fresh(4);
  const Zmm upper = e.fresh();
  e.vpmovqd(half_of(result.part[0]), value.part[0]);
  e.vpmovqd(half_of(upper), value.part[1]);
  e.vinserti64x4(result.part[0], result.part[0], half_of(upper), 1);
  return result;
}

/// A copy in registers of so many bytes, the low bits extended by their sign or by zeros.
Lanes resized(Emitter& e, Lanes value, int bytes, bool by_sign) {
  if (value.bytes == bytes) {
    const Lanes result = e.fresh(bytes);
    for (int part = 0; part < result.parts; ++part) {
      e.vmovdqa64(result.part[part], value.part[part]);
    }
    return result;
  }
  if (value.bytes == 8) value = narrowed(e, value);
  if (value.bytes == 2) {
    const Lanes words = e.fresh(4);
    if (by_sign) {
      e.vpmovsxwd(words.part[0], half_of(value.part[0]));
    } else {
      e.vpmovzxwd(words.part[0], half_of(value.part[0]));
    }
    value = words;
  }
  if (bytes == 8) return widened(e, value, by_sign);
  if (bytes == 2) {
    const Lanes halves = e.fresh(2);
    e.vpmovdw(half_of(halves.part[0]), value.part[0]);
    return halves;
  }
  return value;
}

/// Extends the low bits of each register from so many bytes on.
void extend(Emitter& e, const Lanes& value, int from, bool by_sign) {
  if (from >= value.bytes) return;
  const int bits = 8 * (value.bytes - from);
  for (int part = 0; part < value.parts; ++part) {
    const Zmm& v = value.part[part];
    if (value.bytes == 2) {
      e.vpsllw(v, v, bits);
      by_sign ? e.vpsraw(v, v, bits) : e.vpsrlw(v, v, bits);
    } else if (value.bytes == 4) {
      e.vpslld(v, v, bits);
      by_sign ? e.vpsrad(v, v, bits) : e.vpsrld(v, v, bits);
    } else {
      e.vpsllq(v, v, bits);
      by_sign ? e.vpsraq(v, v, bits) : e.vpsrlq(v, v, bits);
    }
  }
}

void between_integers(Emitter& e, const Step& step) {
  const ConvertKey& key = step.operation->convert;
  const int from = ptx::bytes_of(key.from), to = ptx::bytes_of(key.to);
  const Lanes source =
      e.read(step.instruction->sources[0], isa::source_bytes(step.instruction->flags));
  const Lanes result =
      resized(e, source, isa::destination_bytes(step.instruction->flags), is_signed(key.from));
  extend(e, result, from, is_signed(key.from));
  if (to < result.bytes && (to < from || is_signed(key.from) != is_signed(key.to))) {
    extend(e, result, to, is_signed(key.to));
  }
  e.write(step.instruction->destination, result);
}

void from_integer(Emitter& e, const Step& step) {
  const ConvertKey& key = step.operation->convert;
  const bool negative = is_signed(key.from), to_double = key.to == Type::f64;
  Lanes a = e.read(step.instruction->sources[0], isa::source_bytes(step.instruction->flags));
  if (ptx::bytes_of(key.from) < 4) {
    a = resized(e, a, 4, negative);
    extend(e, a, ptx::bytes_of(key.from), negative);
  }
  const Lanes result = e.fresh(to_double ? 8 : 4);
  const Zmm& d = result.part[0];
  if (a.bytes == 4 && !to_double) {
    negative ? e.vcvtdq2ps(d, a.part[0]) : e.vcvtudq2ps(d, a.part[0]);
  } else if (a.bytes == 4) {
    const Ymm upper = half_of(result.part[1]);
    e.vextracti64x4(upper, a.part[0], 1);
    negative ? e.vcvtdq2pd(d, half_of(a.part[0])) : e.vcvtudq2pd(d, half_of(a.part[0]));
    negative ? e.vcvtdq2pd(result.part[1], upper) : e.vcvtudq2pd(result.part[1], upper);
  } else if (to_double) {
    for (int part = 0; part < 2; ++part) {
      negative ? e.vcvtqq2pd(result.part[part], a.part[part])
               : e.vcvtuqq2pd(result.part[part], a.part[part]);
    }
  } else {
    const Ymm upper = half_of(e.fresh());
    negative ? e.vcvtqq2ps(half_of(d), a.part[0]) : e.vcvtuqq2ps(half_of(d), a.part[0]);
    negative ? e.vcvtqq2ps(upper, a.part[1]) : e.vcvtuqq2ps(upper, a.part[1]);
    e.vinserti64x4(d, d, upper, 1);
  }
  e.write(step.instruction->destination, result);
}

void between_reals(Emitter& e, const Step& step) {
  const bool to_double = step.operation->convert.to == Type::f64;
  const Lanes a = e.read(step.instruction->sources[0], to_double ? 4 : 8);
  const Lanes result = e.fresh(to_double ? 8 : 4);
  if (to_double) {
    const Ymm upper = half_of(result.part[1]);
    e.vextracti64x4(upper, a.part[0], 1);
    e.vcvtps2pd(result.part[0], half_of(a.part[0]));
    e.vcvtps2pd(result.part[1], upper);
    return e.write(step.instruction->destination, result);
  }
  const Ymm upper = half_of(e.fresh());
  e.vcvtpd2ps(half_of(result.part[0]), a.part[0]);
  e.vcvtpd2ps(upper, a.part[1]);
  e.vinserti64x4(result.part[0], result.part[0], upper, 1);
  e.write(step.instruction->destination, result, Nan::any);
}

/// f16 and bf16 to f32.
void from_half(Emitter& e, const Step& step) {
  const Lanes a = e.read(step.instruction->sources[0], 2);
  const Lanes result = e.fresh(4);
  if (step.operation->convert.from == Type::f16) {
    e.vcvtph2ps(result.part[0], half_of(a.part[0]));
  } else {
    e.vpmovzxwd(result.part[0], half_of(a.part[0]));
    e.vpslld(result.part[0], result.part[0], 16);
  }
  e.write(step.instruction->destination, result, Nan::any);
}

void to_half(Emitter& e, const Step& step) {
  const Lanes a = e.read(step.instruction->sources[0], 4, Nan::any);
  const Lanes result = e.fresh(2);
  const Ymm d = half_of(result.part[0]);
  e.vcmpps(e.k7, a.part[0], a.part[0], 3);
  e.vcvtps2ph(d, a.part[0], 0);
  e.vpbroadcastw(d | e.k7, e.constant(&Constants::half_nan));
  e.write(step.instruction->destination, result);
}

std::uint8_t host_rounding(ConvertRounding rounding) {
  switch (rounding) {
    case ConvertRounding::rni:
      return 0x8;
    case ConvertRounding::rmi:
      return 0x9;
    case ConvertRounding::rpi:
      return 0xa;
    default:
      return 0xb;
  }
}

bool to_integral(ConvertRounding rounding) {
  return rounding == ConvertRounding::rni || rounding == ConvertRounding::rzi ||
         rounding == ConvertRounding::rmi || rounding == ConvertRounding::rpi;
}

void to_integral_value(Emitter& e, const Step& step) {
  const ConvertKey& key = step.operation->convert;
  const bool is_double = key.to == Type::f64;
  const Lanes a = e.read(step.instruction->sources[0], is_double ? 8 : 4, Nan::any);
  const Lanes result = e.fresh(a.bytes);
  for (int part = 0; part < result.parts; ++part) {
    if (is_double) {
      e.vrndscalepd(result.part[part], a.part[part], host_rounding(key.rounding));
    } else {
      e.vrndscaleps(result.part[part], a.part[part], host_rounding(key.rounding));
    }
  }
  e.write(step.instruction->destination, result, Nan::any);
}

/// f32 to a word. The host gives one value for all that does not fit.
void to_word(Emitter& e, const Step& step) {
  const ConvertKey& key = step.operation->convert;
  const Lanes a = e.read(step.instruction->sources[0], 4, Nan::any);
  const Lanes result = e.fresh(4);
  const Zmm whole = e.fresh();
  const Zmm& d = result.part[0];
  e.vrndscaleps(whole, a.part[0], host_rounding(key.rounding));
  if (key.to == Type::s32) {
    e.vcvttps2dq(d, whole);
    e.vcmpps(e.k7, whole, e.in_each_lane(&Constants::two_to_31), 0x1d);
    e.vpbroadcastd(d | e.k7, e.constant(&Constants::most));
    e.vcmpps(e.k7, whole, whole, 7);  // numbers
    e.vmovdqa32(d | e.k7 | e.T_z, d);
  } else {
    const Zmm zero = e.fresh();
    e.vpxord(zero, zero, zero);
    e.vmaxps(whole, whole, zero);  // zero for a NaN
    e.vcvttps2udq(d, whole);
  }
  e.write(step.instruction->destination, result);
}

}  // namespace

Lowering lower_conversion(const Instruction& instruction, const ConvertKey& key) {
  if (key.options != 0) return nullptr;
  const int from = isa::source_bytes(instruction.flags),
            to = isa::destination_bytes(instruction.flags);
  if (from == 1 || to == 1) return nullptr;
  if (is_integer(key.from) && is_integer(key.to)) {
    return key.rounding == ConvertRounding::none ? between_integers : nullptr;
  }
  // Others only where the registers are as wide as the types, but for short integers, whose may be
  // wider.
  if (to != ptx::bytes_of(key.to)) return nullptr;
  if (from != ptx::bytes_of(key.from) && (!is_integer(key.from) || from > 4)) return nullptr;
  if (key.to == Type::f32 && (key.from == Type::f16 || key.from == Type::bf16)) {
    return key.rounding == ConvertRounding::none ? from_half : nullptr;
  }
  if (key.to == Type::f16 && key.from == Type::f32) {
    return key.rounding == ConvertRounding::rn ? to_half : nullptr;
  }
  const bool real_from = key.from == Type::f32 || key.from == Type::f64;
  const bool real_to = key.to == Type::f32 || key.to == Type::f64;
  if (is_integer(key.from) && real_to && key.rounding == ConvertRounding::rn) {
    return from_integer;
  }
  if (real_from && real_to) {
    if (key.from == key.to) {
      return to_integral(key.rounding) ? to_integral_value : nullptr;
    }
    const bool widens = key.to == Type::f64;
    return key.rounding == (widens ? ConvertRounding::none : ConvertRounding::rn) ? between_reals
                                                                                  : nullptr;
  }
  if (key.from == Type::f32 && (key.to == Type::s32 || key.to == Type::u32) &&
      to_integral(key.rounding)) {
    return to_word;
  }
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::compile
