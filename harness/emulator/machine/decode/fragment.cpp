// Decodes the registers of matrices, which the decoders of mma, wmma, ldmatrix and their kin share.
#include "harness/emulator/machine/decode/fragment.h"

#include <string>

#include "harness/emulator/machine/control/warp_ops.h"

namespace warpgauge::emulator::machine::decode {

void wait_for_all_lanes(Decoder& decoder, Instruction* result) {
  ptx::Operand all;
  all.kind = ptx::Operand::Kind::integer;
  all.type = ptx::Type::s64;
  all.bits = kAllLanes;
  result->sources[3] = decoder.source(all, ptx::Type::b32);
  result->flags = control::warp_op_flag::kSync | control::warp_op_flag::kAllMembers;
}

std::vector<ptx::Operand> registers_of(const ptx::Operand& operand, int expected) {
  const bool is_vector = operand.kind == ptx::Operand::Kind::vector;
  std::vector<ptx::Operand> result = is_vector ? operand.elements : std::vector{operand};
  if (static_cast<int>(result.size()) != expected) throw Unsupported("the number of registers");
  return result;
}

isa::MatrixElement matrix_element(std::string_view name) {
  using enum isa::MatrixElement;
  if (name == "f16") return f16;
  if (name == "bf16") return bf16;
  if (name == "tf32") return tf32;
  if (name == "f64") return f64;
  if (name == "s8") return s8;
  if (name == "u8") return u8;
  if (name == "s4") return s4;
  if (name == "u4") return u4;
  if (name == "b1") return b1;
  if (name == "e4m3") return e4m3;
  if (name == "e5m2") return e5m2;
  if (name == "e2m3") return e2m3;
  if (name == "e3m2") return e3m2;
  if (name == "e2m1") return e2m1;
  throw Unsupported("elements of type ." + std::string(name));
}

WmmaShape take_wmma_shape(Modifiers& modifiers) {
  const auto shape = modifiers.take_one<WmmaShape>({{"m16n16k16", {16, 16, 16}},
                                                    {"m32n8k16", {32, 8, 16}},
                                                    {"m8n32k16", {8, 32, 16}},
                                                    {"m16n16k8", {16, 16, 8}},
                                                    {"m8n8k4", {8, 8, 4}},
                                                    {"m8n8k32", {8, 8, 32}},
                                                    {"m8n8k128", {8, 8, 128}}});
  if (!shape) throw Unsupported("the shape");
  return *shape;
}

bool exists(const WmmaShape& shape, isa::MatrixElement element) {
  switch (element) {
    case isa::MatrixElement::f16:
    case isa::MatrixElement::bf16:
    case isa::MatrixElement::s8:
    case isa::MatrixElement::u8:
      return shape.k == 16;
    case isa::MatrixElement::tf32:
      return shape.k == 8;
    case isa::MatrixElement::f64:
      return shape.k == 4;
    case isa::MatrixElement::s4:
    case isa::MatrixElement::u4:
      return shape.k == 32;
    case isa::MatrixElement::b1:
      return shape.k == 128;
    default:
      return false;
  }
}

}  // namespace warpgauge::emulator::machine::decode
