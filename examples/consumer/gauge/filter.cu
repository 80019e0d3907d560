// Gauges imaging::filter_rows: a template, with weights in constant memory.
#include "imaging/imaging.h"
#include "warpgauge/warpgauge.h"

namespace {

constexpr float kWeights[imaging::kTaps] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};

template <typename Pixel>
struct Filter : warpgauge::Problem {
  const int height, width;
  warpgauge::Input<Pixel> in;
  warpgauge::Output<float> out;

  explicit Filter(const warpgauge::Size& size)
      : height(static_cast<int>(size[0])),
        width(static_cast<int>(size[1])),
        in(*this, size.count()),
        out(*this, size.count()) {}

  void prepare() override { WARPGAUGE_CUDA(imaging::set_taps(kWeights)); }

  void check(warpgauge::Comparison& comparison) const override {
    std::vector<double> expected(in.count());
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int tap = 0; tap < imaging::kTaps; ++tap) {
          const int from = x + tap - imaging::kTaps / 2;
          if (from < 0 || from >= width) continue;
          expected[y * width + x] += double(kWeights[tap]) * in.host()[y * width + from];
        }
      }
    }
    comparison.close(out, expected, 1e-6);  // seven roundings of 2^-24
  }
};

template <typename Pixel>
void launch(Filter<Pixel>& p) {
  WARPGAUGE_CUDA(imaging::filter_rows<Pixel>(p.out, p.in, p.width, p.height, nullptr));
}

WARPGAUGE_FAMILY(filter) {
  const std::vector<warpgauge::Size> sizes = {{64, 1024}, {17, 1000}};
  family.problem<Filter<float>>("f32", sizes).variant("rows", launch<float>);
  family.problem<Filter<std::uint8_t>>("u8", sizes).variant("rows", launch<std::uint8_t>);
}

}  // namespace
