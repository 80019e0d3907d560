// The meaning of NVML's bits, and the message where there is no NVML.
#include "metrics/cupti/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "metrics/cupti/cupti.h"

namespace warpgauge::metrics::nvml_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Throttling, IdleAndChosenClocksAreNone) {
  EXPECT_THAT(throttling_from(0), IsEmpty());
  EXPECT_THAT(throttling_from(0x1), IsEmpty());    // idle
  EXPECT_THAT(throttling_from(0x2), IsEmpty());    // application clocks
  EXPECT_THAT(throttling_from(0x100), IsEmpty());  // display clocks
}

TEST(Throttling, EachCauseHasOneWord) {
  EXPECT_THAT(throttling_from(0x4), ElementsAre("power cap"));
  EXPECT_THAT(throttling_from(0x20 | 0x40), ElementsAre("thermal slowdown"));
  EXPECT_THAT(throttling_from(0x8 | 0x10 | 0x80),
              ElementsAre("hardware slowdown", "sync boost", "external power brake"));
}

TEST(NvmlMonitor, SaysWhyAMissingGpuHasNoState) {
  try {
    const NvmlMonitor monitor("ffff:ff:1f.0");
    FAIL() << "there is such a GPU";
  } catch (const Unmeasured& unmeasured) {
    EXPECT_NE(std::string(unmeasured.what()).find("NVML"), std::string::npos);
  }
}

}  // namespace
}  // namespace warpgauge::metrics::nvml_test
