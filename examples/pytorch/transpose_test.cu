// The operator's test: its result, and what its kernel costs.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <warpgauge/gtest.h>

#include "transpose.h"

TEST(Transpose, IsRightAndWithinBudget) {
  if (!at::cuda::is_available()) GTEST_SKIP() << "PyTorch needs a GPU";
  const at::Tensor in = at::rand({256, 256}, at::kCUDA);
  at::Tensor out;
  EXPECT_BUDGET([&] { out = transpose(in); }, "global.excess_sectors = 0");
  EXPECT_TRUE(at::equal(out, in.t()));
}
