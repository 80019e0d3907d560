// Tensor maps: what a CUtensorMap says of a tensor in global memory and of the box that a tensor
// copy moves. The runtime writes them, kernels change them (tensormap.replace) and copy with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/emulator/machine/memory/swizzle.h"

namespace warpgauge::emulator::machine::memory {

constexpr std::size_t kTensorMapBytes = 128;
constexpr std::size_t kTensorMapAlignment = 64;

/// The terms are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col; dimension 0 is the
/// innermost. Elements past the rank mean nothing.
struct TensorMap {
  static constexpr int kMostDimensions = 5;

  enum class Mode : std::uint8_t { tiled, im2col };
  /// Numbers as those of CUtensorMapDataType.
  enum class Type : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f64,
    bf16,
    f32_ftz,
    tf32,
    tf32_ftz,
    u4x16,      ///< packed: of GPUs from compute capability 10.0, as are the others
    u4x16_p64,  ///< with gaps in shared memory: not emulated
    u6x16_p32,
  };
  /// Numbers as those of CUtensorMapInterleave. The elements of dimension 0 are slices of channels,
  /// of 16 or 32 bytes.
  enum class Interleave : std::uint8_t { none, slices_16, slices_32 };
  /// The values that are read beside the tensor; numbers as those of CUtensorMapFloatOOBfill.
  enum class Fill : std::uint8_t { zero, nan };

  Mode mode = Mode::tiled;
  Type type = Type::u8;
  int rank = 1;
  std::uint64_t address = 0;                                       ///< in global memory
  std::array<std::uint64_t, kMostDimensions> size{1, 1, 1, 1, 1};  ///< elements, to 2^32
  std::array<std::uint64_t, kMostDimensions - 1> stride{};         ///< bytes, of dimensions 1 to 4
  std::array<std::uint32_t, kMostDimensions> box{1, 1, 1, 1, 1};   ///< if tiled: elements
  std::array<std::uint32_t, kMostDimensions> step{1, 1, 1, 1, 1};  ///< traversal stride: elements
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  std::uint8_t l2_promotion = 0;  ///< number as that of CUtensorMapL2promotion; changes nothing
  Fill fill = Fill::zero;
  /// For im2col, in the order W, H, D: the corners of the box that the filter's base walks through,
  /// as offsets from the first and from the last pixel.
  std::array<int, 3> lower{}, upper{};
  std::uint32_t channels = 0;  ///< if im2col: elements of each pixel
  std::uint32_t pixels = 0;    ///< if im2col: pixels of a copy

  /// Bytes of an element of memory: of the type, or of a slice of channels.
  std::uint32_t unit_bytes() const;
  /// For im2col: the dimension of W; H and D follow it.
  int first_spatial() const { return interleave == Interleave::none ? 1 : 0; }
  int spatial_dimensions() const { return rank - 2; }

  bool operator==(const TensorMap&) const = default;
};

/// Bytes of an element of that type; 0 of a packed type.
std::uint32_t element_bytes(TensorMap::Type type);
/// The same in bits: 4 of u4x16; 0 of a packed type with gaps.
std::uint32_t element_bits(TensorMap::Type type);
bool is_floating(TensorMap::Type type);

/// The first rule of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col that the map breaks, as a
/// sentence: "the address of the tensor (0x1008) is not a multiple of 16". Nothing: it keeps them
/// all. `architecture` is ten times the compute capability: 90.
///
/// On an H200 the driver (580) refuses the same, but takes interleaved layouts of 32 bytes with
/// swizzling of 128 bytes. Like it, this takes strides of 0 or shorter than a row, and a null
/// address.
std::optional<std::string> broken_rule(const TensorMap& map, int architecture);

/// Thrown where 128 bytes are no tensor map; what() is a sentence.
struct BadTensorMap : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes the 128 bytes of a CUtensorMap. The layout is the emulator's own.
void write_tensor_map(const TensorMap& map, std::byte* to);

/// Reads what write_tensor_map wrote. Throws BadTensorMap if it did not write these bytes. The
/// rules are the caller's to check: tensormap.replace breaks them for a while.
TensorMap read_tensor_map(const std::byte* from);

/// The map that tensormap.replace changes: what read_tensor_map reads, or, of 128 zeros, which a
/// kernel begins a map of its own with, one of one element that is not swizzled.
TensorMap read_map_to_change(const std::byte* from);

/// A field that tensormap.replace changes.
enum class TensorMapField : std::uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode,
};

/// Does tensormap.replace: `ordinal` is the dimension, of the fields that have several; of
/// global_stride 0 is the stride of dimension 1. `value` as PTX has it: rank is one less than the
/// rank, global_stride is in bytes, and elemtype has numbers of its own. Throws BadTensorMap where
/// the value means nothing. What fields mean together is checked when the map is used.
void replace_field(TensorMap& map, TensorMapField field, int ordinal, std::uint64_t value);

}  // namespace warpgauge::emulator::machine::memory
