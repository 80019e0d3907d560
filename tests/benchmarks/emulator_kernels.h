// Launches of the kernels that the emulator's speed is measured with. Matrices are row-major.
#pragma once

namespace warpgauge::benchmarks {

/// `a` has h rows of w elements; `b` gets w rows of h.
void launch_transpose(float* b, const float* a, int w, int h);
/// `sums` gets 256 partial sums of the n elements of `a`.
void launch_reduce(float* sums, const float* a, int n);
/// c = a b, n x n, n a multiple of 32.
void launch_matmul_tiled(float* c, const float* a, const float* b, int n);
/// c = a b, n x n, n a multiple of 128.
void launch_matmul_register_blocked(float* c, const float* a, const float* b, int n);

}  // namespace warpgauge::benchmarks
