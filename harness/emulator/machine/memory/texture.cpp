// Reading textures: address modes, conversion, filtering.
#include "harness/emulator/machine/memory/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace warpgauge::emulator::machine::memory {
namespace {

constexpr float kWeightSteps = 256;   // 8 bits behind the point
constexpr float kFarthest = 0x1p40F;  // no texture is so large, and int64 holds it

/// Where on an axis a texel lies, or -1: on the border.
std::int64_t place(std::int64_t index, std::uint64_t size, Texture::Address mode) {
  const auto length = static_cast<std::int64_t>(size);
  if (index >= 0 && index < length) return index;
  const auto modulo = [](std::int64_t value, std::int64_t period) {
    return (value % period + period) % period;
  };
  switch (mode) {
    case Texture::Address::wrap:
      return modulo(index, length);
    case Texture::Address::mirror: {
      const std::int64_t at = modulo(index, 2 * length);
      return at < length ? at : 2 * length - 1 - at;
    }
    case Texture::Address::border:
      return index >= 0 && index < length ? index : -1;
    case Texture::Address::clamp:
      break;
  }
  return std::clamp<std::int64_t>(index, 0, length - 1);
}

float half_as_float(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// A channel's bits, sign-extended where it is signed.
std::uint32_t channel_bits(const Texels& texels, const std::byte* texel, int channel) {
  const int bytes = texels.bits / 8;
  const std::byte* const from = texel + channel * bytes;
  std::uint32_t value = 0;
  switch (bytes) {  // a call of memcpy() takes longer
    case 1:
      value = static_cast<std::uint32_t>(*from);
      break;
    case 2:
      std::memcpy(&value, from, 2);
      break;
    default:
      std::memcpy(&value, from, 4);
  }
  if (texels.kind != Texels::Kind::signed_integer) return value;
  const int unused = 32 - texels.bits;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << unused) >> unused);
}

float channel_as_float(const Texels& texels, std::uint32_t bits) {
  switch (texels.kind) {
    case Texels::Kind::real:
      return texels.bits == 16 ? half_as_float(bits) : std::bit_cast<float>(bits);
    case Texels::Kind::signed_integer: {
      const auto most = static_cast<float>((1u << (texels.bits - 1)) - 1);
      return std::max(-1.0f, static_cast<float>(static_cast<std::int32_t>(bits)) / most);
    }
    case Texels::Kind::unsigned_integer:
      break;
  }
  return static_cast<float>(bits) / static_cast<float>((1u << texels.bits) - 1);
}

/// The texel at integer coordinates, after the address modes.
Texel texel_at(const Texture& texture, const std::array<std::int64_t, 3>& at, std::int64_t layer) {
  const Texels& texels = texture.texels;
  const std::uint64_t sizes[] = {texels.width, texels.height, texels.depth};
  std::int64_t places[3] = {0, 0, 0};
  bool on_border = false;
  for (int axis = 0; axis < texels.dimensions; ++axis) {
    places[axis] = place(at[axis], sizes[axis], texture.address[axis]);
    on_border |= places[axis] < 0;
  }
  if (texels.layered || texels.cubemap)
    places[2] = place(layer, texels.depth, Texture::Address::clamp);

  Texel out{};
  for (int channel = 0; channel < texels.channels; ++channel) {
    if (on_border) {
      const float border = texture.border[channel];
      out[channel] = texture.reads_floats()
                         ? std::bit_cast<std::uint32_t>(border)
                         : static_cast<std::uint32_t>(static_cast<std::int64_t>(border));
      continue;
    }
    const std::byte* const texel = texels.data +
                                   static_cast<std::uint64_t>(places[2]) * texels.slice +
                                   static_cast<std::uint64_t>(places[1]) * texels.pitch +
                                   static_cast<std::uint64_t>(places[0]) * texels.texel_bytes();
    if (texels.writes != nullptr && texels.writes->has(texel, texels.texel_bytes())) {
      throw StaleTexel{};
    }
    out[channel] = channel_bits(texels, texel, channel);
    if (texture.reads_floats()) {
      out[channel] = std::bit_cast<std::uint32_t>(channel_as_float(texels, out[channel]));
    }
  }
  return out;
}

/// A coordinate in texels; what is no number is 0.
float in_texels(const Texture& texture, float coordinate, std::uint64_t size) {
  const float scaled =
      texture.normalised_coordinates ? coordinate * static_cast<float>(size) : coordinate;
  return std::isnan(scaled) ? 0 : std::clamp(scaled, -kFarthest, kFarthest);
}

/// The lower one of the two texels of an axis that are mixed, and how much of the upper one.
struct Mix {
  std::int64_t lower = 0;
  float upper_weight = 0;
};

Mix mix_of(const Texture& texture, float coordinate, std::uint64_t size) {
  const float centred = in_texels(texture, coordinate, size) - 0.5f;
  const float floor = std::floor(centred);
  const float weight = std::floor((centred - floor) * kWeightSteps + 0.5f) / kWeightSteps;
  return {static_cast<std::int64_t>(floor), weight};
}

std::array<Mix, 3> mixes_of(const Texture& texture, const TexturePoint& point) {
  const Texels& texels = texture.texels;
  const std::uint64_t sizes[] = {texels.width, texels.height, texels.depth};
  std::array<Mix, 3> out{};
  for (int axis = 0; axis < texels.dimensions; ++axis) {
    out[axis] = mix_of(texture, point.at[axis], sizes[axis]);
  }
  return out;
}

/// Where a direction meets a cube: coordinates on the face, and the slice that it is. The largest
/// component chooses the face, of equal ones the last.
TexturePoint on_face(const Texture& texture, const TexturePoint& direction) {
  const auto [x, y, z] = direction.at;
  const float sizes[] = {std::fabs(x), std::fabs(y), std::fabs(z)};
  const int axis = sizes[2] >= std::max(sizes[0], sizes[1]) ? 2 : (sizes[1] >= sizes[0] ? 1 : 0);
  const float size = sizes[axis];
  const bool negative = std::signbit(direction.at[axis]);
  // For each face: the coordinate that grows to the right, and the one that grows downwards.
  const float right[] = {negative ? z : -z, x, negative ? -x : x};
  const float down[] = {-y, negative ? -z : z, -y};
  const auto coordinate = [&](float part) { return (part / size + 1) / 2; };
  const auto cubes = static_cast<std::int64_t>(texture.texels.depth / 6);
  const std::int64_t cube = std::clamp<std::int64_t>(direction.layer, 0, cubes - 1);
  return {{coordinate(right[axis]), coordinate(down[axis]), 0.5f},
          6 * cube + 2 * axis + (negative ? 1 : 0)};
}

/// The direction of a place on the plane of a face, which the face itself has from -1 to 1.
TexturePoint direction_of(std::int64_t slice, float right, float down) {
  const bool negative = slice % 2 != 0;
  const float side = negative ? -1 : 1;
  const std::array<float, 3> directions[] = {{side, -down, negative ? right : -right},
                                             {right, side, negative ? -down : down},
                                             {negative ? -right : right, -down, side}};
  return {directions[slice % 6 / 2], slice / 6};
}

/// The texel of a cubemap at these coordinates of a face, or next to it on another face. Where
/// three faces meet there is none: the mean of the three that do.
Texel texel_of_cube(const Texture& texture, const std::array<std::int64_t, 3>& at,
                    std::int64_t slice) {
  const auto size = static_cast<std::int64_t>(texture.texels.width);
  const auto inside = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place, 0, size - 1);
  };
  const std::array<std::int64_t, 3> own{inside(at[0]), inside(at[1]), 0};
  const bool leaves_right = own[0] != at[0], leaves_down = own[1] != at[1];
  if (!leaves_right && !leaves_down) return texel_at(texture, own, slice);
  if (leaves_right && leaves_down) {
    const Texel three[] = {texel_at(texture, own, slice),
                           texel_of_cube(texture, {at[0], own[1], 0}, slice),
                           texel_of_cube(texture, {own[0], at[1], 0}, slice)};
    std::array<float, 4> sum{};
    for (const Texel& texel : three) {
      for (int channel = 0; channel < 4; ++channel) {
        sum[channel] += std::bit_cast<float>(texel[channel]) / 3;
      }
    }
    return std::bit_cast<Texel>(sum);
  }
  const auto on_plane = [&](std::int64_t place) {
    return static_cast<float>(2 * place + 1) / static_cast<float>(size) - 1;
  };
  const TexturePoint there =
      on_face(texture, direction_of(slice, on_plane(at[0]), on_plane(at[1])));
  std::array<std::int64_t, 3> texel{};
  for (int axis = 0; axis < 2; ++axis) {
    texel[axis] = static_cast<std::int64_t>(std::floor(there.at[axis] * static_cast<float>(size)));
  }
  return texel_at(texture, texel, there.layer);
}

Texel filtered(const Texture& texture, const TexturePoint& point) {
  const auto mixes = mixes_of(texture, point);
  const int dimensions = texture.texels.dimensions;
  std::array<float, 4> sum{};
  for (int corner = 0; corner < 1 << dimensions; ++corner) {
    std::array<std::int64_t, 3> at{};
    float weight = 1;
    for (int axis = 0; axis < dimensions; ++axis) {
      const int upper = corner >> axis & 1;
      at[axis] = mixes[axis].lower + upper;
      weight *= upper != 0 ? mixes[axis].upper_weight : 1 - mixes[axis].upper_weight;
    }
    if (weight == 0) continue;  // what is not used may be infinite
    const Texel texel = texture.seamless ? texel_of_cube(texture, at, point.layer)
                                         : texel_at(texture, at, point.layer);
    for (int channel = 0; channel < 4; ++channel) {
      sum[channel] += weight * std::bit_cast<float>(texel[channel]);
    }
  }
  return std::bit_cast<Texel>(sum);
}

}  // namespace

Texel sample(const Texture& texture, const TexturePoint& place) {
  const TexturePoint point = texture.texels.cubemap ? on_face(texture, place) : place;
  if (texture.linear_filter) return filtered(texture, point);
  const Texels& texels = texture.texels;
  const std::uint64_t sizes[] = {texels.width, texels.height, texels.depth};
  std::array<std::int64_t, 3> at{};
  for (int axis = 0; axis < texels.dimensions; ++axis) {
    at[axis] =
        static_cast<std::int64_t>(std::floor(in_texels(texture, point.at[axis], sizes[axis])));
  }
  return texel_at(texture, at, point.layer);
}

Texel fetch(const Texture& texture, const std::array<std::int64_t, 3>& at, std::int64_t layer) {
  return texel_at(texture, at, layer);
}

Texel gather(const Texture& texture, const TexturePoint& place, int channel) {
  const TexturePoint point = texture.texels.cubemap ? on_face(texture, place) : place;
  constexpr int kCorners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  const auto mixes = mixes_of(texture, point);
  Texel out{};
  for (int i = 0; i < 4; ++i) {
    const std::array<std::int64_t, 3> at{mixes[0].lower + kCorners[i][0],
                                         mixes[1].lower + kCorners[i][1], 0};
    out[i] = texel_at(texture, at, point.layer)[channel];
  }
  return out;
}

}  // namespace warpgauge::emulator::machine::memory
