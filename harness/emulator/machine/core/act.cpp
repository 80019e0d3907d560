// Texts of threads, blocks and the places of instructions.
#include "harness/emulator/machine/core/act.h"

#include <bit>

#include "harness/emulator/machine/core/code.h"

namespace warpgauge::emulator::machine {

std::string place_of(const Act& act) { return source_place(*act.code, act.instruction); }

std::string lanes_text(Mask lanes) {
  if (lanes == kAllLanes) return "all lanes";
  std::string text;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    int last = lane;
    while (last + 1 < kLanes && (lanes >> (last + 1) & 1) != 0) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(lane);
    if (last > lane) text += "-" + std::to_string(last);
    lane = last;
  }
  return (std::popcount(lanes) == 1 ? "lane " : "lanes ") + text;
}

std::string index_text(const std::array<std::uint32_t, 3>& index) {
  return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
         std::to_string(index[2]) + ")";
}

std::string thread_text(const Launch& launch, std::uint32_t thread) {
  return "thread " + index_text(index_in(launch.block, thread));
}

std::string thread_and_lane_text(const Launch& launch, std::uint32_t thread) {
  return thread_text(launch, thread) + " (warp " + std::to_string(thread / kLanes) + ", lane " +
         std::to_string(thread % kLanes) + ")";
}

std::string block_text(const Launch& launch, std::uint64_t block) {
  return "block " + index_text(index_in(launch.grid, block));
}

}  // namespace warpgauge::emulator::machine
