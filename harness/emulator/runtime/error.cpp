// Names and texts of errors.
#include <cuda_runtime_api.h>

#include "harness/emulator/machine/core/error_table.h"
#include "harness/emulator/runtime/call.h"

namespace warpgauge::emulator::runtime {

WARPGAUGE_API const char* cudaGetErrorName(cudaError_t error) {
  return machine::error_text(error).name;
}

WARPGAUGE_API const char* cudaGetErrorString(cudaError_t error) {
  return machine::error_text(error).text;
}

}  // namespace warpgauge::emulator::runtime
