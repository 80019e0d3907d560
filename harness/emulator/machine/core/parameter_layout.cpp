// Lays parameters out as PTX asks for: each at the next multiple of its alignment.
#include "harness/emulator/machine/core/parameter_layout.h"

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {

ParameterLayout parameters_of(const ptx::Function& kernel) {
  ParameterLayout out;
  for (const ptx::Variable& parameter : kernel.parameters) {
    const std::uint64_t offset = round_up(out.bytes, parameter.alignment);
    out.parameters.push_back({offset, parameter.bytes});
    out.bytes = offset + parameter.bytes;
  }
  return out;
}

}  // namespace warpgauge::emulator::machine
