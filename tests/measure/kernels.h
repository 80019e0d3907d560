// Launches whose costs follow from theory, on memory of their own.
#pragma once

namespace measured {

void copy_tile(int warps, bool padded);  ///< through shared memory: with conflicts unless padded
void copy_twice(int warps);              ///< two kernels, on a stream of their own
void nothing();                          ///< no launch at all
void refused();                          ///< a launch that CUDA refuses

}  // namespace measured
