// Lowering of setp and selp.
#include "harness/emulator/machine/compile/lowering.h"

namespace warpgauge::emulator::machine::compile {
namespace {

using isa::AluKey;
using isa::AluOp;
using isa::Comparison;
using ptx::Type;
using Xbyak::Opmask;
using Xbyak::Zmm;
namespace alu_flag = isa::alu_flag;

constexpr int kNone = -1;

/// The immediate operand of vcmpps; quiet comparisons.
int real_predicate(Comparison comparison) {
  switch (comparison) {
    case Comparison::eq:
      return 0x00;
    case Comparison::ne:
      return 0x0c;
    case Comparison::lt:
      return 0x11;
    case Comparison::le:
      return 0x12;
    case Comparison::gt:
      return 0x1e;
    case Comparison::ge:
      return 0x1d;
    case Comparison::equ:
      return 0x08;
    case Comparison::neu:
      return 0x04;
    case Comparison::ltu:
      return 0x19;
    case Comparison::leu:
      return 0x1a;
    case Comparison::gtu:
      return 0x16;
    case Comparison::geu:
      return 0x15;
    case Comparison::num:
      return 0x07;
    case Comparison::nan:
      return 0x03;
    default:
      return kNone;
  }
}

/// The immediate operand of vpcmpd.
int integer_predicate(Comparison comparison) {
  switch (comparison) {
    case Comparison::eq:
      return 0;
    case Comparison::lt:
      return 1;
    case Comparison::le:
      return 2;
    case Comparison::ne:
      return 4;
    case Comparison::ge:
      return 5;
    case Comparison::gt:
      return 6;
    default:
      return kNone;
  }
}

int predicate_of(const AluKey& key) {
  switch (key.type) {
    case Type::f32:
    case Type::f64:
      return real_predicate(key.comparison);
    case Type::u16:
    case Type::s16:
    case Type::u32:
    case Type::s32:
    case Type::u64:
    case Type::s64:
      return integer_predicate(key.comparison);
    default:
      return kNone;
  }
}

void compare(Emitter& e, Type type, const Opmask& to, const Zmm& a, const Zmm& b,
             std::uint8_t how) {
  switch (type) {
    case Type::f32:
      return e.vcmpps(to, a, b, how);
    case Type::f64:
      return e.vcmppd(to, a, b, how);
    case Type::u16:
      return e.vpcmpuw(to, a, b, how);
    case Type::s16:
      return e.vpcmpw(to, a, b, how);
    case Type::u32:
      return e.vpcmpud(to, a, b, how);
    case Type::s32:
      return e.vpcmpd(to, a, b, how);
    case Type::u64:
      return e.vpcmpuq(to, a, b, how);
    default:
      return e.vpcmpq(to, a, b, how);
  }
}

void combine(Emitter& e, std::uint16_t how, const Opmask& to, const Opmask& with) {
  if (how == alu_flag::kAnd) e.kandw(to, to, with);
  if (how == alu_flag::kOr) e.korw(to, to, with);
  if (how == alu_flag::kXor) e.kxorw(to, to, with);
}

void setp(Emitter& e, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const AluKey& key = step.operation->alu;
  const int bytes = ptx::bytes_of(key.type);
  const auto how = static_cast<std::uint8_t>(predicate_of(key));
  const Lanes a = e.read(instruction.sources[0], bytes, Nan::any);
  const Lanes b = e.read(instruction.sources[1], bytes, Nan::any);
  const Opmask result = e.fresh_predicate();
  compare(e, key.type, result, a.part[0], b.part[0], how);
  if (bytes == 8) {
    compare(e, key.type, e.k7, a.part[1], b.part[1], how);
    e.kunpckbw(result, e.k7, result);
  }
  const auto combination = static_cast<std::uint16_t>(
      (instruction.flags & alu_flag::kCombineMask) >> alu_flag::kCombineShift);
  const bool has_second = (instruction.flags & alu_flag::kSecondDestination) != 0;
  const Opmask second = has_second ? e.fresh_predicate() : result;
  if (has_second) e.knotw(second, result);
  if (combination != alu_flag::kPlain) {
    const Opmask with = source_predicate(e, instruction, 2);
    combine(e, combination, result, with);
    if (has_second) combine(e, combination, second, with);
  }
  e.write_predicate(instruction.destination, result);
  if (has_second) e.write_predicate(instruction.second_destination, second);
}

void selp(Emitter& e, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const int bytes = ptx::bytes_of(step.operation->alu.type);
  const Lanes a = e.read(instruction.sources[0], bytes);
  const Lanes b = e.read(instruction.sources[1], bytes);
  const Opmask c = source_predicate(e, instruction, 2);
  const Lanes result = e.fresh(bytes);
  for (int part = 0; part < result.parts; ++part) {
    const Zmm& d = result.part[part];
    if (bytes == 2) {
      e.vpblendmw(d | c, b.part[part], a.part[part]);
    } else if (bytes == 4) {
      e.vpblendmd(d | c, b.part[part], a.part[part]);
    } else {
      e.vpblendmq(d | e.of_part(c, part), b.part[part], a.part[part]);
    }
  }
  e.write(instruction.destination, result);
}

}  // namespace

Lowering lower_comparison(const Instruction& instruction, const AluKey& key) {
  const bool flushes =
      key.op == AluOp::setp && key.type == Type::f32 && key.options == isa::alu_option::kFtz;
  if (key.options != 0 && !flushes) return nullptr;
  if (key.op == AluOp::selp) {
    return key.type == Type::u16 || key.type == Type::u32 || key.type == Type::u64 ? selp : nullptr;
  }
  // A guard and two destinations need more masks than there are.
  const bool two = (instruction.flags & alu_flag::kSecondDestination) != 0;
  if (key.op != AluOp::setp || (two && instruction.guarded)) return nullptr;
  return predicate_of(key) != kNone ? setp : nullptr;
}

}  // namespace warpgauge::emulator::machine::compile
