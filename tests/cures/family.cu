// Reads of shared memory with conflicts, each with a variant that does what its cure says, and
// reads that nothing cures. tests/cli/test_cures.py holds what the cures promise against the
// counts.
#include "warpgauge/warpgauge.h"

namespace cures {

constexpr int kWarp = 32;
constexpr int kColumns = 128;

/// b[k][lane] is element k of what the lane reads at `place(lane)`, {row, column} of a.
template <typename T, int kElements, typename Place>
struct Rows : warpgauge::Problem {
  warpgauge::Input<T> a;
  warpgauge::Output<T> b;
  explicit Rows(const warpgauge::Size& /*size*/)
      : a(*this, kWarp * kColumns), b(*this, kWarp * kElements) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<T> expected(b.count());
    for (int lane = 0; lane < kWarp; ++lane) {
      for (int k = 0; k < kElements; ++k) {
        expected[k * kWarp + lane] =
            a.host()[Place::row(lane) * kColumns + Place::column(lane) + k];
      }
    }
    comparison.equal(b, expected);
  }
};

struct Column {
  __host__ __device__ static int row(int lane) { return lane; }
  __host__ __device__ static int column(int /*lane*/) { return 0; }
};

struct Block {  // 8 columns of 4 rows
  __host__ __device__ static int row(int lane) { return lane / 8; }
  __host__ __device__ static int column(int lane) { return lane % 8; }
};

struct Scattered {
  __host__ __device__ static int row(int lane) { return (lane * 7 + lane * lane * 3) % kWarp; }
  __host__ __device__ static int column(int lane) { return lane * lane * 5 % 31; }
};

/// `kRow` elements from row to row in shared memory.
template <typename T, int kElements, typename Place, int kRow>
__global__ void through_tile(T* b, const T* a) {
  struct alignas(kElements * sizeof(T)) Elements {
    T of[kElements];
  };
  __shared__ alignas(16) T tile[kWarp * kRow];
  const int lane = threadIdx.x;
  for (int row = 0; row < kWarp; ++row) {
    for (int column = lane; column < kColumns; column += kWarp) {
      tile[row * kRow + column] = a[row * kColumns + column];
    }
  }
  __syncthreads();
  const T* const place = &tile[Place::row(lane) * kRow + Place::column(lane)];
  const Elements read = *reinterpret_cast<const Elements*>(place);
  for (int k = 0; k < kElements; ++k) b[k * kWarp + lane] = read.of[k];
}

template <typename T, int kElements, typename Place, int kRow>
void launch(Rows<T, kElements, Place>& p) {
  through_tile<T, kElements, Place, kRow><<<1, kWarp>>>(p.b, p.a);
}

WARPGAUGE_FAMILY(cures) {
  const std::vector<warpgauge::Size> sizes = {{kWarp, kColumns}};
  const auto words = family.problem<Rows<float, 1, Column>>("word", sizes);
  words.variant("rows", launch<float, 1, Column, kColumns>);
  words.variant("cured", launch<float, 1, Column, kColumns + 1>);
  const auto doubles = family.problem<Rows<double, 1, Column>>("double", sizes);
  doubles.variant("rows", launch<double, 1, Column, kColumns>);
  doubles.variant("cured", launch<double, 1, Column, kColumns + 1>);
  const auto vectors = family.problem<Rows<float, 4, Column>>("float4", sizes);
  vectors.variant("rows", launch<float, 4, Column, kColumns>);
  vectors.variant("cured", launch<float, 4, Column, kColumns + 4>);
  const auto blocks = family.problem<Rows<float, 1, Block>>("block", sizes);
  blocks.variant("rows", launch<float, 1, Block, kColumns + 1>);  // padded for columns
  blocks.variant("cured", launch<float, 1, Block, kColumns + 1 + 7>);
  const auto scattered = family.problem<Rows<float, 1, Scattered>>("scattered", sizes);
  scattered.variant("rows", launch<float, 1, Scattered, kColumns>);
}

}  // namespace cures
