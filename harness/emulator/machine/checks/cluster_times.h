// When the blocks of a cluster have learnt of each other and used each other's memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/emulator/machine/core/act.h"

namespace warpgauge::emulator::machine::checks {

/// Blocks are named by their ranks. Of the threads of two blocks it is known whether their blocks
/// have met since, and no more.
class ClusterTimes {
 public:
  static constexpr std::uint32_t kMostBlocks = 16;

  /// Another cluster, of so many blocks.
  void begin(std::uint32_t blocks) {
    for (std::uint32_t rank = 0; rank < blocks; ++rank) blocks_[rank] = {};
    waited_ = 0;
    count_ = blocks;
  }
  /// Which block of the grid it is.
  void note_block(std::uint32_t rank, std::uint64_t number) { blocks_[rank].number = number; }
  /// Whether the block of the grid is one of them.
  bool has(std::uint64_t number) const {
    for (std::uint32_t rank = 0; rank < count_; ++rank) {
      if (blocks_[rank].number == number) return true;
    }
    return false;
  }
  /// The time of something that a block does now.
  std::uint64_t next() { return ++now_; }
  /// The block has met others, or learnt of them.
  void note_met(std::uint32_t rank) { blocks_[rank].met = ++now_; }
  bool has_met_since(std::uint32_t rank, std::uint64_t time) const {
    return blocks_[rank].met > time;
  }
  /// A thread of block `user` uses the memory of block `owner` at once, not by a copy: that must
  /// not have ended, now or later.
  void note_use(std::uint32_t owner, std::uint32_t user, const Act& act) {
    blocks_[owner].uses[user] = {++now_, act};
  }
  /// A thread of the block has waited for the launches that this one depends on.
  void note_waited(std::uint32_t rank) { waited_ |= 1U << rank; }
  bool has_other_waited(std::uint32_t rank) const { return (waited_ & ~(1U << rank)) != 0; }
  /// The last uses of the memory of this block, by each other one, since the block met others.
  std::vector<Act> unordered_uses(std::uint32_t owner) const {
    std::vector<Act> acts;
    for (const Use& use : blocks_[owner].uses) {
      if (use.time > blocks_[owner].met) acts.push_back(use.act);
    }
    return acts;
  }

 private:
  struct Use {
    std::uint64_t time = 0;
    Act act;
  };
  struct Block {
    std::uint64_t number = 0;
    std::uint64_t met = 0;
    std::array<Use, kMostBlocks> uses{};  ///< by rank of the user
  };
  std::array<Block, kMostBlocks> blocks_{};
  std::uint64_t now_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t waited_ = 0;  ///< a bit for each rank
};

}  // namespace warpgauge::emulator::machine::checks
