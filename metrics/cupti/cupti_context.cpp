// Gets at the current context without linking libcuda: the program must start without a driver.
#include "metrics/cupti/cupti_context.h"

#include <cuda_runtime_api.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "metrics/cupti/cupti.h"
#include "metrics/cupti/cupti_error.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::metrics {
namespace {

// Throws Unmeasured: a CUDA error before the first measurement means that the GPU cannot be used.
void need(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  throw Unmeasured(std::string("no usable GPU: ") + call + " failed: " + cuda_error_text(code),
                   std::string(cuda_remedy(code)));
}

// The runtime creates the primary context on the first call that needs one; cudaFree(0) is the
// customary call that does nothing else.
CUcontext current_context() {
  need(cudaFree(nullptr), "cudaFree(0)");
  constexpr unsigned kSinceVersion = 4000;  // cuCtxGetCurrent came with CUDA 4.0
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  need(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, kSinceVersion, cudaEnableDefault,
                                        &found),
       "cudaGetDriverEntryPointByVersion(cuCtxGetCurrent)");
  CUcontext context = nullptr;
  if (found != cudaDriverEntryPointSuccess ||
      reinterpret_cast<CUresult (*)(CUcontext*)>(entry)(&context) != CUDA_SUCCESS || !context) {
    throw Unmeasured("the driver gave no current context", "Check with nvidia-smi that it works");
  }
  return context;
}

// Initialises CUPTI once a process: profilers of both kinds come and go, and to deinitialise for
// one would take CUPTI away from the other.
void initialise_profiler() {
  static const bool kDone = [] {
    WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Initialize, params);
    WARPGAUGE_CUPTI(cuptiProfilerInitialize, &params);
    return true;
  }();
  static_cast<void>(kDone);
}

std::string chip_name(int device) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Device_GetChipName, params);
  params.deviceIndex = static_cast<std::size_t>(device);
  WARPGAUGE_CUPTI(cuptiDeviceGetChipName, &params);
  return params.pChipName;
}

CUpti_Profiler_GetCounterAvailability_Params sized_availability(CUcontext context) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability, params);
  params.ctx = context;
  WARPGAUGE_CUPTI_IN_TURN(cuptiProfilerGetCounterAvailability, &params);
  return params;
}

int current_device() {
  require_gpu();
  int device = 0;
  need(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

}  // namespace

void require_gpu() {
  int count = 0;
  need(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (count == 0) need(cudaErrorNoDevice, "cudaGetDeviceCount");
}

CuptiContext open_context() {
  const int device = current_device();
  return open_context(current_context(), device);
}

CuptiContext open_context(CUcontext context, int device) {
  initialise_profiler();
  sized_availability(context);
  return {.context = context, .device = device, .chip = chip_name(device)};
}

std::vector<std::uint8_t> counter_availability(CUcontext context) {
  CUpti_Profiler_GetCounterAvailability_Params params = sized_availability(context);
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  WARPGAUGE_CUPTI_IN_TURN(cuptiProfilerGetCounterAvailability, &params);
  return image;
}

void wait_for_device() {
  WARPGAUGE_CUDA(cudaGetLastError());  // a refused launch left its error here
  WARPGAUGE_CUDA(cudaDeviceSynchronize());
}

std::string current_chip() {
  const int device = current_device();
  initialise_profiler();
  return chip_name(device);
}

}  // namespace warpgauge::metrics
