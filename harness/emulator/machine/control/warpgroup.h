// The instructions of four warps as a warpgroup: wgmma and setmaxnreg. A warp executes its part by
// itself. The warps wait for each other in front of a product: a GPU reads a tile once for all
// four, so all that they have done before is there. They also wait at wgmma.wait_group.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/matrix_tile.h"

namespace warpgauge::emulator::machine::control {

/// Throws the fault of a warp that has lost lanes, or whose warpgroup is not whole, at an
/// instruction that all lanes have come to.
void expect_warpgroup(const Warp& warp, const Instruction& instruction);
/// The fault of an operand that cannot be.
[[noreturn]] void refuse_operand(const Warp& warp, const Instruction& instruction,
                                 const char* what);
/// The fault of an operand that must be the same in all lanes.
[[noreturn]] void refuse_different(const Warp& warp, const Instruction& instruction,
                                   const char* what);

/// The part of a tile that a warp multiplies: core matrices from `first` on, `mn` along m or n,
/// which may be none, and `k` along k.
struct TileRead {
  const memory::MatrixTile& tile;
  std::uint32_t first, mn, k;
};
/// Notes a product for the checks, if there is a history.
void note_product(const Warp& warp, const Instruction& instruction, const TileRead& a,
                  const TileRead& b);

/// Detail of check_products(), which stands in front of an instruction that may read their sums.
using Products = std::vector<const Instruction*>;
void check_products(Warp& warp, const Instruction& instruction);

/// Handlers. Source 3 has the member masks of all lanes (see warp_ops.h).
void execute_product_meeting(Warp& warp, const Instruction& instruction);  ///< before a product
void execute_product_fence(Warp& warp, const Instruction& instruction);
void execute_product_commit(Warp& warp, const Instruction& instruction);
void execute_product_wait(Warp& warp, const Instruction& instruction);  ///< offset: groups left
/// setmaxnreg: offset is the number of registers. A lane's registers lie in memory: it is noted for
/// check_end(). PTX asks for all threads of the warpgroup, but kernels that run on GPUs have one
/// lane do it.
void execute_set_registers(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
