#include "imaging/tone.h"

namespace imaging {

__constant__ float exposure[kTones] = {0.5f, 1, 2, 4};

__device__ float tone(float pixel, int which) {
  const float exposed = pixel * exposure[which];
  return exposed / (1 + exposed);
}

}  // namespace imaging
