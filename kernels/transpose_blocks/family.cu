// Transposition of a matrix of 1024x1024 floats without shared memory, swept over block shapes: the
// size of a case is the block, blockDim.y x blockDim.x.
//
// The warp, not the block, makes the requests, and the block decides what a warp
// looks like. Warps are cut from the block along x, so a warp covers 32 / bx rows of bx elements,
// or one row if bx is 32 or more. Wide warps read whole sectors and scatter their stores; tall
// warps do the reverse (global.load.sectors_per_request, global.store.sectors_per_request). bx of 8
// and of 4 harm one side twofold and the other not at all, which is the best there is without
// shared memory. Only time shows which side hurts more: the rest of a sector that was read is
// often still in L1 when another warp of the block wants it, while stores go through to L2. Hence
// blocks that are higher than wide tend to win.
#include "warpgauge/warpgauge.h"

namespace transpose_blocks {

constexpr int kEdge = 1024;  // rows and columns of the matrix: whole blocks of every shape
constexpr int kMaxBlockEdge = 256;
constexpr int kMinThreads = 64, kMaxThreads = 1024;

// CPU reference: b[x][y] = a[y][x].
std::vector<float> transposed(const std::vector<float>& a) {
  std::vector<float> b(a.size());
  for (int y = 0; y < kEdge; ++y) {
    for (int x = 0; x < kEdge; ++x) b[x * kEdge + y] = a[y * kEdge + x];
  }
  return b;
}

struct Transpose : warpgauge::Problem {
  const dim3 block;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;

  explicit Transpose(const warpgauge::Size& size)
      : block(static_cast<unsigned>(size[1]), static_cast<unsigned>(size[0])),
        a(*this, kEdge * kEdge),
        b(*this, kEdge * kEdge) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, transposed(a.host()));
  }
};

// Every lane moves one element. There is no bounds check, since every block divides the matrix.
__global__ void naive(float* b, const float* a) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const float value = a[y * kEdge + x];
  b[x * kEdge + y] = value;
}

void launch_naive(Transpose& p) {
  naive<<<dim3(kEdge / p.block.x, kEdge / p.block.y), p.block>>>(p.b, p.a);
}

// Blocks of 64 to 1024 threads whose edges are powers of two.
std::vector<warpgauge::Size> block_shapes() {
  std::vector<warpgauge::Size> shapes;
  for (int by = 1; by <= kMaxBlockEdge; by *= 2) {
    for (int bx = 1; bx <= kMaxBlockEdge; bx *= 2) {
      if (by * bx >= kMinThreads && by * bx <= kMaxThreads) shapes.push_back({by, bx});
    }
  }
  return shapes;
}

WARPGAUGE_FAMILY(transpose_blocks) {
  family.problem<Transpose>("f32", block_shapes()).variant("naive", launch_naive);
}

}  // namespace transpose_blocks
