// Texts of threads, blocks and the places of instructions.
#include "harness/emulator/machine/core/act.h"

#include "harness/emulator/machine/core/code.h"

namespace warpgauge::emulator::machine {

std::string place_of(const Act& act) { return source_place(*act.code, act.instruction); }

std::string index_text(const std::array<std::uint32_t, 3>& index) {
  return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
         std::to_string(index[2]) + ")";
}

std::string thread_text(const Launch& launch, std::uint32_t thread) {
  return "thread " + index_text(index_in(launch.block, thread));
}

std::string block_text(const Launch& launch, std::uint64_t block) {
  return "block " + index_text(index_in(launch.grid, block));
}

}  // namespace warpgauge::emulator::machine
