// The way into the driver and out of it again.
#include "harness/emulator/driver/call.h"

#include "harness/emulator/driver/context.h"
#include "harness/emulator/driver/refuse.h"
#include "harness/emulator/runtime/device_properties.h"
#include "harness/emulator/runtime/refuse.h"

namespace warpgauge::emulator::driver {
namespace {

bool is_initialised() { return *runtime::State::instance().results.use.call != '\0'; }

}  // namespace

CUresult call(const char* name, runtime::FunctionRef<cudaError_t()> forward) {
  return call_anywhere(name, [&] {
    if (current_context() != nullptr) return forward();
    return runtime::call_always(
        name, [](runtime::State&) { runtime::require(false, cudaErrorDeviceUninitialized); });
  });
}

CUresult call_anywhere(const char* name, runtime::FunctionRef<cudaError_t()> forward) {
  if (!is_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  const runtime::DriverCall as_driver(name);
  return result_of(forward());
}

CUresult query(const char* name, runtime::FunctionRef<void(runtime::State&)> body) {
  return call_anywhere(name, [&] { return runtime::call_always(name, body); });
}

int refuse(const char* name, const void* caller) {
  const runtime::DriverCall as_driver(name);
  return runtime::refuse(name, caller);
}

WARPGAUGE_API CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const runtime::DriverCall as_driver("cuInit");
  return result_of(runtime::call_always("cuInit", [](runtime::State&) {}));
}

WARPGAUGE_API CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = runtime::driver_version();
  return CUDA_SUCCESS;
}

}  // namespace warpgauge::emulator::driver
