// The order in which the basic blocks of a function are laid out for the scheduler, which lets
// lanes that lie further back go first: lanes that have parted meet where their ways join if every
// block comes behind all blocks that lead to it, and loops are in one piece.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

/// Blocks are numbered from 0, where the function begins; the last one is empty: the end of the
/// body.
struct BlockGraph {
  std::vector<std::size_t> begin;  ///< positions in the body, ascending
  std::vector<std::vector<int>>
      successors;                   ///< by block; of those that fall through the next is last
  std::vector<bool> falls_through;  ///< into the next block
};

/// Unknown labels lead nowhere.
BlockGraph block_graph(const ptx::Function& function);

/// All blocks, 0 first: blocks come behind those that lead to them except for the branches back of
/// loops, whose blocks follow each other, the one by which the loop is entered first. As far as
/// that leaves a choice, in the order of their numbers; blocks that nothing leads to come last.
std::vector<int> block_order(const std::vector<std::vector<int>>& successors);

}  // namespace warpgauge::emulator::machine::decode
