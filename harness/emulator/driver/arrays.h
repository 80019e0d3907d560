// CUDA arrays in the driver's words.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace warpgauge::emulator::driver {

/// An array has the same address in the runtime.
inline cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }
inline CUarray array_of(cudaArray_t array) { return reinterpret_cast<CUarray>(array); }

/// What the runtime calls a channel's format. Throws Failure with cudaErrorNotSupported for formats
/// that are not emulated.
cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels);

struct ArrayFormat {
  CUarray_format format;
  unsigned channels;
};
/// The other way round.
ArrayFormat format_of(const cudaChannelFormatDesc& channels);

}  // namespace warpgauge::emulator::driver
