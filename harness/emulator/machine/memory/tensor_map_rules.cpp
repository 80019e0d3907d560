// The rules that a tensor map keeps: those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
#include <cstdio>

#include "harness/emulator/machine/memory/tensor_map.h"

namespace warpgauge::emulator::machine::memory {
namespace {

using Broken = std::optional<std::string>;
using Interleave = TensorMap::Interleave;

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 32;
constexpr std::uint64_t kStrideEnd = std::uint64_t{1} << 40;
constexpr std::uint32_t kMostBoxElements = 256;
constexpr std::uint32_t kMostPixels = 1024;
constexpr std::uint32_t kMostStep = 8;
constexpr int kAtomsFrom = 100;  // the first architecture with other atoms than 16 bytes
constexpr int kPackedFrom = 100;

std::string of(const std::string& what, int dimension) {
  return what + " of dimension " + std::to_string(dimension);
}

std::string is(const std::string& what, std::uint64_t value) {
  return what + " is " + std::to_string(value);
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// The alignment of addresses and strides.
std::uint64_t alignment_of(const TensorMap& map) {
  return map.interleave == Interleave::slices_32 ? 32 : 16;
}

Broken broken_form(const TensorMap& map, int architecture) {
  if (map.type > TensorMap::Type::u6x16_p32) {
    return is("the data type", static_cast<unsigned>(map.type)) + ", which is none";
  }
  if (map.type > TensorMap::Type::u4x16) {
    return "packed types of 4 and 6 bits with gaps are not emulated";
  }
  if (map.type == TensorMap::Type::u4x16) {
    if (architecture < kPackedFrom) return "packed types need compute capability 10.0";
    if (map.mode != TensorMap::Mode::tiled || map.interleave != Interleave::none) {
      return "packed types with im2col or interleaved layouts are not emulated";
    }
  }
  if (map.interleave > Interleave::slices_32) {
    return is("the interleaved layout", static_cast<unsigned>(map.interleave)) + ", which is none";
  }
  if (map.swizzle > Swizzle::span_128_atom_64) {
    return is("the swizzling", static_cast<unsigned>(map.swizzle)) + ", which is none";
  }
  if (map.swizzle > Swizzle::span_128 && architecture < kAtomsFrom) {
    return "swizzling with atoms of 32 or 64 bytes needs compute capability 10.0";
  }
  if (map.l2_promotion > 3) return is("the L2 promotion", map.l2_promotion) + ", which is none";
  if (map.fill > TensorMap::Fill::nan) {
    return is("the fill", static_cast<unsigned>(map.fill)) + ", which is none";
  }
  if (map.fill == TensorMap::Fill::nan && !is_floating(map.type)) {
    return "only elements of a floating-point type are filled with NaN";
  }
  const bool deep = map.interleave != Interleave::none || map.mode == TensorMap::Mode::im2col;
  const int least = deep ? 3 : 1;
  if (map.rank < least || map.rank > TensorMap::kMostDimensions) {
    return "the rank is " + std::to_string(map.rank) + "; it has to be " + std::to_string(least) +
           " to 5" + (deep ? " for im2col and interleaved layouts" : "");
  }
  if (map.interleave == Interleave::slices_32 && map.swizzle != Swizzle::span_32) {
    return "the interleaved layout of 32 bytes needs swizzling of 32 bytes";
  }
  return std::nullopt;
}

Broken broken_tensor(const TensorMap& map) {
  const std::uint64_t alignment = alignment_of(map);
  const std::string multiple = " is not a multiple of " + std::to_string(alignment);
  if (map.address % alignment != 0) {
    return "the address of the tensor (" + hex(map.address) + ")" + multiple;
  }
  for (int i = 0; i < map.rank; ++i) {
    if (map.size[i] == 0 || map.size[i] > kMostElements) {
      return is(of("the size", i), map.size[i]) + "; it has to be 1 to 2^32";
    }
  }
  if (map.type == TensorMap::Type::u4x16 && map.size[0] % 2 != 0) {
    return is(of("the size", 0), map.size[0]) + "; it has to be even for a packed type";
  }
  for (int i = 1; i < map.rank; ++i) {
    const std::uint64_t stride = map.stride[i - 1];
    const std::string name = of("the stride", i) + " (" + std::to_string(stride) + " bytes)";
    if (stride % alignment != 0) return name + multiple;
    if (stride >= kStrideEnd) return name + " is not less than 2^40";
  }
  return std::nullopt;
}

/// `elements` is what is copied along dimension 0.
Broken broken_row(const TensorMap& map, const std::string& name, std::uint32_t elements) {
  const std::uint32_t bits = elements * element_bits(map.type), bytes = bits / 8;
  if (bits % 128 != 0) {
    return name + " (" + std::to_string(bytes) + " bytes) is not a multiple of 16 bytes";
  }
  if (map.interleave != Interleave::none) return std::nullopt;
  const std::uint32_t span = swizzle_span(map.swizzle);
  if (span != 0 && bytes > span) {
    return name + " (" + std::to_string(bytes) + " bytes) is longer than the " +
           std::to_string(span) + " bytes of the swizzling";
  }
  return std::nullopt;
}

Broken broken_steps(const TensorMap& map) {
  for (int i = 0; i < map.rank; ++i) {
    if (map.step[i] == 0 || map.step[i] > kMostStep) {
      return is(of("the element stride", i), map.step[i]) + "; it has to be 1 to 8";
    }
  }
  return std::nullopt;
}

Broken broken_box(const TensorMap& map) {
  for (int i = 0; i < map.rank; ++i) {
    if (map.box[i] == 0 || map.box[i] > kMostBoxElements) {
      return is(of("the box", i), map.box[i]) + "; it has to be 1 to 256";
    }
  }
  return broken_row(map, "a row of the box", map.box[0]);
}

/// Corners have 16, 8 or 5 bits for 1, 2 or 3 spatial dimensions.
Broken broken_corners(const TensorMap& map) {
  constexpr int kEnd[] = {32768, 128, 16};
  const int end = kEnd[map.spatial_dimensions() - 1];
  for (int i = 0; i < map.spatial_dimensions(); ++i) {
    for (const int corner : {map.lower[i], map.upper[i]}) {
      if (corner < -end || corner >= end) {
        return "a corner of the pixel box is " + std::to_string(corner) + "; it has to be " +
               std::to_string(-end) + " to " + std::to_string(end - 1);
      }
    }
    const int dimension = map.first_spatial() + i;
    const auto last = static_cast<std::int64_t>(map.size[dimension]) - 1 + map.upper[i];
    if (last < map.lower[i]) return of("the pixel box", dimension) + " is empty";
  }
  return std::nullopt;
}

Broken broken_im2col(const TensorMap& map) {
  if (map.channels == 0 || map.channels > kMostBoxElements) {
    return is("the number of channels per pixel", map.channels) + "; it has to be 1 to 256";
  }
  if (map.pixels == 0 || map.pixels > kMostPixels) {
    return is("the number of pixels per column", map.pixels) + "; it has to be 1 to 1024";
  }
  if (Broken broken = broken_corners(map)) return broken;
  return broken_row(map, "a pixel", map.channels);
}

}  // namespace

std::optional<std::string> broken_rule(const TensorMap& map, int architecture) {
  if (Broken broken = broken_form(map, architecture)) return broken;
  if (Broken broken = broken_tensor(map)) return broken;
  if (Broken broken = broken_steps(map)) return broken;
  return map.mode == TensorMap::Mode::im2col ? broken_im2col(map) : broken_box(map);
}

}  // namespace warpgauge::emulator::machine::memory
