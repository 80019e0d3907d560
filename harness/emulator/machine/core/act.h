// An instruction that a thread executes or has executed, as numbers, and texts for them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/core/launch.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine {

struct Code;

struct Act {
  const Code* code = nullptr;  ///< nullptr: none
  std::uint32_t instruction = 0;
  std::uint32_t thread = 0;  ///< in its block
  std::uint64_t block = 0;
};

inline Act act_of(const Warp& warp, const Instruction& instruction, int lane) {
  return {warp.code, instruction.index, warp.number * kLanes + static_cast<std::uint32_t>(lane),
          warp.block};
}

/// "f.cu:12"
std::string place_of(const Act& act);

/// The index in three dimensions that has this linear number.
constexpr std::array<std::uint32_t, 3> index_in(const std::array<std::uint32_t, 3>& size,
                                                std::uint64_t number) {
  return {static_cast<std::uint32_t>(number % size[0]),
          static_cast<std::uint32_t>(number / size[0] % size[1]),
          static_cast<std::uint32_t>(number / size[0] / size[1])};
}

/// "all lanes", "lane 3", "lanes 0-7, 9"
std::string lanes_text(Mask lanes);
/// "(x,y,z)"
std::string index_text(const std::array<std::uint32_t, 3>& index);
/// "thread (x,y,z)"
std::string thread_text(const Launch& launch, std::uint32_t thread);
/// "thread (x,y,z) (warp 2, lane 3)"
std::string thread_and_lane_text(const Launch& launch, std::uint32_t thread);
/// "block (x,y,z)"
std::string block_text(const Launch& launch, std::uint64_t block);

}  // namespace warpgauge::emulator::machine
