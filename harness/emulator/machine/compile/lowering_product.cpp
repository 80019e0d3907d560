// Lowering of shifts, of products that are wider than their factors, and of integer division.

#include "harness/emulator/machine/compile/constants.h"
#include "harness/emulator/machine/compile/lowering.h"

namespace warpgauge::emulator::machine::compile {
namespace {

using isa::AluKey;
using isa::AluOp;
using ptx::Type;
using Xbyak::Zmm;

/// Amounts from the width on give 0, or the sign: the host's shifts do the same.
void shift(Emitter& e, const Step& step) {
  const AluKey& key = step.operation->alu;
  const int bytes = ptx::bytes_of(key.type);
  const Lanes value = e.read(step.instruction->sources[0], bytes);
  const Lanes amount = e.read(step.instruction->sources[1], 4);
  const Lanes by = bytes == 8 ? widened(e, amount, false) : amount;
  const Lanes result = e.fresh(bytes);
  for (int part = 0; part < result.parts; ++part) {
    const Zmm &d = result.part[part], &a = value.part[part], &n = by.part[part];
    if (key.op == AluOp::shl) {
      bytes == 8 ? e.vpsllvq(d, a, n) : e.vpsllvd(d, a, n);
    } else if (is_signed(key.type)) {
      bytes == 8 ? e.vpsravq(d, a, n) : e.vpsravd(d, a, n);
    } else {
      bytes == 8 ? e.vpsrlvq(d, a, n) : e.vpsrlvd(d, a, n);
    }
  }
  e.write(step.instruction->destination, result);
}

/// A shift of 16 bits. Amounts that do not fit are beyond the width, too.
void short_shift(Emitter& e, const Step& step) {
  const AluKey& key = step.operation->alu;
  const Lanes value = e.read(step.instruction->sources[0], 2);
  const Lanes amount = e.read(step.instruction->sources[1], 4);
  const Lanes by = e.fresh(2), result = e.fresh(2);
  const Zmm &d = result.part[0], &a = value.part[0], &n = by.part[0];
  e.vpmovusdw(half_of(n), amount.part[0]);
  if (key.op == AluOp::shl) {
    e.vpsllvw(d, a, n);
  } else if (key.type == Type::s16) {
    e.vpsravw(d, a, n);
  } else {
    e.vpsrlvw(d, a, n);
  }
  e.write(step.instruction->destination, result);
}

/// 32 bits out of b:a. What is shifted by 32 bits is 0.
void funnel_shift(Emitter& e, const Step& step) {
  const AluKey& key = step.operation->alu;
  const Zmm a = e.read(step.instruction->sources[0], 4).part[0];
  const Zmm b = e.read(step.instruction->sources[1], 4).part[0];
  const Zmm c = e.read(step.instruction->sources[2], 4).part[0];
  const Lanes result = e.fresh(4);
  const Zmm& d = result.part[0];
  const Zmm n = e.fresh(), rest = e.fresh();
  if ((key.options & isa::alu_option::kWrap) != 0) {
    e.vpandd(n, c, e.in_each_lane(&Constants::last_bit));
  } else {
    e.vpminud(n, c, e.in_each_lane(&Constants::width));
  }
  e.vpbroadcastd(rest, e.constant(&Constants::width));
  e.vpsubd(rest, rest, n);
  if (key.op == AluOp::shf_left) {
    e.vpsllvd(d, b, n);
    e.vpsrlvd(rest, a, rest);
  } else {
    e.vpsrlvd(d, a, n);
    e.vpsllvd(rest, b, rest);
  }
  e.vpord(d, d, rest);
  e.write(step.instruction->destination, result);
}

/// 32 x 32 bits to 64.
void wide_product(Emitter& e, const Step& step) {
  const AluKey& key = step.operation->alu;
  const bool negative = key.type == Type::s32;
  const Lanes a = widened(e, e.read(step.instruction->sources[0], 4), negative);
  const Lanes b = widened(e, e.read(step.instruction->sources[1], 4), negative);
  const Lanes result = e.fresh(8);
  for (int part = 0; part < 2; ++part) {
    if (negative) {
      e.vpmuldq(result.part[part], a.part[part], b.part[part]);
    } else {
      e.vpmuludq(result.part[part], a.part[part], b.part[part]);
    }
  }
  if (key.op == AluOp::mad_wide) {
    const Lanes c = e.read(step.instruction->sources[2], 8);
    for (int part = 0; part < 2; ++part) {
      e.vpaddq(result.part[part], result.part[part], c.part[part]);
    }
  }
  e.write(step.instruction->destination, result);
}

/// The upper 32 bits of products of 32 bits.
void high_product(Emitter& e, const Step& step) {
  const AluKey& key = step.operation->alu;
  const Lanes a = e.read(step.instruction->sources[0], 4);
  const Lanes b = e.read(step.instruction->sources[1], 4);
  const Zmm x = e.fresh(), y = e.fresh();
  const Lanes result = e.fresh(4);
  const Zmm& d = result.part[0];
  e.vpsrlq(x, a.part[0], 32);
  e.vpsrlq(y, b.part[0], 32);
  if (key.type == Type::s32) {
    e.vpmuldq(d, a.part[0], b.part[0]);
    e.vpmuldq(x, x, y);
  } else {
    e.vpmuludq(d, a.part[0], b.part[0]);
    e.vpmuludq(x, x, y);
  }
  e.vpsrlq(d, d, 32);
  e.mov(e.eax, 0xaaaa);
  e.kmovw(e.k7, e.eax);
  e.vmovdqa32(d | e.k7, x);
  if (key.op == AluOp::mad_hi) e.vpaddd(d, d, e.read(step.instruction->sources[2], 4).part[0]);
  e.write(step.instruction->destination, result);
}

/// 32-bit quotients by doubles: rounded, they lie on the right side of the next integer (see
/// isa/alu_integer.cpp). By 0, whole_quotient and remainder are -1.
void whole_quotient(Emitter& e, const Step& step) {
  const AluKey& key = step.operation->alu;
  const bool negative = key.type == Type::s32;
  const Zmm a = e.read(step.instruction->sources[0], 4).part[0];
  const Zmm b = e.read(step.instruction->sources[1], 4).part[0];
  const Lanes x = e.fresh(8), y = e.fresh(8), result = e.fresh(4);
  const Zmm& d = result.part[0];
  const auto convert = [&](const Lanes& real, const Zmm& value) {
    const Xbyak::Ymm upper = half_of(real.part[1]);
    e.vextracti64x4(upper, value, 1);
    negative ? e.vcvtdq2pd(real.part[0], half_of(value))
             : e.vcvtudq2pd(real.part[0], half_of(value));
    negative ? e.vcvtdq2pd(real.part[1], upper) : e.vcvtudq2pd(real.part[1], upper);
  };
  convert(x, a);
  convert(y, b);
  for (int part = 0; part < 2; ++part) {
    const Zmm& real = x.part[part];
    e.vdivpd(real, real, y.part[part]);
    negative ? e.vcvttpd2dq(half_of(real), real) : e.vcvttpd2udq(half_of(real), real);
  }
  e.vinserti64x4(d, x.part[0], half_of(x.part[1]), 1);
  if (key.op == AluOp::rem) {
    e.vpmulld(d, d, b);
    e.vpsubd(d, a, d);
  }
  e.vptestnmd(e.k7, b, b);
  e.vpternlogd(d | e.k7, d, d, 0xff);
  e.write(step.instruction->destination, result);
}

}  // namespace

Lowering lower_product(const AluKey& key) {
  if (key.op == AluOp::shf_left || key.op == AluOp::shf_right) return funnel_shift;
  if (key.options != 0) return nullptr;
  const bool word = key.type == Type::u32 || key.type == Type::s32;
  switch (key.op) {
    case AluOp::shl:
    case AluOp::shr:
      return key.type == Type::u16 || key.type == Type::s16 ? short_shift : shift;
    case AluOp::mul_wide:
    case AluOp::mad_wide:
      return word ? wide_product : nullptr;
    case AluOp::mul_hi:
    case AluOp::mad_hi:
      return word ? high_product : nullptr;
    case AluOp::div:
    case AluOp::rem:
      return word ? whole_quotient : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::compile
