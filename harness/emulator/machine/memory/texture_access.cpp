// Reads and writes textures and surfaces, lane by lane.
#include "harness/emulator/machine/memory/texture_access.h"

#include <cstring>
#include <string>

#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

const ImageAccess& access_of(const Instruction& instruction) {
  return *static_cast<const ImageAccess*>(instruction.detail);
}

std::byte* address_of(const Warp& warp, OperandSlot slot, int lane, int bytes) {
  return warp.bases[slot.base] + slot.offset + lane * bytes;
}

template <typename Value>
Value value_of(const Warp& warp, OperandSlot slot, int lane) {
  Value out;
  std::memcpy(&out, address_of(warp, slot, lane, sizeof out), sizeof out);
  return out;
}

[[noreturn]] void fail(const Warp& warp, const Instruction& instruction, int lane, Fault::Kind kind,
                       const std::string& what) {
  fault(warp, instruction, Mask{1} << lane, kind, what.c_str());
}

/// The object of a handle, whose memory is still there.
template <typename Object>
const Object& object_of(const Warp& warp, const Instruction& instruction, int lane,
                        std::uint64_t handle, const char* name) {
  const ImageAccess& access = access_of(instruction);
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
  const bool is_alike = wanted.layered == texels.layered && wanted.cubemap == texels.cubemap &&
                        wanted.dimensions >= used;
  if (access.query == nullptr && !is_alike) {
    refuse(std::string("the ") + name + " has " +
           (texels.cubemap ? "the faces of a cube"
                           : std::to_string(texels.dimensions) + " dimensions") +
           (texels.layered ? " and layers" : "") + ", and is accessed with " +
           (wanted.cubemap ? "a direction" : std::to_string(wanted.dimensions)) +
           (wanted.layered ? " and a layer" : ""));
  }
  return *object;
}

/// The objects of the lanes' handles. Lanes mostly have one handle, which is looked up once.
template <typename Object>
class LaneObjects {
 public:
  LaneObjects(const Warp& warp, const Instruction& instruction, const char* name)
      : warp_(warp), instruction_(instruction), name_(name) {}

  const Object& of(int lane) {
    const auto handle = value_of<std::uint64_t>(warp_, access_of(instruction_).handle, lane);
    if (object_ == nullptr || handle != handle_) {
      object_ = &object_of<Object>(warp_, instruction_, lane, handle, name_);
      handle_ = handle;
    }
    return *object_;
  }

 private:
  const Warp& warp_;
  const Instruction& instruction_;
  const char* const name_;
  std::uint64_t handle_ = 0;
  const Object* object_ = nullptr;
};

void store_values(const Warp& warp, const ImageAccess& access, int lane, const Texel& values) {
  for (int i = 0; i < access.count; ++i) {
    const int bytes = access.value_bytes[i];
    std::byte* const to = address_of(warp, access.values[i], lane, bytes);
    if (bytes == sizeof values[i]) {  // mostly: it needs no call of memcpy()
      std::memcpy(to, &values[i], sizeof values[i]);
    } else {
      std::memcpy(to, &values[i], static_cast<std::size_t>(bytes));
    }
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

[[noreturn]] void fail_as_stale(const Warp& warp, const Instruction& instruction, int lane,
                                const char* name) {
  fail(warp, instruction, lane, Fault::Kind::invalid_texture,
       std::string("this launch has written through a surface what it now reads through a ") +
           name + ", which is undefined; read it in the next launch");
}

/// Where a lane accesses a surface; nullptr if nowhere.
std::byte* element_of(const Warp& warp, const Instruction& instruction, int lane,
                      const Texels& texels) {
  const ImageAccess& access = access_of(instruction);
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

template <typename Object>
void execute_query(Warp& warp, const Instruction& instruction) {
  const ImageAccess& access = access_of(instruction);
  LaneObjects<Object> objects(warp, instruction, "texture or surface");
  for_active_lanes(warp, [&](int lane) {
    const Texels& texels = objects.of(lane).texels;
    store_values(warp, access, lane, {static_cast<std::uint32_t>(access.query(texels))});
  });
}

}  // namespace

void execute_tex(Warp& warp, const Instruction& instruction) {
  const ImageAccess& access = access_of(instruction);
  LaneObjects<Texture> textures(warp, instruction, "texture");
  for_active_lanes(warp, [&](int lane) {
    const Texture& texture = textures.of(lane);
    if (texture.reads_floats() != access.wants_float) {
      fail(warp, instruction, lane, Fault::Kind::invalid_texture,
           std::string("the texture gives ") + (access.wants_float ? "integers" : "floats") +
               ", and is read as if it gave " + (access.wants_float ? "floats" : "integers"));
    }
    if (texture.by_index && !access.integer_coordinates) {
      fail(warp, instruction, lane, Fault::Kind::invalid_texture,
           "the texture lies over linear memory, which only tex1Dfetch reads, by an index; a "
           "coordinate needs an array");
    }
    try {
      store_values(warp, access, lane, read_texture(warp, access, lane, texture));
    } catch (const StaleTexel&) {
      fail_as_stale(warp, instruction, lane, "texture");
    }
  });
}

void execute_suld(Warp& warp, const Instruction& instruction) {
  const ImageAccess& access = access_of(instruction);
  const auto bytes = static_cast<std::size_t>(access.element_bytes);
  LaneObjects<Surface> surfaces(warp, instruction, "surface");
  for_active_lanes(warp, [&](int lane) {
    const Texels& texels = surfaces.of(lane).texels;
    const std::byte* const from = element_of(warp, instruction, lane, texels);
    if (from != nullptr && texels.writes->has(from, access.count * bytes)) {
      fail_as_stale(warp, instruction, lane, "surface");
    }
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
  LaneObjects<Surface> surfaces(warp, instruction, "surface");
  for_active_lanes(warp, [&](int lane) {
    const Texels& texels = surfaces.of(lane).texels;
    std::byte* const to = element_of(warp, instruction, lane, texels);
    if (to == nullptr) return;
    texels.writes->add(to, access.count * bytes);
    Memory& memory = *warp.memory->memory;
    if (memory.is_watched()) {
      memory.extent_to_write(reinterpret_cast<std::uint64_t>(to), access.count * bytes);
    }
    for (int i = 0; i < access.count; ++i) {
      std::memcpy(to + i * bytes, address_of(warp, access.values[i], lane, access.value_bytes[i]),
                  bytes);
    }
  });
}

void execute_txq(Warp& warp, const Instruction& instruction) {
  execute_query<Texture>(warp, instruction);
}
void execute_suq(Warp& warp, const Instruction& instruction) {
  execute_query<Surface>(warp, instruction);
}

}  // namespace warpgauge::emulator::machine::memory
