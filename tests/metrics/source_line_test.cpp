// Tells files of the toolkit by their paths, and blames a line of a chain of inlined calls.
#include "metrics/base/source_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace warpgauge::metrics::source_line_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ToolkitHeader, LiesWhereverAToolkitIsInstalled) {
  for (const char* path :
       {"/usr/local/cuda/include/cuda_fp16.hpp", "/usr/local/cuda-13.0/include/crt/mma.hpp",
        "/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_32_intrinsics.hpp",
        "/usr/local/cuda-12.8/targets/sbsa-linux/include/cccl/cub/cub.cuh",
        "/opt/conda/targets/x86_64-linux/include/cuda_runtime.h",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/25.1/cuda/12.6/include/cuda_fp16.hpp",
        "/home/me/gauge/build/cuda/nvidia/cu13/include/cuda_bf16.hpp",
        "/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/include/cuda_fp16.hpp",
        "/usr/include/cuda_fp16.hpp", "/usr/local/include/cutlass/cutlass.h",
        "/usr/include/x86_64-linux-gnu/bits/math.h",
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

const Frame kToolkit = {"/usr/include/atomic.h", 90, true};
const Frame kOwn = {"own.h", 20, false};
const Frame kKernel = {"a.cu", 7, false};

SourceLine blamed(std::initializer_list<Frame> chain) { return line_to_blame(std::vector(chain)); }

TEST(LineToBlame, IsTheFirstOutsideOfTheToolkit) {
  EXPECT_EQ(blamed({kKernel}), (SourceLine{"a.cu", 7}));
  EXPECT_EQ(blamed({kOwn, kKernel}), (SourceLine{"own.h", 20, {{"own.h", 20}, {"a.cu", 7}}}));
  EXPECT_EQ(blamed({kToolkit, kKernel}),
            (SourceLine{"a.cu", 7, {{"/usr/include/atomic.h", 90}, {"a.cu", 7}}}));
}

TEST(LineToBlame, IsTheInnermostIfAllAreInTheToolkit) {
  const Frame caller = {"/usr/include/reduce.h", 5, true};
  EXPECT_EQ(blamed({kToolkit}), (SourceLine{"/usr/include/atomic.h", 90}));
  EXPECT_EQ(blamed({kToolkit, caller}),
            (SourceLine{"/usr/include/atomic.h",
                        90,
                        {{"/usr/include/atomic.h", 90}, {"/usr/include/reduce.h", 5}}}));
}

TEST(LineToBlame, IsNoLineWithoutAChain) { EXPECT_EQ(blamed({}), SourceLine()); }

const Frame kOtherToolkit = {"/usr/include/atomic.h", 91, true};
const Frame kOtherKernel = {"a.cu", 8, false};

TEST(CommonChain, OfEqualChainsIsTheWholeChain) {
  const SourceLine line = blamed({kToolkit, kOwn, kKernel});
  EXPECT_EQ(common_chain(line, line), line.inlined);
}

TEST(CommonChain, EndsWhereTheChainsDiffer) {
  const SourceLine line = blamed({kToolkit, kOwn, kKernel});
  EXPECT_THAT(common_chain(line, blamed({kOtherToolkit, kOwn, kKernel})),
              ElementsAre(CallSite{"own.h", 20}, CallSite{"a.cu", 7}));
  EXPECT_THAT(common_chain(line, blamed({kToolkit, kOwn, kOtherKernel})),
              ElementsAre(CallSite{"/usr/include/atomic.h", 90}, CallSite{"own.h", 20}));
}

TEST(CommonChain, IsEmptyIfOnlyTheLineIsCommon) {
  const SourceLine line = blamed({kToolkit, kOwn, kKernel});
  EXPECT_THAT(common_chain(line, blamed({kOwn, kOtherKernel})), IsEmpty());
  EXPECT_THAT(common_chain(line, blamed({kOwn})), IsEmpty()) << "this one was not inlined";
}

}  // namespace
}  // namespace warpgauge::metrics::source_line_test
