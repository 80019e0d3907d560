// Texture and surface objects: what they are made of, and what reading them gives. The runtime
// makes them; the instructions tex, tld4, suld, sust, txq and suq use them (texture_access.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "harness/emulator/machine/memory/surface_writes.h"

namespace warpgauge::emulator::machine::memory {

/// Memory that is looked at as texels (or elements of a surface).
struct Texels {
  enum class Kind : std::uint8_t { unsigned_integer, signed_integer, real };
  const std::byte* data = nullptr;
  std::uint64_t width = 0, height = 1, depth = 1;  ///< texels; of what is layered depth is layers
  std::uint64_t pitch = 0, slice = 0;              ///< bytes from row to row, from slice to slice
  int dimensions = 1;                              ///< without layers
  bool layered = false;
  bool cubemap = false;  ///< slices are faces: +x, -x, +y, -y, +z, -z, of each layer
  int channels = 1;      ///< 1, 2 or 4
  int bits = 32;         ///< a channel's: 8, 16 or 32
  Kind kind = Kind::real;
  SurfaceWrites* writes = nullptr;  ///< of an array that surfaces write to; else nullptr

  std::uint64_t texel_bytes() const { return static_cast<std::uint64_t>(channels * bits / 8); }
};

struct Texture {
  /// Addressing beside the texture; numbers as those of cudaTextureAddressMode.
  enum class Address : std::uint8_t { wrap, clamp, mirror, border };
  Texels texels;
  std::array<Address, 3> address{Address::clamp, Address::clamp, Address::clamp};
  bool linear_filter = false;
  bool normalised_coordinates = false;  ///< 0..1 instead of 0..width
  bool normalised_values = false;       ///< integers are read as 0..1 or -1..1
  bool by_index = false;                ///< over linear memory: no coordinates but integers
  bool seamless = false;                ///< a cubemap that is filtered over the edges of its faces
  std::array<float, 4> border{};

  /// Whether values come as floats (else as 32-bit integers).
  bool reads_floats() const { return normalised_values || texels.kind == Texels::Kind::real; }
};

/// Four channels, each a float or an integer in 32 bits; those that the texture lacks are 0.
using Texel = std::array<std::uint32_t, 4>;

/// Where a texture is read: x, y, z; of a cubemap the direction from its centre. Those that are not
/// given stay in the middle of a single row or slice.
struct TexturePoint {
  std::array<float, 3> at{0.5f, 0.5f, 0.5f};
  std::int64_t layer = 0;  ///< beyond the last one: the last one
};

/// Thrown where a texel is read that this launch has written through a surface.
struct StaleTexel {};

/// Reads a texture as the CUDA Programming Guide's "Texture Fetching" defines; the weights of
/// linear filtering have 8 bits behind the point.
Texel sample(const Texture& texture, const TexturePoint& place);

/// Reads the texel with these integer coordinates, without filtering or normalising (tex1Dfetch);
/// beside the texture is as `address` says.
Texel fetch(const Texture& texture, const std::array<std::int64_t, 3>& at, std::int64_t layer);

/// One channel of each of the four texels that linear filtering of two dimensions would use:
/// (0,1), (1,1), (1,0), (0,0).
Texel gather(const Texture& texture, const TexturePoint& place, int channel);

/// The objects of one kind that exist, by handle. Not to be changed while a kernel runs.
template <typename Object>
class Objects {
 public:
  static Objects& instance() {
    static Objects& objects = *new Objects;  // kernels may still run when a program ends
    return objects;
  }

  /// A handle is never 0, and never used twice.
  std::uint64_t add(const Object& object) {
    objects_.emplace(++last_, object);
    return last_;
  }
  bool remove(std::uint64_t handle) { return objects_.erase(handle) == 1; }
  const Object* find(std::uint64_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : &found->second;
  }
  void clear() { objects_.clear(); }

 private:
  std::unordered_map<std::uint64_t, Object> objects_;
  std::uint64_t last_ = 0;
};

struct Surface {
  Texels texels;
};

using Textures = Objects<Texture>;
using Surfaces = Objects<Surface>;

}  // namespace warpgauge::emulator::machine::memory
