// Gauges imaging::histogram: two kernels, one after the other, on a stream of its own.
#include "imaging/imaging.h"
#include "warpgauge/warpgauge.h"

namespace {

struct Histogram : warpgauge::Problem {
  const int pixels;
  cudaStream_t stream = nullptr;
  warpgauge::Input<std::uint8_t> in;
  warpgauge::Output<std::uint32_t> bins, partial;

  explicit Histogram(const warpgauge::Size& size)
      : pixels(static_cast<int>(size[0])),
        in(*this, size.count()),
        bins(*this, imaging::kBins),
        partial(*this, imaging::kBins * imaging::histogram_blocks(pixels)) {}
  ~Histogram() override {
    if (stream != nullptr) cudaStreamDestroy(stream);
  }

  // Not in the constructor: the gate also makes problems without a device, to see their launches.
  void prepare() override {
    if (stream == nullptr) WARPGAUGE_CUDA(cudaStreamCreate(&stream));
  }

  void check(warpgauge::Comparison& comparison) const override {
    std::vector<std::uint32_t> expected(imaging::kBins);
    for (const std::uint8_t pixel : in.host()) ++expected[pixel];
    comparison.equal(bins, expected);
  }
};

WARPGAUGE_FAMILY(histogram) {
  family.problem<Histogram>("u8", {{65536}, {100001}}).variant("per_block", [](Histogram& p) {
    WARPGAUGE_CUDA(imaging::histogram(p.bins, p.partial, p.in, p.pixels, p.stream));
  });
}

}  // namespace
