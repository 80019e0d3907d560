// How many registers the kernels of a cubin use.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace warpgauge::metrics {

/// Registers per thread by mangled name, as ptxas 12 and 13 leave them in a cubin (undocumented:
/// attribute 0x2f of the section .nv.info). Any other layout is skipped.
std::map<std::string, int> registers_of_kernels(std::span<const std::byte> cubin);

}  // namespace warpgauge::metrics
