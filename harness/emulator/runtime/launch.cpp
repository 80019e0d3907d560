// Calls that launch. A kernel has run to its end when its launch returns, or waits for memory to
// change; later calls report its fault, as on a GPU, where launches return at once.
#include "harness/emulator/runtime/launch.h"

#include <cuda_runtime_api.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/functions.h"
#include "harness/emulator/runtime/kernel_run.h"
#include "harness/emulator/runtime/launch_tree.h"

namespace warpgauge::emulator::runtime {
namespace {

void launch(State& state, KernelCall request, void** arguments, cudaStream_t stream) {
  keeping_failures(
      state, request,
      [&] {
        check_dimensions(request);
        require_stream(state, stream);
        pack_arguments(state, request, arguments);
        submit(state, stream, request);
      },
      std::this_thread::get_id());
}

KernelCall cooperative(KernelCall request) {
  cudaLaunchAttributeValue value{};
  value.cooperative = 1;
  request.attributes[cudaLaunchAttributeCooperative] = value;
  return request;
}

}  // namespace

void pack_arguments(State& state, KernelCall& call, void** arguments) {
  const auto& info = info_of(state, function_of(state, call.kernel));
  require(arguments != nullptr || info.parameters.empty());
  call.parameters.assign(info.parameter_bytes, {});
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    require(arguments[i] != nullptr);
    std::memcpy(call.parameters.data() + info.parameters[i].offset, arguments[i],
                info.parameters[i].bytes);
  }
}

// Attributes that only make a launch faster change nothing.
void set_attribute(KernelCall& call, cudaLaunchAttributeID id,
                   const cudaLaunchAttributeValue& value) {
  switch (static_cast<int>(id)) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeCooperative:
    case cudaLaunchAttributeClusterDimension:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePreferredClusterDimension:
      break;
    default:
      throw Failure{
          cudaErrorNotSupported,
          "launch attribute " + std::to_string(static_cast<int>(id)) + " is not emulated"};
  }
  call.attributes[id] = value;
}

WARPGAUGE_API cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block,
                                           void** arguments, std::size_t shared_bytes,
                                           cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    launch(state, {kernel, grid, block, shared_bytes}, arguments, stream);
  });
}

// <<<>>> calls this in code of nvcc 13.
WARPGAUGE_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                             void** arguments, std::size_t shared_bytes,
                                             cudaStream_t stream) {
  return call_in_stream("cudaLaunchKernel", [&](State& state) {
    launch(state, {kernel, grid, block, shared_bytes}, arguments, stream);
  });
}

WARPGAUGE_API cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                                      void** arguments, std::size_t shared_bytes,
                                                      cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    launch(state, cooperative({kernel, grid, block, shared_bytes}), arguments, stream);
  });
}

WARPGAUGE_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                              void** arguments) {
  return call_in_stream(__func__, [&](State& state) {
    require(config != nullptr);
    require(config->attrs != nullptr || config->numAttrs == 0);
    KernelCall request{kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      set_attribute(request, config->attrs[i].id, config->attrs[i].val);
    }
    launch(state, std::move(request), arguments, config->stream);
  });
}

WARPGAUGE_PER_THREAD(cudaLaunchKernel, _ptsz)
WARPGAUGE_PER_THREAD(__cudaLaunchKernel, _ptsz)
WARPGAUGE_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)
WARPGAUGE_PER_THREAD(cudaLaunchKernelExC, _ptsz)

}  // namespace warpgauge::emulator::runtime
