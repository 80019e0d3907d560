// Files of the toolkit and of the user, by their paths.
#include "metrics/source_line.h"

#include <gtest/gtest.h>

namespace warpgauge::metrics {
namespace {

TEST(ToolkitHeader, LiesWhereverAToolkitIsInstalled) {
  for (const char* path :
       {"/usr/local/cuda/include/cuda_fp16.hpp", "/usr/local/cuda-13.0/include/crt/mma.hpp",
        "/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_32_intrinsics.hpp",
        "/usr/local/cuda-12.8/targets/sbsa-linux/include/cccl/cub/cub.cuh",
        "/opt/conda/targets/x86_64-linux/include/cuda_runtime.h",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/25.1/cuda/12.6/include/cuda_fp16.hpp",
        "/home/me/gauge/build/cuda/nvidia/cu13/include/cuda_bf16.hpp",
        "/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/include/cuda_fp16.hpp",
        "/usr/include/cuda_fp16.hpp", "/usr/include/x86_64-linux-gnu/bits/math.h",
        "/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h"}) {
    EXPECT_TRUE(is_toolkit_header(path)) << path;
  }
}

TEST(ToolkitHeader, IsNoFileOfAProject) {
  for (const char* path :
       {"/home/me/kernels/transpose/family.cu", "/home/me/cuda/kernels/family.cu",
        "/home/me/cuda_kernels/include/tile.h", "/home/me/cuda/src/include/tile.h",
        "/home/me/cuda-samples/include/helper.h", "/usr/src/warpgauge/tile.h", "include/tile.h",
        "tile.h", ""}) {
    EXPECT_FALSE(is_toolkit_header(path)) << path;
  }
}

}  // namespace
}  // namespace warpgauge::metrics
