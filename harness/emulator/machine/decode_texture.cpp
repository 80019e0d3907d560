// Textures and surfaces: tex, tld4, txq, suld, sust, suq. They are rare and cost much by
// themselves, so that they go lane by lane and are the same for all instruction sets. What they
// read and write is in no counter: it does not go the way of global memory.
#include <bit>
#include <cstring>
#include <string>

#include "harness/emulator/machine/decode_families.h"
#include "harness/emulator/machine/engine.h"
#include "harness/emulator/machine/memory_context.h"
#include "harness/emulator/machine/modifiers.h"
#include "harness/emulator/machine/texture.h"
#include "harness/emulator/machine/warp.h"

namespace warpgauge::machine {
namespace {

/// Which coordinates an instruction gives.
struct Geometry {
  int dimensions = 1;
  bool layered = false;  ///< the layer comes first
};

/// What surface accesses do outside of the surface.
enum class Outside { trap, clamp, zero };

/// Detail of all instructions here; each uses a part of it.
struct ImageAccess {
  Geometry geometry;
  Slot handle{};
  Slot layer{};
  Slot coordinates[3]{};
  bool integer_coordinates = false;
  bool wants_float = false;  ///< tex: values are to be floats
  int channel = -1;          ///< tld4: which one is gathered
  int count = 4;             ///< values that are read or written
  Slot values[4]{};
  int value_bytes[4]{};   ///< of their registers
  int element_bytes = 4;  ///< suld, sust: of each value in memory
  Outside outside = Outside::trap;
  std::uint64_t (*query)(const Texels&) = nullptr;
};

const ImageAccess& access_of(const Instruction& instruction) {
  return *static_cast<const ImageAccess*>(instruction.detail);
}

std::byte* address_of(const Warp& warp, Slot slot, int lane, int bytes) {
  return warp.bases[slot.base] + slot.offset + lane * bytes;
}

template <typename Value>
Value value_of(const Warp& warp, Slot slot, int lane) {
  Value out;
  std::memcpy(&out, address_of(warp, slot, lane, sizeof out), sizeof out);
  return out;
}

template <typename Body>
void for_active_lanes(const Warp& warp, Body body) {
  for (Mask rest = warp.active; rest != 0; rest &= rest - 1) body(std::countr_zero(rest));
}

[[noreturn]] void fail(const Warp& warp, const Instruction& instruction, int lane, Fault::Kind kind,
                       const std::string& what) {
  fault(warp, instruction, Mask{1} << lane, kind, what.c_str());
}

/// The object of a lane's handle, whose memory is still there.
template <typename Object>
const Object& object_of(const Warp& warp, const Instruction& instruction, int lane,
                        const char* name) {
  const ImageAccess& access = access_of(instruction);
  const auto handle = value_of<std::uint64_t>(warp, access.handle, lane);
  const Object* const object = Objects<Object>::instance().find(handle);
  const auto refuse = [&](const std::string& why) {
    fail(warp, instruction, lane, Fault::Kind::invalid_texture, why);
  };
  if (object == nullptr) {
    refuse(std::to_string(handle) + " is no " + name + " object (never made, or destroyed)");
  }
  const Texels& texels = object->texels;
  const auto extent = warp.memory->memory->extent(reinterpret_cast<std::uint64_t>(texels.data));
  if (!extent) refuse(std::string("the memory of the ") + name + " was freed");
  // One row is as good as a line: cudaMallocArray with a height of 1 is read by tex1D, too.
  const int used = texels.height == 1 && texels.dimensions == 2 ? 1 : texels.dimensions;
  const Geometry& wanted = access.geometry;
  if (access.query == nullptr && (wanted.layered != texels.layered || wanted.dimensions < used)) {
    refuse(std::string("the ") + name + " has " + std::to_string(texels.dimensions) +
           " dimensions" + (texels.layered ? " and layers" : "") + ", and is accessed with " +
           std::to_string(wanted.dimensions) + (wanted.layered ? " and a layer" : ""));
  }
  return *object;
}

void store_values(const Warp& warp, const ImageAccess& access, int lane, const Texel& values) {
  for (int i = 0; i < access.count; ++i) {
    const int bytes = access.value_bytes[i];
    std::memcpy(address_of(warp, access.values[i], lane, bytes), &values[i],
                static_cast<std::size_t>(bytes));
  }
}

Texel read_texture(const Warp& warp, const ImageAccess& access, int lane, const Texture& texture) {
  const auto layer = access.geometry.layered ? value_of<std::uint32_t>(warp, access.layer, lane)
                                             : std::uint32_t{0};
  if (access.integer_coordinates) {
    std::array<std::int64_t, 3> at{};
    for (int axis = 0; axis < access.geometry.dimensions; ++axis) {
      at[axis] = value_of<std::int32_t>(warp, access.coordinates[axis], lane);
    }
    return fetch(texture, at, layer);
  }
  TexturePoint point;
  point.layer = layer;
  for (int axis = 0; axis < access.geometry.dimensions; ++axis) {
    point.at[axis] = value_of<float>(warp, access.coordinates[axis], lane);
  }
  return access.channel < 0 ? sample(texture, point) : gather(texture, point, access.channel);
}

void execute_tex(Warp& warp, const Instruction& instruction) {
  const ImageAccess& access = access_of(instruction);
  for_active_lanes(warp, [&](int lane) {
    const auto& texture = object_of<Texture>(warp, instruction, lane, "texture");
    if (texture.reads_floats() != access.wants_float) {
      fail(warp, instruction, lane, Fault::Kind::invalid_texture,
           std::string("the texture gives ") + (access.wants_float ? "integers" : "floats") +
               ", and is read as if it gave " + (access.wants_float ? "floats" : "integers"));
    }
    store_values(warp, access, lane, read_texture(warp, access, lane, texture));
  });
}

template <typename Object>
void execute_query(Warp& warp, const Instruction& instruction) {
  const ImageAccess& access = access_of(instruction);
  for_active_lanes(warp, [&](int lane) {
    const auto& object = object_of<Object>(warp, instruction, lane, "texture or surface");
    store_values(warp, access, lane, {static_cast<std::uint32_t>(access.query(object.texels))});
  });
}

/// Where a lane accesses a surface; nullptr if nowhere.
std::byte* element_of(const Warp& warp, const Instruction& instruction, int lane) {
  const ImageAccess& access = access_of(instruction);
  const Texels& texels = object_of<Surface>(warp, instruction, lane, "surface").texels;
  const int bytes = access.count * access.element_bytes;
  const std::int64_t limits[] = {static_cast<std::int64_t>(texels.width * texels.texel_bytes()),
                                 static_cast<std::int64_t>(texels.height),
                                 static_cast<std::int64_t>(texels.depth)};
  std::int64_t at[3] = {0, 0, 0};
  for (int axis = 0; axis < access.geometry.dimensions; ++axis) {
    at[axis] = value_of<std::int32_t>(warp, access.coordinates[axis], lane);
  }
  if (access.geometry.layered) at[2] = value_of<std::int32_t>(warp, access.layer, lane);
  if (at[0] % bytes != 0) {
    fail(warp, instruction, lane, Fault::Kind::misaligned_address,
         "x of a surface access (" + std::to_string(at[0]) + " bytes) is no multiple of its " +
             std::to_string(bytes) + " bytes");
  }
  const std::int64_t sizes[] = {bytes, 1, 1};
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t last = limits[axis] - sizes[axis];
    if (at[axis] >= 0 && at[axis] <= last) continue;
    if (access.outside == Outside::zero) return nullptr;
    if (access.outside == Outside::trap) {
      fail(warp, instruction, lane, Fault::Kind::trap,
           std::string("surface access outside of the surface: ") + "xyz"[axis] + " is " +
               std::to_string(at[axis]) + ", and the last one is " + std::to_string(last));
    }
    at[axis] = at[axis] < 0 ? 0 : last;
  }
  const std::int64_t offset = at[2] * static_cast<std::int64_t>(texels.slice) +
                              at[1] * static_cast<std::int64_t>(texels.pitch) + at[0];
  return const_cast<std::byte*>(texels.data) + offset;
}

void execute_suld(Warp& warp, const Instruction& instruction) {
  const ImageAccess& access = access_of(instruction);
  const auto bytes = static_cast<std::size_t>(access.element_bytes);
  for_active_lanes(warp, [&](int lane) {
    const std::byte* const from = element_of(warp, instruction, lane);
    for (int i = 0; i < access.count; ++i) {
      std::uint64_t value = 0;
      if (from != nullptr) std::memcpy(&value, from + i * bytes, bytes);
      const int width = access.value_bytes[i];
      std::memcpy(address_of(warp, access.values[i], lane, width), &value,
                  static_cast<std::size_t>(width));
    }
  });
}

void execute_sust(Warp& warp, const Instruction& instruction) {
  const ImageAccess& access = access_of(instruction);
  const auto bytes = static_cast<std::size_t>(access.element_bytes);
  for_active_lanes(warp, [&](int lane) {
    std::byte* const to = element_of(warp, instruction, lane);
    if (to == nullptr) return;
    for (int i = 0; i < access.count; ++i) {
      std::memcpy(to + i * bytes, address_of(warp, access.values[i], lane, access.value_bytes[i]),
                  bytes);
    }
  });
}

Geometry take_geometry(Modifiers& modifiers) {
  const auto found = modifiers.take_one<Geometry>({{"1d", {1, false}},
                                                   {"2d", {2, false}},
                                                   {"3d", {3, false}},
                                                   {"a1d", {1, true}},
                                                   {"a2d", {2, true}}});
  if (!found) throw Unsupported("only 1d, 2d, 3d, a1d and a2d are");
  return *found;
}

/// [handle, {coordinates}]: the layer first, if there is one; unused ones behind.
void decode_place(const ptx::Operand& operand, Decoder& decoder, ptx::Type type,
                  ImageAccess& access) {
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
                   ImageAccess& access) {
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

void decode_tex(const ptx::Instruction& instruction, Decoder& decoder, ImageAccess& access) {
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

void decode_surface(const ptx::Instruction& instruction, Decoder& decoder, ImageAccess& access) {
  Modifiers modifiers(instruction);
  if (!modifiers.take("b")) throw Unsupported("only the unformatted form (.b) is");
  access.geometry = take_geometry(modifiers);
  // Caches are not modelled.
  modifiers.take_one<int>({{"ca", 0}, {"cg", 0}, {"cs", 0}, {"cv", 0}, {"wb", 0}, {"wt", 0}});
  modifiers.take_one<int>({{"v2", 0}, {"v4", 0}});
  const auto bytes = modifiers.take_one<int>({{"b8", 1}, {"b16", 2}, {"b32", 4}, {"b64", 8}});
  const auto outside = modifiers.take_one<Outside>(
      {{"trap", Outside::trap}, {"clamp", Outside::clamp}, {"zero", Outside::zero}});
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

void decode_query(const ptx::Instruction& instruction, Decoder& decoder, ImageAccess& access) {
  Modifiers modifiers(instruction);
  using Query = std::uint64_t (*)(const Texels&);
  const auto query = modifiers.take_one<Query>(
      {{"width", [](const Texels& texels) { return texels.width; }},
       {"height", [](const Texels& texels) { return texels.height; }},
       {"depth", [](const Texels& texels) { return texels.layered ? 1 : texels.depth; }},
       {"array_size", [](const Texels& texels) { return texels.layered ? texels.depth : 0; }}});
  const bool known = query && modifiers.take("b32");
  modifiers.finish();
  if (!known) throw Unsupported("only width, height, depth and array_size are");
  access.query = *query;
  decode_values(instruction.operands.at(0), decoder, true, access);
  decode_place(instruction.operands.at(1), decoder, ptx::Type::s32, access);
}

}  // namespace

bool decode_texture(const ptx::Instruction& instruction, Decoder& decoder, const Isa&,
                    Instruction* result) {
  const std::string& opcode = instruction.opcode;
  auto access = std::make_shared<ImageAccess>();
  if (opcode == "tex" || opcode == "tld4") {
    decode_tex(instruction, decoder, *access);
    result->execute = execute_tex;
  } else if (opcode == "suld" || opcode == "sust") {
    decode_surface(instruction, decoder, *access);
    result->execute = opcode == "suld" ? execute_suld : execute_sust;
  } else if (opcode == "txq" || opcode == "suq") {
    decode_query(instruction, decoder, *access);
    result->execute = opcode == "txq" ? execute_query<Texture> : execute_query<Surface>;
  } else {
    return false;
  }
  result->detail = decoder.keep(std::move(access));
  return true;
}

}  // namespace warpgauge::machine
