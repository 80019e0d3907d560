// Gauges imaging::tone_map and imaging::expose_all, from a library with separable compilation: one
// kernel calls a function of another source file, the other does not.
#include "imaging/imaging.h"
#include "warpgauge/warpgauge.h"

namespace {

struct Tones : warpgauge::Problem {
  static constexpr int kWhich = 2;  // twice as bright
  warpgauge::InOut<float> pixels;

  explicit Tones(const warpgauge::Size& size) : pixels(*this, size.count()) {}
  int count() const { return static_cast<int>(pixels.count()); }
};

struct Map : Tones {
  using Tones::Tones;
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<double> expected;
    for (const float pixel : pixels.initial()) expected.push_back(2.0 * pixel / (1 + 2.0 * pixel));
    comparison.close(pixels, expected, 1e-5);
  }
};

struct Expose : Tones {
  using Tones::Tones;
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected = pixels.initial();
    for (float& pixel : expected) pixel *= 2;
    comparison.equal(pixels, expected);
  }
};

WARPGAUGE_FAMILY(tones) {
  family.problem<Map>("f32", {{65536}, {1001}}).variant("mapped", [](Map& p) {
    WARPGAUGE_CUDA(imaging::tone_map(p.pixels, Tones::kWhich, p.count(), nullptr));
  });
  family.problem<Expose>("f32", {{65536}}).variant("exposed", [](Expose& p) {
    WARPGAUGE_CUDA(imaging::expose_all(p.pixels, Tones::kWhich, p.count(), nullptr));
  });
}

}  // namespace
