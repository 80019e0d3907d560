// Special registers (%tid, %ctaid, ...): vectors of a warp, of which a kernel has those it reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/core/operand_slot.h"
#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::machine {

/// The inputs of the values of special registers.
struct SpecialInputs {
  std::array<std::uint32_t, 3> grid, block, cluster;  ///< sizes
  bool has_clusters = false;                          ///< the launch says how large they are
  std::uint64_t dynamic_shared_bytes = 0, total_shared_bytes = 0;
  std::uint64_t grid_id = 0;
  std::uint32_t multiprocessors = 1;
  std::uint64_t grid_workspace = 0;  ///< address of what barriers of the grid need; 0: no such
  std::array<std::uint32_t, 3> block_index{};  ///< in the grid
  std::uint32_t block_number = 0;              ///< linear
  std::uint32_t warp = 0;                      ///< number in the block
};

/// One special register.
struct Special {
  std::string_view name;  ///< "%tid.x"
  ptx::Type type;
  bool of_block;  ///< changes from block to block; else only from warp to warp
  void (*write)(const SpecialInputs& inputs, std::byte* to);  ///< the vector of a warp
};

/// nullptr if there is none of that name, or if it has another value each time it is read
/// (%clock and its like, which instructions of their own read).
const Special* find_special(std::string_view name);

/// The special registers that a kernel reads, and where they lie.
class SpecialLayout {
 public:
  OperandSlot add(const Special& special);
  std::uint32_t bytes() const { return bytes_; }
  /// Writes those that are the same in all blocks of a launch.
  void fill_warp(std::byte* specials, const SpecialInputs& inputs) const;
  /// Writes the others.
  void fill_block(std::byte* specials, const SpecialInputs& inputs) const;

 private:
  struct Entry {
    const Special* special;
    std::uint32_t offset;
  };
  std::vector<Entry> of_warp_, of_block_;
  std::uint32_t bytes_ = 0;
};

}  // namespace warpgauge::emulator::machine
