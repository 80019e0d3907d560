// The arithmetic handlers of one instruction set, by key.
#include "harness/emulator/machine/isa/alu_families.h"
#include "harness/emulator/machine/isa/isa.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {

Execute alu_handler(const AluKey& key) {
  for (const auto family :
       {integer_handler, integer_product_handler, carry_handler, logic_handler, bits_handler,
        float_handler, approximation_handler, half_handler, compare_handler, move_handler}) {
    if (const Execute execute = family(key)) return execute;
  }
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
