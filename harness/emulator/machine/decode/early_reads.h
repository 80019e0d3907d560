// Instructions that may read accumulators of wgmma before these are done.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "harness/emulator/machine/decode/code_layout.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

/// By the position of such an instruction in the body: the positions of the products whose sums it
/// may read on a way that has no wgmma.wait_group of 0. Whether it does is known when it is
/// executed. Moves from register to register pass sums on: compilers make them between products,
/// and no machine code has them.
using EarlyReads = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;

/// The early reads of a function: the first of several in a basic block that read the same product.
EarlyReads early_reads(const ptx::Function& function, const BlockGraph& graph);

}  // namespace warpgauge::emulator::machine::decode
