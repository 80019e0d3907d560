// The stack of kernels whose functions call themselves, which no table of a cubin has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

/// Bytes of stack that a thread needs. `noted` are those by ptxas' table, in which functions that
/// call themselves count nothing: no compiler knows how deep. Where the kernel has some, it is one
/// frame of the kernel and of each function in its code, as their first instructions reserve them.
/// In linked code, where functions have code of their own, it is `noted`.
std::optional<std::uint64_t> stack_with_recursion(const Cubin& cubin, std::string_view kernel,
                                                  std::optional<std::uint64_t> noted);

}  // namespace warpgauge::metrics
