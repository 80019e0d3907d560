// The files convert_*.cpp of this folder export to convert_handler.cpp one selection function
// each, nullptr for what is not theirs.
#pragma once

#include "harness/emulator/machine/core/execute.h"
#include "harness/emulator/machine/isa/convert.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {

Execute integer_conversion(const ConvertKey& key);
Execute integer_to_float_conversion(const ConvertKey& key);
Execute float_to_integer_conversion(const ConvertKey& key);
Execute float_conversion(const ConvertKey& key);
Execute small_float_conversion(const ConvertKey& key);

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
