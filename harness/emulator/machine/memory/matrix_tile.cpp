// Matrix descriptors, and the faults of what they tell of.
#include "harness/emulator/machine/memory/matrix_tile.h"

#include <string>

#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::memory {
namespace {

/// Bits that the format leaves out (PTX ISA, "Matrix descriptor format").
constexpr std::uint64_t kReserved = 0xc000c000ull | 0x1c000ull << 32 | 0x3ff0ull << 48;

const char* name_of(MatrixOperand operand) { return operand == MatrixOperand::a ? "A" : "B"; }

std::uint32_t bytes_at(std::uint64_t descriptor, int bit) {
  return static_cast<std::uint32_t>(descriptor >> bit & 0x3fff) << 4;
}

}  // namespace

MatrixTile tile_of(const Warp& warp, const Instruction& instruction, MatrixOperand operand,
                   std::uint64_t descriptor, bool is_mn_major) {
  const auto refuse = [&](const std::string& why) {
    const std::string what = std::string("wgmma: the matrix descriptor of ") + name_of(operand) +
                             ", " + hexadecimal(descriptor) + ", " + why;
    fault(warp, instruction, warp.active, Fault::Kind::illegal_instruction, what.c_str());
  };
  if ((descriptor & kReserved) != 0) {
    refuse("has bits that must be 0: bits " + hexadecimal(descriptor & kReserved));
  }
  const std::uint32_t leading = bytes_at(descriptor, 16), stride = bytes_at(descriptor, 32);
  const auto mode = static_cast<unsigned>(descriptor >> 62);
  MatrixTile tile;
  tile.is_mn_major = is_mn_major;
  tile.begin = bytes_at(descriptor, 0);
  tile.base = static_cast<std::uint32_t>(descriptor >> 49 & 7);
  tile.row_bytes = mode == 0 ? 16 : 256u >> mode;
  tile.swizzle = tile.row_bytes / 16 - 1;
  if (mode == 0 && tile.base != 0) refuse("has a base offset without swizzling");
  const std::uint32_t shift = mode == 0 ? 0 : 4 - mode;  // a row is as long as so many
  if (!is_mn_major) {
    tile.k_shift = shift;
    tile.k_bytes = leading;
    tile.mn_bytes = stride;
  } else {
    tile.mn_shift = shift;
    tile.mn_bytes = mode == 0 ? stride : leading;
    tile.k_bytes = mode == 0 ? leading : stride;
  }
  return tile;
}

void refuse_tile(const Warp& warp, const Instruction& instruction, MatrixOperand operand,
                 const MatrixTile& tile, std::uint32_t mn, std::uint32_t k) {
  const std::uint32_t bytes = warp.memory->shared_bytes;
  std::uint32_t row = 0;
  while (row < 7 && tile.address(mn, k, row) + 16 <= bytes) ++row;
  const std::string where = tile.is_mn_major ? (operand == MatrixOperand::a ? "column " : "row ")
                                             : (operand == MatrixOperand::a ? "row " : "column ");
  const std::string what =
      std::string("invalid shared read of 16 bytes at ") + hexadecimal(tile.address(mn, k, row)) +
      " by wgmma, of " + where + std::to_string(8 * (tile.is_mn_major ? k : mn) + row) + " of " +
      name_of(operand) + ": the block has " + std::to_string(bytes) + " bytes of shared memory";
  fault(warp, instruction, warp.active, Fault::Kind::illegal_address, what.c_str());
}

}  // namespace warpgauge::emulator::machine::memory
