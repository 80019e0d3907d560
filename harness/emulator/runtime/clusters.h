// The size of the clusters of a launch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "harness/emulator/runtime/state.h"
#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {

/// Blocks of a cluster that every GPU with clusters takes, and that kernels may opt in to.
inline constexpr std::uint32_t kPortableClusterBlocks = 8;
inline constexpr std::uint32_t kMostClusterBlocks = 16;

/// The clusters of a launch, by its attribute or else __cluster_dims__; nothing: none. Throws
/// Failure with cudaErrorInvalidClusterSize if the kernel, the grid or the GPU does not allow that.
std::optional<std::array<std::uint32_t, 3>> cluster_of(State& state, const Function& function,
                                                       const KernelCall& call);

}  // namespace warpgauge::emulator::runtime
