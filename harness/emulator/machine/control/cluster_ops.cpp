// Instructions about clusters.
#include "harness/emulator/machine/control/cluster_ops.h"

#include <string>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/cluster_memory.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {
namespace {

memory::SharedPlace place_at(const Warp& warp, const Instruction& instruction, int lane) {
  if ((instruction.flags & kShortAddresses) != 0) {
    return memory::place_of(*warp.memory, source<std::uint32_t>(warp, instruction, 0)[lane]);
  }
  const std::uint64_t address = source<std::uint64_t>(warp, instruction, 0)[lane];
  const memory::SharedPlace place = memory::place_of_wide(*warp.memory, address);
  if (place.rank == memory::ClusterMemory::kMostBlocks) {
    memory::refuse(warp, instruction, lane, Fault::Kind::illegal_address,
                   "the address is not in shared memory");
  }
  return place;
}

}  // namespace

void arrive_at_cluster(Warp& warp, const Instruction& instruction) {
  const bool waits = (&instruction)[1].execute == wait_for_cluster;
  warp.engine->block->cluster.arrive(warp, (instruction.flags & kRelaxed) == 0, waits);
}

void wait_for_cluster(Warp& warp, const Instruction& instruction) {
  warp.engine->block->cluster.wait(warp, instruction);
}

void map_to_block(Warp& warp, const Instruction& instruction) {
  const bool is_short = (instruction.flags & kShortAddresses) != 0;
  const std::uint64_t base =
      (instruction.flags & kGenericAddresses) != 0 ? window_base(Window::shared) : std::uint64_t{0};
  for_active_lanes(warp, [&](int lane) {
    const std::uint32_t rank = source<std::uint32_t>(warp, instruction, 1)[lane];
    const std::uint32_t blocks = warp.memory->cluster->blocks;
    if (rank >= blocks) {
      memory::refuse(warp, instruction, lane, Fault::Kind::illegal_instruction,
                     "mapa to block " + std::to_string(rank) + " of a cluster of " +
                         std::to_string(blocks) + " blocks, numbered from 0");
    }
    const std::uint32_t offset = place_at(warp, instruction, lane).offset;
    const std::uint32_t address = memory::cluster_address({rank, offset});
    if (is_short) {
      destination<std::uint32_t>(warp, instruction)[lane] = address;
    } else {
      destination<std::uint64_t>(warp, instruction)[lane] = base + address;
    }
  });
}

void rank_of_block(Warp& warp, const Instruction& instruction) {
  for_active_lanes(warp, [&](int lane) {
    const std::uint32_t rank = place_at(warp, instruction, lane).rank;
    destination<std::uint32_t>(warp, instruction)[lane] = rank;
  });
}

}  // namespace warpgauge::emulator::machine::control
