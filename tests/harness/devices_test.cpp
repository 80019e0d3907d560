// What is said where there is no device, or none that can be used.
#include "harness/devices.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "warpgauge/cuda_error.h"

namespace warpgauge::devices_test {
namespace {

TEST(WhyNoDevice, IsEmptyWhereThereIsOne) { EXPECT_EQ(why_no_device(cudaSuccess, 1, true), ""); }

TEST(WhyNoDevice, NamesNoReasonWhereADriverSeesNone) {
  EXPECT_EQ(why_no_device(cudaSuccess, 0, true), "no CUDA device here");
  EXPECT_EQ(why_no_device(cudaErrorNoDevice, 0, true), "no CUDA device here");
}

TEST(WhyNoDevice, SaysThatThereIsNoDriver) {
  EXPECT_EQ(why_no_device(cudaErrorInsufficientDriver, 0, false),
            "no CUDA device here (no NVIDIA driver)");
}

TEST(WhyNoDevice, ThrowsForADriverThatIsTooOld) {
  EXPECT_THROW(why_no_device(cudaErrorInsufficientDriver, 0, true), metrics::CudaError);
}

TEST(WhyNoDevice, ThrowsForADeviceThatCannotBeUsed) {
  EXPECT_THROW(why_no_device(cudaErrorUnknown, 0, false), metrics::CudaError);
}

TEST(WhyNoDevice, LooksForTheDriverOfThisMachine) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a driver";
  EXPECT_EQ(why_no_device(), "no CUDA device here (no NVIDIA driver)");
}

}  // namespace
}  // namespace warpgauge::devices_test
