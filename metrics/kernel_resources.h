// The registers and the stack that the kernels of a cubin use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace warpgauge::metrics {

/// Registers per thread by mangled name, as ptxas 12 and 13 leave them in a cubin (undocumented:
/// attribute 0x2f of the section .nv.info). Any other layout is skipped.
std::map<std::string, std::uint32_t> registers_of_kernels(std::span<const std::byte> cubin);

/// Bytes of stack per thread by mangled name, with all that the kernel calls, as the device linker
/// leaves them (undocumented: attribute 0x12); kernels whose calls recurse are left out. Those of
/// cubins that ptxas has made without it do not count functions that call themselves.
std::map<std::string, std::uint32_t> stacks_of_kernels(std::span<const std::byte> cubin);

}  // namespace warpgauge::metrics
