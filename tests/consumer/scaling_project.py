"""A project with kernels that need include folders, definitions and a library of its own."""

KERNELS = """
#include <warpgauge/warpgauge.h>
#include "factor.h"
#include "half.h"
static_assert(FACTOR == 2 && AS_TEXT[1] == ',', "a definition that was given later");

namespace scaling {
struct Scale : warpgauge::Problem {
  warpgauge::Input<float> in;
  warpgauge::Output<float> out;
  explicit Scale(const warpgauge::Size& size)
      : in(*this, size.count()), out(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected = in.host();
    for (float& value : expected) value *= kScale;
    comparison.equal(out, expected);
  }
};
__global__ void twice(float* out, const float* in) { out[threadIdx.x] = FACTOR * in[threadIdx.x]; }
WARPGAUGE_FAMILY(scaling) {
  const auto f32 = family.problem<Scale>("f32", {{256}});
  f32.variant("here", [](Scale& p) { twice<<<1, 256>>>(p.out, p.in); });
  f32.variant("in_library", [](Scale& p) { half::twice(p.out, p.in); });
}
}  // namespace scaling
"""
FILES = {
    "scaling.cu": KERNELS,
    "include/factor.h": "constexpr float kScale = FACTOR;\n",
    "half/include/half.h": "namespace half { void twice(float* out, const float* in); }\n",
    "half/half.cu": '#include "half.h"\nnamespace half {\n'
    "__global__ void kernel(float* o, const float* i) { o[threadIdx.x] = 2 * i[threadIdx.x]; }\n"
    "void twice(float* out, const float* in) { kernel<<<1, 256>>>(out, in); }\n}\n",
}
