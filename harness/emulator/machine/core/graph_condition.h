// Conditions of graphs, which kernels set.
#pragma once

namespace warpgauge::emulator::machine {

/// Name of the memory of a condition's value, an unsigned. Its address is the condition's handle.
inline constexpr char kConditionName[] = "the condition of a graph";

}  // namespace warpgauge::emulator::machine
