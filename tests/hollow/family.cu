// Cases that a gate could take for good ones: nothing of them is right.
#include <cuda_runtime_api.h>

#include "warpgauge/warpgauge.h"

namespace hollow {

struct Copy : warpgauge::Problem {
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  explicit Copy(const warpgauge::Size& size) : a(*this, size.count()), b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(b, a.host()); }
};

// Its reference is what stands for "not found", as in a search.
struct NotFound : warpgauge::Problem {
  warpgauge::Output<int> place;
  explicit NotFound(const warpgauge::Size& size) : place(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(place, std::vector<int>(place.count(), -1));
  }
};

// Does not look whether the call by which it gets something has failed.
struct Careless : Copy {
  using Copy::Copy;
  void check(warpgauge::Comparison& comparison) const override {
    float first = 0;
    static_cast<void>(cudaMemcpy(&first, nullptr, sizeof first, cudaMemcpyDeviceToHost));
    Copy::check(comparison);
  }
};

__global__ void copy(float* b, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i];
}

__global__ void add_one(float* b, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] + 1;
}

__global__ void write_nothing(int* place, bool is_found) {
  if (is_found) place[threadIdx.x] = 0;
}

WARPGAUGE_FAMILY(hollow) {
  family.problem<NotFound>("i32", {{256}}).variant("unwritten", [](NotFound& p) {
    write_nothing<<<1, 256>>>(p.place, false);
  });
  family.problem<Careless>("f32", {{1024}}).variant("careless", [](Careless& p) {
    copy<<<4, 256>>>(p.b, p.a);
  });
  const auto f32 = family.problem<Copy>("f32", {{1024}});
  f32.variant("behind_careless", [](Copy& p) { copy<<<4, 256>>>(p.b, p.a); });
  f32.variant("DISABLED_wrong", [](Copy& p) { add_one<<<4, 256>>>(p.b, p.a); });
}

}  // namespace hollow
