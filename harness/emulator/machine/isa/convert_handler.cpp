// The conversions of one instruction set, by key.
#include "harness/emulator/machine/isa/convert_families.h"
#include "harness/emulator/machine/isa/isa.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {

Execute convert_handler(const ConvertKey& key) {
  for (const auto family :
       {integer_conversion, integer_to_float_conversion, float_to_integer_conversion,
        float_conversion, small_float_conversion}) {
    if (const Execute execute = family(key)) return execute;
  }
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
