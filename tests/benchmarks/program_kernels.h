// Launches of small kernels, each with the character of a kind of program.
#pragma once

namespace warpgauge::benchmarks {

inline constexpr int kProgramThreads = 1 << 14;

// All take memory for kProgramThreads floats, or 8 times as much where that is said, all zero.

void launch_float_arithmetic(float* out);
void launch_double_arithmetic(float* out);
void launch_integer_hash(float* out);
void launch_shared_wavefront(float* out);  ///< the cells of a block wait for their neighbours
void launch_divergent_loop(float* out);
void launch_histogram(float* out);
void launch_stream(float* out);  ///< 8 times
void launch_transcendental(float* out);
void launch_local_array(float* out);
void launch_many_small(float* out);

}  // namespace warpgauge::benchmarks
