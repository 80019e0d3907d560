// A matrix in shared memory that a matrix descriptor of wgmma tells of.
//
// It consists of core matrices: 8 rows of 16 bytes, a row every 16 bytes, or every 32, 64 or 128
// where it is swizzled. Along the rows lie neighbours along k, or along m or n if the matrix is
// M- or N-major (PTX ISA, "Shared memory matrix layout", "Strides"; CUTLASS, make_gmma_desc). How
// a base offset moves the pattern, and where the second half of the k of a sparse product lies with
// 32 bytes of swizzling, was seen on an H200: 780 layouts read the same places as there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::memory {

struct MatrixTile {
  std::uint32_t begin = 0;      ///< address of the first row
  std::uint32_t row_bytes = 0;  ///< from one row of a core matrix to the next
  /// Core matrices along m or n, and along k: 2^shift lie side by side, 16 bytes apart; groups of
  /// them are so many bytes apart.
  std::uint32_t mn_shift = 0, mn_bytes = 0;
  std::uint32_t k_shift = 0, k_bytes = 0;
  std::uint32_t swizzle = 0;  ///< bits 7 to 9 of an address that change its bits 4 to 6
  std::uint32_t base = 0;     ///< bits 7 to 9 of the address where the pattern of swizzling begins
  bool is_mn_major = false;

  /// Row `row` of core matrix `mn` along m or n and `k` along k.
  [[gnu::always_inline]] std::uint32_t address(std::uint32_t mn, std::uint32_t k,
                                               std::uint32_t row) const {
    const std::uint32_t mn_group = mn >> mn_shift, k_group = k >> k_shift;
    const std::uint32_t plain = begin + (mn - (mn_group << mn_shift)) * 16 + mn_group * mn_bytes +
                                (k - (k_group << k_shift)) * 16 + k_group * k_bytes +
                                row * row_bytes;
    return plain ^ ((((plain >> 7) - base) & swizzle) << 4);
  }
};

/// The operand of a product, for messages.
enum class MatrixOperand : std::uint8_t { a, b };

/// Throws the fault of a descriptor that cannot be. Its bits that mean nothing must be 0.
MatrixTile tile_of(const Warp& warp, const Instruction& instruction, MatrixOperand operand,
                   std::uint64_t descriptor, bool is_mn_major);

/// Finds the rows of a core matrix; false if one is not in the block's shared memory.
[[gnu::always_inline]] inline bool find_rows(const MatrixTile& tile, std::uint32_t mn,
                                             std::uint32_t k, const std::byte* shared,
                                             std::uint32_t shared_bytes, const std::byte** rows) {
  std::uint32_t last = 0;
  for (std::uint32_t row = 0; row < 8; ++row) {
    const std::uint32_t address = tile.address(mn, k, row);
    rows[row] = shared + address;
    last = address > last ? address : last;
  }
  return last + 16 <= shared_bytes;
}
/// The fault of the first row of a core matrix that is not in the block's shared memory.
[[noreturn]] void refuse_tile(const Warp& warp, const Instruction& instruction,
                              MatrixOperand operand, const MatrixTile& tile, std::uint32_t mn,
                              std::uint32_t k);

}  // namespace warpgauge::emulator::machine::memory
