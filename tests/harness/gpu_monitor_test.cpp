// Disturbances that make times unfit for budgets.
#include "harness/measuring/gpu_monitor.h"

#include <gtest/gtest.h>

namespace warpgauge::gpu_monitor_test {
namespace {

TEST(Disturbance, IsNothingOnAQuietMachine) {
  EXPECT_EQ(disturbance({.other_processes = 0}), "");
  EXPECT_EQ(disturbance({}), "");  // no NVML: no known disturbance
}

TEST(Disturbance, NamesEveryCause) {
  EXPECT_EQ(disturbance({.other_processes = 1}), "1 other process uses the GPU");
  EXPECT_EQ(disturbance({.throttling = {"power cap", "thermal slowdown"}, .other_processes = 2}),
            "clocks were lowered (power cap, thermal slowdown); 2 other processes use the GPU");
}

}  // namespace
}  // namespace warpgauge::gpu_monitor_test
