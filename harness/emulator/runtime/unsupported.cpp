// The functions of the CUDA runtime that are not emulated. They are there so that programs link and
// start; a call returns cudaErrorNotSupported and prints the name once on stderr.
//
// They are defined without their parameters, which the caller of a C function removes himself, and
// for that the toolkit's declarations must not be seen here.
#include "harness/emulator/runtime/refuse.h"
#include "harness/emulator/runtime/unsupported_functions.h"

namespace warpgauge::emulator::runtime {

#define WARPGAUGE_REFUSE(name)                                   \
  extern "C" __attribute__((visibility("default"))) int name() { \
    return refuse(#name, __builtin_return_address(0));           \
  }
WARPGAUGE_UNSUPPORTED_FUNCTIONS(WARPGAUGE_REFUSE)
#undef WARPGAUGE_REFUSE

}  // namespace warpgauge::emulator::runtime
