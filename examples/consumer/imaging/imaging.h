// Kernels of an image pipeline, as a library offers them: functions that launch on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace imaging {

constexpr int kBins = 256, kTaps = 7;

/// Sets the weights of filter_rows(), for all streams.
cudaError_t set_taps(const float (&taps)[kTaps]);

/// Each pixel as the weighted sum of its row's neighbours; beyond the edge they are 0. For uint8_t
/// and float.
template <typename Pixel>
cudaError_t filter_rows(float* out, const Pixel* in, int width, int height, cudaStream_t stream);

/// How often each value occurs. `partial` has kBins counters for each of histogram_blocks().
int histogram_blocks(int pixels);
cudaError_t histogram(std::uint32_t* bins, std::uint32_t* partial, const std::uint8_t* in,
                      int pixels, cudaStream_t stream);

/// Brightens by one of kTones exposures, and maps the result to 0 .. 1 (tone_map) or leaves it.
cudaError_t tone_map(float* pixels, int which, int count, cudaStream_t stream);
cudaError_t expose_all(float* pixels, int which, int count, cudaStream_t stream);

/// Divides the pixels by `divisor`, in place.
cudaError_t normalise(float* pixels, float divisor, int count, cudaStream_t stream);

}  // namespace imaging
