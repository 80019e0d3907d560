// Hints on managed memory.
#include "harness/emulator/driver/call.h"

#undef cuMemAdvise  // earlier variants, which the toolkit's headers do not declare
#undef cuMemPrefetchAsync

namespace warpgauge::emulator::driver {
namespace {

using runtime::State;

/// A device by its number, or the host.
cudaMemLocation location_of(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

cudaMemLocation location_of(CUmemLocation location) {  // both have the same numbers
  return {static_cast<cudaMemLocationType>(location.type), location.id};
}

/// Calls `forward` with a place that there is.
template <typename Forward>
CUresult hinted(const char* name, cudaMemLocation location, Forward forward) {
  return call(name, [&] {
    const auto error = runtime::call_in_stream(name, [&](State&) {
      if (location.type == cudaMemLocationTypeDevice) require_device(location.id);
    });
    return error == cudaSuccess ? forward(location) : error;
  });
}

CUresult advised(CUdeviceptr memory, std::size_t bytes, CUmem_advise advice,
                 cudaMemLocation location) {
  return hinted("cuMemAdvise", location, [&](cudaMemLocation same) {
    return cudaMemAdvise(pointer(memory), bytes, static_cast<cudaMemoryAdvise>(advice), same);
  });
}

CUresult prefetched(CUdeviceptr memory, std::size_t bytes, cudaMemLocation location, unsigned flags,
                    CUstream stream) {
  return hinted("cuMemPrefetchAsync", location, [&](cudaMemLocation same) {
    if (flags != 0) return cudaErrorInvalidValue;
    return cudaMemPrefetchAsync(pointer(memory), bytes, same, flags, stream);
  });
}

}  // namespace

WARPGAUGE_API CUresult cuMemAdvise(CUdeviceptr memory, std::size_t bytes, CUmem_advise advice,
                                   CUdevice device) {
  return advised(memory, bytes, advice, location_of(device));
}

WARPGAUGE_API CUresult cuMemAdvise_v2(CUdeviceptr memory, std::size_t bytes, CUmem_advise advice,
                                      CUmemLocation location) {
  return advised(memory, bytes, advice, location_of(location));
}

WARPGAUGE_API CUresult cuMemPrefetchAsync(CUdeviceptr memory, std::size_t bytes, CUdevice device,
                                          CUstream stream) {
  return prefetched(memory, bytes, location_of(device), 0, stream);
}

WARPGAUGE_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr memory, std::size_t bytes,
                                             CUmemLocation location, unsigned flags,
                                             CUstream stream) {
  return prefetched(memory, bytes, location_of(location), flags, stream);
}

WARPGAUGE_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr memory,
                                              std::size_t bytes, unsigned flags) {
  return call("cuStreamAttachMemAsync",
              [&] { return cudaStreamAttachMemAsync(stream, pointer(memory), bytes, flags); });
}

WARPGAUGE_PER_THREAD(cuMemPrefetchAsync, _ptsz)
WARPGAUGE_PER_THREAD(cuMemPrefetchAsync_v2, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamAttachMemAsync, _ptsz)

}  // namespace warpgauge::emulator::driver
