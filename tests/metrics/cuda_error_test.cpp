// CUDA errors with place, name and remedy. Needs no GPU.
#include "warpgauge/cuda_error.h"

#include <gmock/gmock.h>

#include <source_location>
#include <string>

namespace warpgauge::metrics::cuda_error_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string message_of(cudaError_t code) {
  try {
    check_cuda(code, "cudaMalloc(&p, n)");
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "";
}

TEST(CudaErrors, SuccessThrowsNothing) { EXPECT_NO_THROW(WARPGAUGE_CUDA(cudaSuccess)); }

TEST(CudaErrors, SayWhereWhatAndWhy) {
  const std::string message = message_of(cudaErrorMemoryAllocation);
  EXPECT_THAT(message, HasSubstr("cuda_error_test.cpp:"));
  EXPECT_THAT(message, HasSubstr(": cudaMalloc(&p, n) failed: cudaErrorMemoryAllocation: out of "
                                 "memory. The GPU's memory"));
}

TEST(CudaErrors, TheFailureIsTheMessageWithoutTheRemedy) {
  for (const cudaError_t code : {cudaErrorMemoryAllocation, cudaErrorNotReady}) {
    const CudaError error(code, "cudaMalloc(&p, n)", std::source_location::current());
    const std::string remedy(cuda_remedy(code));
    EXPECT_THAT(error.failure(), EndsWith(cuda_error_text(code)));
    EXPECT_EQ(error.what(), std::string(error.failure()) + (remedy.empty() ? "" : ". " + remedy));
  }
}

TEST(CudaErrors, MacroNamesTheCall) {
  try {
    WARPGAUGE_CUDA(static_cast<cudaError_t>(cudaErrorNotReady));
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_THAT(error.what(), HasSubstr("static_cast<cudaError_t>(cudaErrorNotReady) failed: "));
  }
}

TEST(CudaErrors, CommonOnesHaveARemedy) {
  for (const cudaError_t code :
       {cudaErrorInsufficientDriver, cudaErrorNoDevice, cudaErrorMemoryAllocation,
        cudaErrorInvalidConfiguration, cudaErrorInvalidValue, cudaErrorLaunchOutOfResources}) {
    EXPECT_FALSE(cuda_remedy(code).empty()) << cudaGetErrorName(code);
  }
  EXPECT_THAT(message_of(cudaErrorNoKernelImageForDevice), HasSubstr("CMAKE_CUDA_ARCHITECTURES"));
  EXPECT_THAT(message_of(cudaErrorInsufficientDriver), HasSubstr("580.65"));
}

}  // namespace
}  // namespace warpgauge::metrics::cuda_error_test
