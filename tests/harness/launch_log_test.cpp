// Dry runs of the kernels in tests/faulty: what would be launched, without a GPU.
#include "harness/cases/launch_log.h"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/cases/device_code.h"
#include "harness/cases/registry.h"
#include "harness/measuring/compile_time_facts.h"
#include "metrics/machine_code/cubin.h"

namespace warpgauge::launch_log_test {
namespace {

using testing::HasSubstr;

const Case& case_called(const std::string& pattern) {
  return *Registry::instance().select({.filter = {pattern}}).at(0);
}

TEST(LaunchLog, DryRunSeesKernelAndShape) {
  const auto launches = dry_launches(case_called("faulty.good.*"));
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].kernel, "_ZN6faulty4copyEPfPKf");
  EXPECT_EQ(launches[0].launch.grid, (std::array<std::uint32_t, 3>{4, 1, 1}));
  EXPECT_EQ(launches[0].launch.block, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(launches[0].launch.count, 1u);
}

TEST(LaunchLog, SeesTheClustersThatALaunchAsksFor) {
  const LaunchLog log(LaunchLog::Mode::dry);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 2, 1};
  cudaLaunchConfig_t config{.gridDim = {4, 4, 1}, .blockDim = {32, 1, 1}};
  const char stub = 0;
  EXPECT_EQ(cudaLaunchKernelExC(&config, &stub, nullptr), cudaSuccess);
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelExC(&config, &stub, nullptr), cudaSuccess);
  ASSERT_EQ(log.launches().size(), 2u) << "launches of another shape";
  EXPECT_EQ(log.launches()[0].launch.cluster, metrics::kNoCluster);
  EXPECT_EQ(log.launches()[1].launch.cluster, (std::array<std::uint32_t, 3>{2, 2, 1}));
}

TEST(LaunchLog, DryRunEndsWithItsLog) {
  EXPECT_FALSE(is_dry_run());
  {
    const LaunchLog log(LaunchLog::Mode::dry);
    EXPECT_TRUE(is_dry_run());
    EXPECT_THROW(LaunchLog(LaunchLog::Mode::dry), std::logic_error);
  }
  EXPECT_FALSE(is_dry_run());
}

TEST(LaunchLog, ACaseThatLaunchesNothingIsAFault) {
  EXPECT_THROW(
      {
        try {
          dry_launches(case_called("faulty.no_launch.*"));
        } catch (const std::runtime_error& error) {
          EXPECT_THAT(error.what(), HasSubstr("faulty.no_launch.f32@1024 launches no kernel"));
          throw;
        }
      },
      std::runtime_error);
}

TEST(DeviceCode, ThisProgramFindsItsCubins) {
  for (const std::string& arch : built_archs()) {
    const EmbeddedCubin* cubin = find_cubin("_ZN6faulty4copyEPfPKf", arch);
    ASSERT_NE(cubin, nullptr) << arch;
    const std::string hash = metrics::Cubin(cubin->image).sass_hash("_ZN6faulty4copyEPfPKf");
    EXPECT_EQ(hash.size(), 16u);
    EXPECT_EQ(sass_hash("_ZN6faulty4copyEPfPKf", arch), hash);
    EXPECT_EQ(sass_hash("_ZN6faulty4copyEPfPKf", arch), hash) << "the second time too";
  }
  EXPECT_EQ(find_cubin("_ZN6faulty4copyEPfPKf", "sm_1"), nullptr);
  EXPECT_EQ(find_cubin("no_such_kernel", "sm_90"), nullptr);
  EXPECT_EQ(sass_hash("no_such_kernel", "sm_90"), "");
}

}  // namespace
}  // namespace warpgauge::launch_log_test
