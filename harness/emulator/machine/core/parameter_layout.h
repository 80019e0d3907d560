// How the parameters of a kernel lie in the memory that a launch passes.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/emulator/machine/core/launch.h"

namespace warpgauge::emulator::ptx {
struct Function;
}

namespace warpgauge::emulator::machine {

struct ParameterLayout {
  std::vector<KernelInfo::Parameter> parameters;  ///< in the order of ptx::Function::parameters
  std::uint64_t bytes = 0;
};
ParameterLayout parameters_of(const ptx::Function& kernel);

}  // namespace warpgauge::emulator::machine
