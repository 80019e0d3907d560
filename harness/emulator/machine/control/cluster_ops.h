// Instructions about clusters: barrier.cluster, mapa, getctarank.
#pragma once

#include <cstdint>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::control {

/// Instruction::flags of arrive_at_cluster: the arrival makes nothing known.
inline constexpr std::uint16_t kRelaxed = 1;
void arrive_at_cluster(Warp& warp, const Instruction& instruction);
void wait_for_cluster(Warp& warp, const Instruction& instruction);

/// Instruction::flags of mapa and getctarank: addresses have 32 bits, and they are generic.
inline constexpr std::uint16_t kShortAddresses = 1;
inline constexpr std::uint16_t kGenericAddresses = 2;
/// The address of source 0 in the block whose rank is source 1.
void map_to_block(Warp& warp, const Instruction& instruction);
/// The rank of the block whose shared memory the address of source 0 is in.
void rank_of_block(Warp& warp, const Instruction& instruction);

}  // namespace warpgauge::emulator::machine::control
