// How far the registers of a function are known to be aligned.
#pragma once

#include <string_view>
#include <unordered_map>

#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::counting {

/// Register or variable -> the number of low bits that are zero whenever it is read, from 0 to 6;
/// what is not there has none. Variables in shared memory count as aligned to 16 bytes at least, as
/// ptxas makes them. The names are those of the module and the function.
std::unordered_map<std::string_view, int> known_alignment(const ptx::Module& module,
                                                          const ptx::Function& function);

}  // namespace warpgauge::emulator::counting
