// Tone curves: device functions and constants that kernels of other source files use, so the
// library is compiled with CUDA_SEPARABLE_COMPILATION.
#pragma once

namespace imaging {

constexpr int kTones = 4;
extern __constant__ float exposure[kTones];

__device__ float tone(float pixel, int which);

}  // namespace imaging
