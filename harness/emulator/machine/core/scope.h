// Scopes of fences and strong accesses.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine {

/// The threads that learn of what is before a fence or a strong access: those of the grid (.gpu,
/// .sys), of the cluster, or of the block (.cta).
enum class Scope : std::uint8_t { grid, cluster, block };

}  // namespace warpgauge::emulator::machine
