// The functions of the CUDA driver that are not emulated: see runtime/unsupported.cpp.
#include "harness/emulator/driver/refuse.h"
#include "harness/emulator/driver/unsupported_functions.h"

namespace warpgauge::emulator::driver {

#define WARPGAUGE_REFUSE(name)                                   \
  extern "C" __attribute__((visibility("default"))) int name() { \
    return refuse(#name, __builtin_return_address(0));           \
  }
WARPGAUGE_UNSUPPORTED_DRIVER_FUNCTIONS(WARPGAUGE_REFUSE)
#undef WARPGAUGE_REFUSE

}  // namespace warpgauge::emulator::driver
