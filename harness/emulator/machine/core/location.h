// Where a variable, parameter or function lies.
#pragma once

#include <cstdint>

namespace warpgauge::emulator::machine {

/// Where a variable lies.
struct Location {
  enum class Kind : std::uint8_t {
    global,            ///< .global: `address` is a pointer of this process
    constant,          ///< .const: likewise a pointer; also the .const address is that pointer
    shared,            ///< `address` counts from the start of the block's shared memory
    local,             ///< `address` counts from the start of the function's frame in the lane's
                       ///< local memory: .local, and .param of device functions and of calls
    kernel_parameter,  ///< `address` counts from the start of the launch's parameter buffer
    function,          ///< `address` is what an indirect call takes
  };
  Kind kind = Kind::global;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  ///< 0 for dynamic shared memory
  std::uint32_t alignment = 1;
};

}  // namespace warpgauge::emulator::machine
