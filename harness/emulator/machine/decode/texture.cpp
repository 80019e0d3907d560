// Decoding of textures and surfaces.
#include <memory>
#include <string>

#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/decode/modifiers.h"
#include "harness/emulator/machine/memory/texture_access.h"

namespace warpgauge::emulator::machine::decode {
namespace {

memory::Geometry take_geometry(Modifiers& modifiers) {
  const auto found = modifiers.take_one<memory::Geometry>({{"1d", {1, false}},
                                                           {"2d", {2, false}},
                                                           {"3d", {3, false}},
                                                           {"a1d", {1, true}},
                                                           {"a2d", {2, true}},
                                                           {"cube", {3, false, true}},
                                                           {"acube", {3, true, true}}});
  if (!found) throw Unsupported("only 1d, 2d, 3d, a1d, a2d, cube and acube are");
  return *found;
}

/// [handle, {coordinates}]: the layer first, if there is one; unused ones behind.
void decode_place(const ptx::Operand& operand, Decoder& decoder, ptx::Type type,
                  memory::ImageAccess& access) {
  const ptx::Operand& handle = operand.elements.at(0);
  if (decoder.register_type(handle) == ptx::Type::none) {
    throw Unsupported("textures and surfaces that are named, not given by a handle");
  }
  access.handle = decoder.source(handle, ptx::Type::b64);
  if (operand.elements.size() < 2) return;
  const ptx::Operand& second = operand.elements[1];
  const bool is_vector = second.kind == ptx::Operand::Kind::vector;
  const auto coordinate = [&](std::size_t i) -> const ptx::Operand& {
    return is_vector ? second.elements.at(i) : second;
  };
  std::size_t next = 0;
  if (access.geometry.layered) {
    access.layer = decoder.source(coordinate(next++), ptx::Type::b32);
  }
  for (int axis = 0; axis < access.geometry.dimensions; ++axis) {
    access.coordinates[axis] = decoder.source(coordinate(next++), type);
  }
}

/// A list of registers that are written (or read), or a single one.
void decode_values(const ptx::Operand& operand, Decoder& decoder, bool written,
                   memory::ImageAccess& access) {
  const bool is_vector = operand.kind == ptx::Operand::Kind::vector;
  access.count = is_vector ? static_cast<int>(operand.elements.size()) : 1;
  if (access.count > 4) throw Unsupported("more than four values");
  for (int i = 0; i < access.count; ++i) {
    const ptx::Operand& value = is_vector ? operand.elements[i] : operand;
    const bool ignored = value.kind == ptx::Operand::Kind::sink;
    // An immediate that is stored takes as many bytes as there are in memory.
    ptx::Type type = ignored ? ptx::Type::b32 : decoder.register_type(value);
    if (type == ptx::Type::none) type = access.element_bytes == 8 ? ptx::Type::b64 : ptx::Type::b32;
    access.value_bytes[i] = ptx::bytes_of(type);
    access.values[i] = written ? decoder.destination(value, type) : decoder.source(value, type);
  }
}

void decode_tex(const ptx::Instruction& instruction, Decoder& decoder,
                memory::ImageAccess& access) {
  Modifiers modifiers(instruction);
  // There are no mipmaps: all levels are the one that there is.
  modifiers.take("base");
  modifiers.take("level");
  modifiers.take("grad");
  if (instruction.opcode == "tld4") {
    const auto channel = modifiers.take_one<int>({{"r", 0}, {"g", 1}, {"b", 2}, {"a", 3}});
    if (!channel) throw Unsupported("without a channel");
    access.channel = *channel;
  }
  access.geometry = take_geometry(modifiers);
  if (!modifiers.take("v4")) throw Unsupported("only results of four values are");
  const auto value = modifiers.take_type(), coordinate = modifiers.take_type();
  modifiers.finish();
  access.wants_float = value == ptx::Type::f32;
  if (!access.wants_float && value != ptx::Type::s32 && value != ptx::Type::u32) {
    throw Unsupported("only f32, s32 and u32 are");
  }
  access.integer_coordinates = coordinate == ptx::Type::s32;
  if (!access.integer_coordinates && coordinate != ptx::Type::f32) {
    throw Unsupported("only coordinates of f32 and s32 are");
  }
  decode_values(instruction.operands.at(0), decoder, true, access);
  decode_place(instruction.operands.at(1), decoder, *coordinate, access);
}

void decode_surface(const ptx::Instruction& instruction, Decoder& decoder,
                    memory::ImageAccess& access) {
  Modifiers modifiers(instruction);
  if (!modifiers.take("b")) throw Unsupported("only the unformatted form (.b) is");
  access.geometry = take_geometry(modifiers);
  if (access.geometry.cubemap) throw Unsupported("surfaces of cubes are accessed by face (a2d)");
  // Caches are not modelled.
  modifiers.take_one<int>({{"ca", 0}, {"cg", 0}, {"cs", 0}, {"cv", 0}, {"wb", 0}, {"wt", 0}});
  modifiers.take_one<int>({{"v2", 0}, {"v4", 0}});
  const auto bytes = modifiers.take_one<int>({{"b8", 1}, {"b16", 2}, {"b32", 4}, {"b64", 8}});
  const auto outside = modifiers.take_one<memory::Outside>({{"trap", memory::Outside::trap},
                                                            {"clamp", memory::Outside::clamp},
                                                            {"zero", memory::Outside::zero}});
  modifiers.finish();
  if (!bytes || !outside) throw Unsupported("without a type or what to do outside");
  access.element_bytes = *bytes;
  access.outside = *outside;
  const bool load = instruction.opcode == "suld";
  decode_values(instruction.operands.at(load ? 0 : 1), decoder, load, access);
  for (int i = 0; i < access.count; ++i) {
    if (access.value_bytes[i] < access.element_bytes) {
      throw Unsupported("registers narrower than the elements");
    }
  }
  decode_place(instruction.operands.at(load ? 1 : 0), decoder, ptx::Type::s32, access);
}

void decode_query(const ptx::Instruction& instruction, Decoder& decoder,
                  memory::ImageAccess& access) {
  Modifiers modifiers(instruction);
  using Query = std::uint64_t (*)(const memory::Texels&);
  const auto query = modifiers.take_one<Query>(
      {{"width", [](const memory::Texels& texels) { return texels.width; }},
       {"height", [](const memory::Texels& texels) { return texels.height; }},
       {"depth",
        [](const memory::Texels& texels) {
          return texels.layered || texels.cubemap ? 1 : texels.depth;
        }},
       {"array_size", [](const memory::Texels& texels) {
          return texels.layered ? texels.depth / (texels.cubemap ? 6 : 1) : 0;
        }}});
  const bool known = query && modifiers.take("b32");
  modifiers.finish();
  if (!known) throw Unsupported("only width, height, depth and array_size are");
  access.query = *query;
  decode_values(instruction.operands.at(0), decoder, true, access);
  decode_place(instruction.operands.at(1), decoder, ptx::Type::s32, access);
}

}  // namespace

bool decode_texture(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa&,
                    Instruction* result) {
  const std::string& opcode = instruction.opcode;
  auto access = std::make_shared<memory::ImageAccess>();
  if (opcode == "tex" || opcode == "tld4") {
    decode_tex(instruction, decoder, *access);
    result->execute = memory::execute_tex;
  } else if (opcode == "suld" || opcode == "sust") {
    decode_surface(instruction, decoder, *access);
    result->execute = opcode == "suld" ? memory::execute_suld : memory::execute_sust;
  } else if (opcode == "txq" || opcode == "suq") {
    decode_query(instruction, decoder, *access);
    result->execute = opcode == "txq" ? memory::execute_txq : memory::execute_suq;
  } else {
    return false;
  }
  result->detail = decoder.keep(std::move(access));
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
