// Gauges imaging::normalise, which changes its pixels in place: InOut restores them before each
// run.
#include "imaging/imaging.h"
#include "warpgauge/warpgauge.h"

namespace {

constexpr float kDivisor = 3;

struct Normalise : warpgauge::Problem {
  warpgauge::InOut<float> pixels;

  explicit Normalise(const warpgauge::Size& size) : pixels(*this, size.count()) {}

  void check(warpgauge::Comparison& comparison) const override {
    std::vector<float> expected = pixels.initial();
    for (float& pixel : expected) pixel /= kDivisor;
    comparison.equal(pixels, expected);  // division is correctly rounded
  }
};

// Without a reference: the gate judges the cost of a run, not its result.
struct Unchecked : Normalise {
  using Normalise::Normalise;
  void check(warpgauge::Comparison& comparison) const override { comparison.counts_only(); }
};

void launch(Normalise& p) {
  WARPGAUGE_CUDA(
      imaging::normalise(p.pixels, kDivisor, static_cast<int>(p.pixels.count()), nullptr));
}

WARPGAUGE_FAMILY(normalise) {
  family.problem<Normalise>("f32", {{65536}, {1001}}).variant("in_place", launch);
  family.problem<Unchecked>("f32", {{4096}}).variant("unchecked", launch);
}

}  // namespace
