// 32-bit products that wrapped on their way to an address.
#pragma once

#include <string>

#include "harness/emulator/machine/core/act.h"

namespace warpgauge::emulator::machine {

/// "; the 32-bit product 65536 * 40000 at f.cu:12 wrapped to -1673527296: compute it in 64 bits",
/// for a thread's access to memory of whose address a product did not fit. Empty if all did, and
/// where that cannot be told: what was loaded, or changes in a loop, is not known.
std::string wrapped_product_text(const Act& act, const Launch& launch);

}  // namespace warpgauge::emulator::machine
