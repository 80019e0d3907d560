// A matrix transposed by tensor copies: boxes of 32x32 floats come and go by one instruction each.
//
// A tensor map has the matrix's address, extents and rows, so that one thread asks for a box by its
// place alone (cp.async.bulk.tensor). The engine computes the addresses, fills with zeros what lies
// outside of the matrix, and does not store it: no variant here looks where the matrix ends.
// A warp reads a column of words of 16 bytes. As the box is in global memory (`unswizzled`), rows
// are 128 bytes apart, and 8 lanes want the same 4 banks: shared.bank_ways is 8. A tensor copy
// cannot pad rows, but its map can swizzle: with CU_TENSOR_MAP_SWIZZLE_128B the engine puts word w
// of row r at w ^ r % 8, which spreads each column over all banks (`swizzled`). The kernel reads it
// there, and the box has to begin at a multiple of 1024 bytes.
#include "kernels/ptx.h"
#include "kernels/tensor_map.h"
#include "warpgauge/warpgauge.h"

namespace tensor_copy {

constexpr int kEdge = 32;                 // rows and columns of a box
constexpr int kWord = 4;                  // floats of 16 bytes
constexpr int kWords = kEdge / kWord;     // of a row, a warp for each
constexpr int kThreads = kWords * kEdge;  // a lane for each row

struct Transpose : warpgauge::Problem {
  const int rows, columns;  // multiples of 4, as rows of tensors are of 16 bytes
  const CUtensorMapSwizzle swizzle;
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  CUtensorMap map_a = {}, map_b = {};

  Transpose(const warpgauge::Size& size, CUtensorMapSwizzle swizzle)
      : rows(static_cast<int>(size[0])),
        columns(static_cast<int>(size[1])),
        swizzle(swizzle),
        a(*this, size.count()),
        b(*this, size.count()) {}
  void prepare() override {
    const float* from = a;
    float* to = b;
    constexpr auto kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    warpgauge::set_tensor_map(map_a, from,
                              {kFloat, sizeof(float), rows, columns, kEdge, kEdge, swizzle});
    warpgauge::set_tensor_map(map_b, to, {kFloat, sizeof(float), columns, rows, kEdge, kEdge});
  }
  /// CPU reference.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected(a.count());
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < columns; ++i) expected[i * rows + row] = a.host()[row * columns + i];
    }
    comparison.equal(b, expected);
  }
};

struct Unswizzled : Transpose {
  explicit Unswizzled(const warpgauge::Size& size) : Transpose(size, CU_TENSOR_MAP_SWIZZLE_NONE) {}
  /// Where a box has a word of a row, in words from its beginning.
  static __device__ int at(int row, int word) { return row * kWords + word; }
};

struct Swizzled : Transpose {
  explicit Swizzled(const warpgauge::Size& size) : Transpose(size, CU_TENSOR_MAP_SWIZZLE_128B) {}
  static __device__ int at(int row, int word) { return row * kWords + (word ^ row % kWords); }
};

// Each warp reads a column of words, and writes the four rows that it is.
template <typename Layout>
__global__ void transpose(const __grid_constant__ CUtensorMap to,
                          const __grid_constant__ CUtensorMap from) {
  __shared__ __align__(1024) float4 box[kEdge * kWords];
  __shared__ __align__(128) float turned[kEdge][kEdge];
  __shared__ ptx::Mbarrier arrived;
  const int x = blockIdx.x * kEdge, y = blockIdx.y * kEdge;
  if (threadIdx.x == 0) {
    arrived.initialise(1);
    ptx::Mbarrier::fence_initialised();
    arrived.arrive_and_expect(sizeof(box));
    ptx::tensor_load(box, from, x, y, arrived);
  }
  __syncthreads();
  arrived.wait(0);
  const int row = threadIdx.x % kEdge, word = threadIdx.x / kEdge;
  const float4 read = box[Layout::at(row, word)];
  turned[kWord * word][row] = read.x;
  turned[kWord * word + 1][row] = read.y;
  turned[kWord * word + 2][row] = read.z;
  turned[kWord * word + 3][row] = read.w;
  ptx::fence_async();
  __syncthreads();
  if (threadIdx.x > 0) return;
  ptx::tensor_store(to, y, x, turned);
  ptx::commit_stores();
  ptx::wait_until_stored();
}

template <typename Layout>
void launch(Layout& p) {
  const dim3 blocks((p.columns + kEdge - 1) / kEdge, (p.rows + kEdge - 1) / kEdge);
  transpose<Layout><<<blocks, kThreads>>>(p.map_b, p.map_a);
}

WARPGAUGE_FAMILY(tensor_copy) {
  // 128 whole boxes; 12, of which those at the edges reach out of the matrix.
  const std::vector<warpgauge::Size> sizes = {{512, 256}, {104, 72}};
  family.problem<Unswizzled>("f32", sizes)
      .sizes_between({4, 4}, {4096, 4096}, {4, 4})
      .needs("sm_90")
      .variant("unswizzled", launch<Unswizzled>);
  family.problem<Swizzled>("f32", sizes)
      .sizes_between({4, 4}, {4096, 4096}, {4, 4})
      .needs("sm_90")
      .variant("swizzled", launch<Swizzled>);
}

}  // namespace tensor_copy
