// The files alu_*.cpp of this folder export to alu_handler.cpp one selection function each,
// nullptr for what is not theirs.
#pragma once

#include "harness/emulator/machine/core/execute.h"
#include "harness/emulator/machine/isa/alu.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {

Execute integer_handler(const AluKey& key);
Execute integer_product_handler(const AluKey& key);
Execute carry_handler(const AluKey& key);
Execute logic_handler(const AluKey& key);
Execute bits_handler(const AluKey& key);
Execute float_handler(const AluKey& key);
Execute approximation_handler(const AluKey& key);
Execute half_handler(const AluKey& key);
Execute compare_handler(const AluKey& key);
Execute move_handler(const AluKey& key);

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
