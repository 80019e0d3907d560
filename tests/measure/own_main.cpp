// A program of warpgauge_add_gtest() with a main() of its own, which replaces
// warpgauge's.
#include <cstdio>

#include "tests/measure/kernels.h"
#include "warpgauge/measure.h"

int main() {
  warpgauge::prepare_to_measure();
  if (const std::string why = warpgauge::why_nothing_is_measured(); !why.empty()) {
    std::puts(why.c_str());
    return 77;  // skipped
  }
  warpgauge::name_measurements("Own", "Main");
  measured::copy_tile(32, false);  // launched before anything is measured
  const auto cost = warpgauge::measure([] { measured::copy_tile(32, false); });
  std::fputs(cost.str().c_str(), stdout);
  const bool right = cost["shared.bank_conflicts"] == 32 * 31 &&
                     cost.line("shared.bank_conflicts").starts_with("tests/measure/kernels.cu:");
  return right ? 0 : 1;
}
