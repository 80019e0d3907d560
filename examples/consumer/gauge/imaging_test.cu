// GoogleTest tests that measure launches; they register nothing.
#include <nvtx3/nvToolsExt.h>

#include "imaging/imaging.h"
#include "warpgauge/cuda_error.h"
#include "warpgauge/gtest.h"

namespace {

class Imaging : public testing::Test {
 protected:
  static constexpr int kWidth = 1024, kHeight = 64;

  void SetUp() override {
    const std::string why = warpgauge::why_nothing_is_measured();
    if (!why.empty()) GTEST_SKIP() << why;
    WARPGAUGE_CUDA(cudaMalloc(&pixels_, kWidth * kHeight * sizeof(float)));
    WARPGAUGE_CUDA(cudaMalloc(&out_, kWidth * kHeight * sizeof(float)));
  }
  void TearDown() override {
    cudaFree(pixels_);
    cudaFree(out_);
  }

  float *pixels_ = nullptr, *out_ = nullptr;
};

TEST_F(Imaging, AFilterReadsItsTileWithoutConflicts) {
  const warpgauge::Measurement cost = warpgauge::measure(
      [&] { imaging::filter_rows<float>(out_, pixels_, kWidth, kHeight, nullptr); });
  EXPECT_EQ(cost["shared.bank_conflicts"], 0);
  EXPECT_EQ(cost["global.store.sectors"], kWidth * kHeight * sizeof(float) / 32) << cost.str();
}

TEST_F(Imaging, AFilterKeepsTheBudgetsOfItsCase) {
  EXPECT_BUDGET([&] { imaging::filter_rows<float>(out_, pixels_, kWidth, kHeight, nullptr); },
                "filter.rows.f32@64x1024");
}

TEST_F(Imaging, NormalisingIsCoalesced) {
  EXPECT_BUDGET([&] { imaging::normalise(pixels_, 3, kWidth * kHeight, nullptr); },
                "global.excess_sectors = 0\nregisters = 32");
}

TEST_F(Imaging, NvtxRangesNameWhatIsMeasured) {
  nvtxRangePushA("pipeline");
  nvtxRangePushA("normalise");
  const warpgauge::Measurement cost =
      warpgauge::measure([&] { imaging::normalise(pixels_, 3, kWidth * kHeight, nullptr); });
  nvtxRangePop();
  nvtxRangePop();
  EXPECT_EQ(cost.name(), "pipeline/normalise");
}

}  // namespace
