// A header of inlined functions, one inside of the other. Their lines have other numbers than those
// of inlined.cu: ptxas takes two lines of one number for one line, whatever their files.
#pragma once

__device__ __forceinline__ float deep(const float* p) { return *p * 2; }

__device__ __forceinline__ float inner(const float* p, int i) {
  return deep(p + i) +  //
         p[3 * i];
}
