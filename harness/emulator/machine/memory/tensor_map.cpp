// The bytes of a tensor map, and the fields that kernels replace in them.
#include "harness/emulator/machine/memory/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

namespace warpgauge::emulator::machine::memory {
namespace {

constexpr std::uint32_t kMagic = 0x4d545747;  // "GWTM"
constexpr std::uint8_t kVersion = 1;

/// The map as it lies in memory.
struct Packed {
  std::uint32_t magic;
  std::uint8_t version;
  std::uint8_t mode, type, rank;
  std::uint8_t interleave, swizzle, l2_promotion, fill;
  std::uint16_t channels, pixels;
  std::uint64_t address;
  std::uint64_t stride[4];
  std::uint32_t size_less_one[5];
  std::uint32_t box[5];
  std::uint16_t step[5];
  std::int16_t lower[3], upper[3];
};
static_assert(sizeof(Packed) <= kTensorMapBytes);

template <typename To, typename From>
void copy_all(To& to, const From& from) {
  for (std::size_t i = 0; i < std::size(from); ++i) {
    to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>(from[i]);
  }
}

[[noreturn]] void refuse(const char* field, std::uint64_t value) {
  throw BadTensorMap("tensormap.replace gives " + std::string(field) + " the value " +
                     std::to_string(value) + ", which has no meaning");
}

/// `value` as an enumerator of `Enum`, whose last one is `last`.
template <typename Enum>
Enum enumerator(const char* field, std::uint64_t value, Enum last) {
  if (value > static_cast<std::uint64_t>(last)) refuse(field, value);
  return static_cast<Enum>(value);
}

std::size_t dimension_of(const char* field, int ordinal, int count) {
  if (ordinal < 0 || ordinal >= count) {
    throw BadTensorMap("tensormap.replace names dimension " + std::to_string(ordinal) + " of " +
                       field + ", which has " + std::to_string(count));
  }
  return static_cast<std::size_t>(ordinal);
}

/// elemtype, whose numbers are not those of CUtensorMapDataType (PTX ISA, tensormap.replace).
TensorMap::Type type_of(std::uint64_t value) {
  using enum TensorMap::Type;
  constexpr TensorMap::Type kTypes[] = {u8,       u16,   u32,       s32,      u64,  s64,
                                        f16,      f32,   f32_ftz,   f64,      bf16, tf32,
                                        tf32_ftz, u4x16, u4x16_p64, u6x16_p32};
  if (value >= std::size(kTypes)) refuse("elemtype", value);
  return kTypes[value];
}

Swizzle with_atom(Swizzle swizzle, std::uint64_t value) {
  constexpr Swizzle kOfAtoms[] = {Swizzle::span_128, Swizzle::span_128_atom_32,
                                  Swizzle::span_128_atom_32_flip_8, Swizzle::span_128_atom_64};
  if (value >= std::size(kOfAtoms)) refuse("swizzle_atomicity", value);
  if (value == 0 && swizzle < Swizzle::span_128) return swizzle;
  if (swizzle < Swizzle::span_128) {
    throw BadTensorMap("only swizzling of 128 bytes has other atoms than 16 bytes");
  }
  return kOfAtoms[value];
}

}  // namespace

std::uint32_t element_bytes(TensorMap::Type type) {
  switch (type) {
    case TensorMap::Type::u8:
      return 1;
    case TensorMap::Type::u16:
    case TensorMap::Type::f16:
    case TensorMap::Type::bf16:
      return 2;
    case TensorMap::Type::u32:
    case TensorMap::Type::s32:
    case TensorMap::Type::f32:
    case TensorMap::Type::f32_ftz:
    case TensorMap::Type::tf32:
    case TensorMap::Type::tf32_ftz:
      return 4;
    case TensorMap::Type::u64:
    case TensorMap::Type::s64:
    case TensorMap::Type::f64:
      return 8;
    case TensorMap::Type::u4x16:
    case TensorMap::Type::u4x16_p64:
    case TensorMap::Type::u6x16_p32:
      break;
  }
  return 0;
}

std::uint32_t element_bits(TensorMap::Type type) {
  return type == TensorMap::Type::u4x16 ? 4 : 8 * element_bytes(type);
}

bool is_floating(TensorMap::Type type) {
  return type >= TensorMap::Type::f16 && type <= TensorMap::Type::tf32_ftz;
}

std::uint32_t TensorMap::unit_bytes() const {
  if (interleave == Interleave::none) return element_bytes(type);
  return interleave == Interleave::slices_16 ? 16 : 32;
}

void write_tensor_map(const TensorMap& map, std::byte* to) {
  Packed packed{};
  packed.magic = kMagic;
  packed.version = kVersion;
  packed.mode = static_cast<std::uint8_t>(map.mode);
  packed.type = static_cast<std::uint8_t>(map.type);
  packed.rank = static_cast<std::uint8_t>(map.rank);
  packed.interleave = static_cast<std::uint8_t>(map.interleave);
  packed.swizzle = static_cast<std::uint8_t>(map.swizzle);
  packed.l2_promotion = map.l2_promotion;
  packed.fill = static_cast<std::uint8_t>(map.fill);
  packed.channels = static_cast<std::uint16_t>(map.channels);
  packed.pixels = static_cast<std::uint16_t>(map.pixels);
  packed.address = map.address;
  copy_all(packed.stride, map.stride);
  for (std::size_t i = 0; i < map.size.size(); ++i) {
    packed.size_less_one[i] = static_cast<std::uint32_t>(map.size[i] - 1);
  }
  copy_all(packed.box, map.box);
  copy_all(packed.step, map.step);
  copy_all(packed.lower, map.lower);
  copy_all(packed.upper, map.upper);
  std::memset(to, 0, kTensorMapBytes);
  std::memcpy(to, &packed, sizeof packed);
}

TensorMap read_tensor_map(const std::byte* from) {
  Packed packed;
  std::memcpy(&packed, from, sizeof packed);
  if (packed.magic != kMagic || packed.version != kVersion) {
    throw BadTensorMap("no tensor map is there: cuTensorMapEncode* did not write these 128 bytes");
  }
  TensorMap map;
  map.mode = static_cast<TensorMap::Mode>(packed.mode);
  map.type = static_cast<TensorMap::Type>(packed.type);
  map.rank = packed.rank;
  map.interleave = static_cast<TensorMap::Interleave>(packed.interleave);
  map.swizzle = static_cast<Swizzle>(packed.swizzle);
  map.l2_promotion = packed.l2_promotion;
  map.fill = static_cast<TensorMap::Fill>(packed.fill);
  map.channels = packed.channels;
  map.pixels = packed.pixels;
  map.address = packed.address;
  copy_all(map.stride, packed.stride);
  for (std::size_t i = 0; i < map.size.size(); ++i) {
    map.size[i] = std::uint64_t{packed.size_less_one[i]} + 1;
  }
  copy_all(map.box, packed.box);
  copy_all(map.step, packed.step);
  copy_all(map.lower, packed.lower);
  copy_all(map.upper, packed.upper);
  return map;
}

TensorMap read_map_to_change(const std::byte* from) {
  const bool is_new =
      std::all_of(from, from + kTensorMapBytes, [](std::byte byte) { return byte == std::byte{}; });
  return is_new ? TensorMap{} : read_tensor_map(from);
}

void replace_field(TensorMap& map, TensorMapField field, int ordinal, std::uint64_t value) {
  constexpr int kDimensions = TensorMap::kMostDimensions;
  const auto word = static_cast<std::uint32_t>(value);
  switch (field) {
    case TensorMapField::global_address:
      map.address = value;
      return;
    case TensorMapField::rank:
      if (value >= kDimensions) refuse("rank", value);
      map.rank = static_cast<int>(value) + 1;
      return;
    case TensorMapField::box_dim:
      map.box[dimension_of("box_dim", ordinal, kDimensions)] = word;
      return;
    case TensorMapField::global_dim:
      // 2^32 does not fit in 32 bits and is 0.
      map.size[dimension_of("global_dim", ordinal, kDimensions)] =
          word == 0 ? std::uint64_t{1} << 32 : word;
      return;
    case TensorMapField::global_stride:
      map.stride[dimension_of("global_stride", ordinal, kDimensions - 1)] = value;
      return;
    case TensorMapField::element_stride:
      if (word > std::numeric_limits<std::uint16_t>::max()) refuse("element_stride", word);
      map.step[dimension_of("element_stride", ordinal, kDimensions)] = word;
      return;
    case TensorMapField::elemtype:
      map.type = type_of(value);
      return;
    case TensorMapField::interleave_layout:
      map.interleave = enumerator("interleave_layout", value, TensorMap::Interleave::slices_32);
      return;
    case TensorMapField::swizzle_mode:
      if (value == 4) throw BadTensorMap("swizzling of 96 bytes is not emulated");
      map.swizzle = enumerator("swizzle_mode", value, Swizzle::span_128);
      return;
    case TensorMapField::swizzle_atomicity:
      map.swizzle = with_atom(map.swizzle, value);
      return;
    case TensorMapField::fill_mode:
      map.fill = enumerator("fill_mode", value, TensorMap::Fill::nan);
      return;
  }
}

}  // namespace warpgauge::emulator::machine::memory
