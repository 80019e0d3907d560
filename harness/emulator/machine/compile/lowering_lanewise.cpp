// Lowering of operations on one to three values of the same type.

#include "harness/emulator/machine/compile/constants.h"
#include "harness/emulator/machine/compile/lowering.h"

namespace warpgauge::emulator::machine::compile {
namespace {

using isa::AluKey;
using isa::AluOp;
using isa::Rounding;
using ptx::Type;
using Xbyak::Zmm;

/// d becomes the result for s[0], s[1] and s[2], and is none of these.
using Emit = void (*)(Emitter& e, const Zmm& d, const Zmm* s, const Instruction& instruction);

struct Form {
  Emit emit = nullptr;
  int sources = 2;
  Nan from = Nan::canonical, to = Nan::canonical;
};

#define WARPGAUGE_BINARY(instruction) \
  [](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) { e.instruction(d, s[0], s[1]); }

template <int kBytes>
Form integer_form(const AluKey& key) {
  const auto by_width = [](Emit word16, Emit word32, Emit word64) {
    return kBytes == 2 ? word16 : kBytes == 4 ? word32 : word64;
  };
  const bool negative = is_signed(key.type);
  switch (key.op) {
    case AluOp::add:
      return {
          by_width(WARPGAUGE_BINARY(vpaddw), WARPGAUGE_BINARY(vpaddd), WARPGAUGE_BINARY(vpaddq))};
    case AluOp::sub:
      return {
          by_width(WARPGAUGE_BINARY(vpsubw), WARPGAUGE_BINARY(vpsubd), WARPGAUGE_BINARY(vpsubq))};
    case AluOp::mul:
      return {by_width(WARPGAUGE_BINARY(vpmullw), WARPGAUGE_BINARY(vpmulld),
                       WARPGAUGE_BINARY(vpmullq))};
    case AluOp::mad:
      return {[](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
                if constexpr (kBytes == 2) {
                  e.vpmullw(d, s[0], s[1]);
                  e.vpaddw(d, d, s[2]);
                } else if constexpr (kBytes == 4) {
                  e.vpmulld(d, s[0], s[1]);
                  e.vpaddd(d, d, s[2]);
                } else {
                  e.vpmullq(d, s[0], s[1]);
                  e.vpaddq(d, d, s[2]);
                }
              },
              3};
    case AluOp::min:
      return {negative ? by_width(WARPGAUGE_BINARY(vpminsw), WARPGAUGE_BINARY(vpminsd),
                                  WARPGAUGE_BINARY(vpminsq))
                       : by_width(WARPGAUGE_BINARY(vpminuw), WARPGAUGE_BINARY(vpminud),
                                  WARPGAUGE_BINARY(vpminuq))};
    case AluOp::max:
      return {negative ? by_width(WARPGAUGE_BINARY(vpmaxsw), WARPGAUGE_BINARY(vpmaxsd),
                                  WARPGAUGE_BINARY(vpmaxsq))
                       : by_width(WARPGAUGE_BINARY(vpmaxuw), WARPGAUGE_BINARY(vpmaxud),
                                  WARPGAUGE_BINARY(vpmaxuq))};
    case AluOp::neg:
      return {[](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
                e.vpxord(d, d, d);
                if constexpr (kBytes == 2) {
                  e.vpsubw(d, d, s[0]);
                } else if constexpr (kBytes == 4) {
                  e.vpsubd(d, d, s[0]);
                } else {
                  e.vpsubq(d, d, s[0]);
                }
              },
              1};
    case AluOp::logic_and:
      return {WARPGAUGE_BINARY(vpandd)};
    case AluOp::logic_or:
      return {WARPGAUGE_BINARY(vpord)};
    case AluOp::logic_xor:
      return {WARPGAUGE_BINARY(vpxord)};
    case AluOp::logic_not:
      return {[](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
                e.vpternlogd(d, s[0], s[0], 0x33);
              },
              1};
    case AluOp::lop3:
      if (kBytes != 4) return {};
      return {[](Emitter& e, const Zmm& d, const Zmm* s, const Instruction& instruction) {
                e.vmovdqa64(d, s[0]);
                e.vpternlogd(d, s[1], s[2], static_cast<std::uint8_t>(instruction.offset));
              },
              3};
    default:
      return {};
  }
}

/// Minima and maxima. The operands are compared in both orders: these differ for zeros of unlike
/// signs, and the sign decides. A NaN loses against a number.
template <bool kDouble, bool kMaximum>
void extreme(Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
  const auto in_order = [&](const Zmm& to, const Zmm& a, const Zmm& b) {
    if constexpr (kDouble) {
      kMaximum ? e.vmaxpd(to, a, b) : e.vminpd(to, a, b);
    } else {
      kMaximum ? e.vmaxps(to, a, b) : e.vminps(to, a, b);
    }
  };
  const auto where_nan = [&](const Zmm& tested, const Zmm& other) {
    if constexpr (kDouble) {
      e.vcmppd(e.k7, tested, tested, 3);
      e.vmovdqa64(d | e.k7, other);
    } else {
      e.vcmpps(e.k7, tested, tested, 3);
      e.vmovdqa32(d | e.k7, other);
    }
  };
  const Zmm reverse = e.fresh();
  in_order(d, s[0], s[1]);
  in_order(reverse, s[1], s[0]);
  kMaximum ? e.vpandd(d, d, reverse) : e.vpord(d, d, reverse);
  where_nan(s[0], s[1]);
  where_nan(s[1], s[0]);
}

template <bool kDouble>
Form real_form(const AluKey& key) {
  const auto of = [](Emit emit, int sources) { return Form{emit, sources, Nan::any, Nan::any}; };
  // Quotients and roots that are not rounded to nearest are approximations or rare.
  const bool nearest = key.rounding == Rounding::rn || key.rounding == Rounding::none;
  if (!nearest) return {};
  switch (key.op) {
    case AluOp::add:
      return of(kDouble ? WARPGAUGE_BINARY(vaddpd) : Emit(WARPGAUGE_BINARY(vaddps)), 2);
    case AluOp::sub:
      return of(kDouble ? WARPGAUGE_BINARY(vsubpd) : Emit(WARPGAUGE_BINARY(vsubps)), 2);
    case AluOp::mul:
      return of(kDouble ? WARPGAUGE_BINARY(vmulpd) : Emit(WARPGAUGE_BINARY(vmulps)), 2);
    case AluOp::div:
      return of(kDouble ? WARPGAUGE_BINARY(vdivpd) : Emit(WARPGAUGE_BINARY(vdivps)), 2);
    case AluOp::fma:
      return of(
          [](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
            e.vmovdqa64(d, s[0]);
            if constexpr (kDouble) {
              e.vfmadd213pd(d, s[1], s[2]);
            } else {
              e.vfmadd213ps(d, s[1], s[2]);
            }
          },
          3);
    case AluOp::sqrt:
      return of(
          [](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
            if constexpr (kDouble) {
              e.vsqrtpd(d, s[0]);
            } else {
              e.vsqrtps(d, s[0]);
            }
          },
          1);
    case AluOp::rcp:
      if (kDouble) return {};
      return of(
          [](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
            e.vbroadcastss(d, e.constant(&Constants::one));
            e.vdivps(d, d, s[0]);
          },
          1);
    case AluOp::neg:
      return {[](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
                if constexpr (kDouble) {
                  e.vpxorq(d, s[0], e.in_each_lane(&Constants::sign64));
                } else {
                  e.vpxord(d, s[0], e.in_each_lane(&Constants::sign));
                }
              },
              1};
    case AluOp::abs:
      return {[](Emitter& e, const Zmm& d, const Zmm* s, const Instruction&) {
                if constexpr (kDouble) {
                  e.vpandq(d, s[0], e.in_each_lane(&Constants::magnitude64));
                } else {
                  e.vpandd(d, s[0], e.in_each_lane(&Constants::magnitude));
                }
              },
              1};
    case AluOp::min:
      return of(extreme<kDouble, false>, 2);
    case AluOp::max:
      return of(extreme<kDouble, true>, 2);
    default:
      return {};
  }
}

#undef WARPGAUGE_BINARY

Form form_of(const AluKey& key) {
  // Sums and products of f32 are flushed by the host (see Emitter::function()).
  const bool flushes = key.type == Type::f32 && key.options == isa::alu_option::kFtz &&
                       (key.op == AluOp::add || key.op == AluOp::sub || key.op == AluOp::mul ||
                        key.op == AluOp::fma);
  if (key.options != 0 && !flushes) return {};
  switch (key.type) {
    case Type::u16:
    case Type::s16:
      return integer_form<2>(key);
    case Type::u32:
    case Type::s32:
      return integer_form<4>(key);
    case Type::u64:
    case Type::s64:
      return integer_form<8>(key);
    case Type::f32:
      return real_form<false>(key);
    case Type::f64:
      return real_form<true>(key);
    default:
      return {};
  }
}

void lower(Emitter& e, const Step& step) {
  const AluKey& key = step.operation->alu;
  const Form form = form_of(key);
  const int bytes = ptx::bytes_of(key.type);
  Lanes sources[3];
  for (int n = 0; n < form.sources; ++n) {
    sources[n] = e.read(step.instruction->sources[n], bytes, form.from);
  }
  const Lanes result = e.fresh(bytes);
  for (int part = 0; part < result.parts; ++part) {
    const Zmm values[3] = {sources[0].part[part], sources[1].part[part], sources[2].part[part]};
    form.emit(e, result.part[part], values, *step.instruction);
  }
  e.write(step.instruction->destination, result, form.to);
}

}  // namespace

Lowering lower_lanewise(const AluKey& key) {
  return form_of(key).emit != nullptr ? lower : nullptr;
}

}  // namespace warpgauge::emulator::machine::compile
