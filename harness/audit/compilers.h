// Compilers that a program calls, NVRTC and nvJitLink: they are to make line tables, which change
// no machine code and bring the PTX into the cubin, so that it can be emulated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpgauge::audit {

/// Whether the file is the library of one.
bool is_compiler(const std::string& path);

/// The function that a program gets for `symbol` of such a library, which is at `function`: its
/// own, or one that adds an option and calls it.
std::uintptr_t with_line_tables(std::string_view symbol, std::uintptr_t function);

}  // namespace warpgauge::audit
