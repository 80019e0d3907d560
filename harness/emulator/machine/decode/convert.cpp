// Decoding of cvt.
#include "harness/emulator/machine/isa/convert.h"

#include <optional>
#include <string>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/decode/modifiers.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using ptx::Type;

isa::ConvertRounding take_rounding(Modifiers& modifiers) {
  return modifiers
      .take_one<isa::ConvertRounding>({{"rn", isa::ConvertRounding::rn},
                                       {"rz", isa::ConvertRounding::rz},
                                       {"rm", isa::ConvertRounding::rm},
                                       {"rp", isa::ConvertRounding::rp},
                                       {"rna", isa::ConvertRounding::rna},
                                       {"rni", isa::ConvertRounding::rni},
                                       {"rzi", isa::ConvertRounding::rzi},
                                       {"rmi", isa::ConvertRounding::rmi},
                                       {"rpi", isa::ConvertRounding::rpi}})
      .value_or(isa::ConvertRounding::none);
}

Type take_type(Modifiers& modifiers) {
  const std::optional<Type> type = modifiers.take_type();
  if (!type) throw Unsupported("not a known type");
  return *type;
}

const ptx::Operand& operand(const ptx::Instruction& instruction, std::size_t n) {
  if (n >= instruction.operands.size()) throw Unsupported("too few operands");
  return instruction.operands[n];
}

/// The type to read or write a register as: its own if it is wider than `type` (then the handler
/// takes the low bits, or extends).
Type type_of_register(const Decoder& decoder, const ptx::Operand& operand, Type type) {
  const Type declared = decoder.register_type(operand);
  return ptx::bytes_of(declared) > ptx::bytes_of(type) ? declared : type;
}

bool is_pair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 ||
         (type >= Type::e4m3x2 && type <= Type::ue8m0x2);
}

/// Two values in one register, from two registers or from one pair to another.
void decode_pair(const ptx::Instruction& instruction, Decoder& decoder, const isa::ConvertKey& key,
                 Instruction* result) {
  const std::size_t sources = is_pair(key.from) ? 1 : 2;
  if (instruction.operands.size() != sources + 1) throw Unsupported("the number of operands");
  result->destination = decoder.destination(operand(instruction, 0), key.to);
  for (std::size_t n = 0; n < sources; ++n) {
    result->sources[n] = decoder.source(operand(instruction, n + 1), key.from);
  }
}

/// cvt.pack.sat.u8.s32.b32 d, a, b, c.
void decode_pack(const ptx::Instruction& instruction, Decoder& decoder, Modifiers& modifiers,
                 const isa::ConvertKey& key, Instruction* result) {
  const bool has_third = ptx::bytes_of(key.to) == 1;
  if (has_third && modifiers.take_type() != Type::b32) throw Unsupported("the type of c");
  const std::size_t sources = has_third ? 3 : 2;
  if (instruction.operands.size() != sources + 1) throw Unsupported("the number of operands");
  result->destination = decoder.destination(operand(instruction, 0), Type::b32);
  for (std::size_t n = 0; n < sources; ++n) {
    result->sources[n] = decoder.source(operand(instruction, n + 1), Type::b32);
  }
}

void decode_single(const ptx::Instruction& instruction, Decoder& decoder,
                   const isa::ConvertKey& key, Instruction* result) {
  if (instruction.operands.size() != 2) throw Unsupported("the number of operands");
  const ptx::Operand& to = operand(instruction, 0);
  const ptx::Operand& from = operand(instruction, 1);
  const Type to_register = type_of_register(decoder, to, key.to);
  const Type from_register = type_of_register(decoder, from, key.from);
  result->destination = decoder.destination(to, to_register);
  result->sources[0] = decoder.source(from, from_register);
  result->flags = isa::size_flags(static_cast<unsigned>(ptx::bytes_of(from_register)),
                                  static_cast<unsigned>(ptx::bytes_of(to_register)));
}

}  // namespace

bool decode_convert(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                    Instruction* result) {
  if (instruction.opcode != "cvt") return false;
  Modifiers modifiers(instruction);
  isa::ConvertKey key;
  key.rounding = take_rounding(modifiers);
  if (modifiers.take("ftz")) key.options |= isa::convert_option::kFtz;
  if (modifiers.take("sat")) key.options |= isa::convert_option::kSat;
  if (modifiers.take("satfinite")) key.options |= isa::convert_option::kSatfinite;
  if (modifiers.take("relu")) key.options |= isa::convert_option::kRelu;
  if (modifiers.take("pack")) key.options |= isa::convert_option::kPack;
  key.to = take_type(modifiers);
  key.from = take_type(modifiers);
  if ((key.options & isa::convert_option::kPack) != 0) {
    decode_pack(instruction, decoder, modifiers, key, result);
  } else if (is_pair(key.to)) {
    decode_pair(instruction, decoder, key, result);
  } else {
    decode_single(instruction, decoder, key, result);
  }
  modifiers.finish();
  result->execute = isa.convert(key);
  if (result->execute == nullptr) throw Unsupported("this combination of types and modifiers");
  decoder.note({.kind = compile::Operation::Kind::convert, .convert = key});
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
