// The occupancy that is computed from tables against what the CUDA runtime says of the device.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>

#include "metrics/architecture/occupancy.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::metrics::occupancy_gpu_test {
namespace {

template <int kFloats>
__global__ void keeps_registers(float* data) {
  float values[kFloats];
#pragma unroll
  for (int i = 0; i < kFloats; ++i) values[i] = data[i * blockDim.x + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kFloats; ++i) data[i * blockDim.x + threadIdx.x] = values[kFloats - 1 - i];
}

template <int kBytes>
__global__ void keeps_shared(float* data) {
  __shared__ float values[kBytes / sizeof(float)];
  values[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

std::string current_arch() {
  int device = 0, major = 0, minor = 0;
  WARPGAUGE_CUDA(cudaGetDevice(&device));
  WARPGAUGE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  WARPGAUGE_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

/// Compares blocks per multiprocessor over block sizes and dynamic shared memory.
void compare(void (*kernel)(float*), int barriers) {
  cudaFuncAttributes attributes{};
  WARPGAUGE_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  const Architecture& limits = architecture(current_arch());
  const int most_dynamic =
      static_cast<int>(limits.shared_per_block_opt_in - attributes.sharedSizeBytes);
  WARPGAUGE_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_dynamic));
  int compared = 0;
  for (int threads = 32; threads <= attributes.maxThreadsPerBlock; threads += 32) {
    for (int dynamic = 0; dynamic <= most_dynamic; dynamic += 5000) {
      int blocks = 0;
      WARPGAUGE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, kernel, threads, static_cast<std::size_t>(dynamic)));
      const Occupancy computed =
          occupancy(limits, {.threads = threads,
                             .registers_per_thread = attributes.numRegs,
                             .shared_static_bytes = attributes.sharedSizeBytes,
                             .shared_dynamic_bytes = static_cast<std::uint64_t>(dynamic),
                             .barriers = barriers});
      EXPECT_EQ(computed.blocks_per_multiprocessor, blocks)
          << threads << " threads, " << attributes.numRegs << " registers, "
          << attributes.sharedSizeBytes << " + " << dynamic << " bytes of shared memory";
      ++compared;
    }
  }
  EXPECT_GT(compared, 300);
}

class OccupancyGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
    }
  }
};

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  WARPGAUGE_CUDA(cudaGetDevice(&device));
  WARPGAUGE_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

/// Exact values for clusters are those that the device reports.
TEST_F(OccupancyGpu, AgreesOnClustersThatItCallsExact) {
  const Architecture& limits = architecture(current_arch());
  if (limits.major < 9) GTEST_SKIP() << "no clusters before compute capability 9.0";
  const auto kernel = keeps_registers<4>;
  cudaFuncAttributes attributes{};
  WARPGAUGE_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  const double most = static_cast<double>(attribute(cudaDevAttrMultiProcessorCount)) *
                      limits.max_threads_per_multiprocessor;
  int compared = 0;
  for (int threads = 32; threads <= 1024; threads += 32) {
    for (const unsigned cluster : {2u, 4u, 8u}) {
      cudaLaunchAttribute size{};
      size.id = cudaLaunchAttributeClusterDimension;
      size.val.clusterDim = {cluster, 1, 1};
      cudaLaunchConfig_t config{};
      config.gridDim = cluster;
      config.blockDim = threads;
      config.attrs = &size;
      config.numAttrs = 1;
      int clusters = 0;
      WARPGAUGE_CUDA(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
      const Occupancy computed = occupancy(limits, {.threads = threads,
                                                    .registers_per_thread = attributes.numRegs,
                                                    .barriers = 1,
                                                    .cluster_blocks = static_cast<int>(cluster)});
      if (!computed.doubt.empty()) continue;
      EXPECT_DOUBLE_EQ(computed.fraction, clusters * static_cast<double>(cluster) * threads / most)
          << "clusters of " << cluster << " blocks of " << threads << " threads";
      ++compared;
    }
  }
  EXPECT_EQ(compared, 32) << "clusters of two";
}

TEST_F(OccupancyGpu, AgreesForFewRegisters) { compare(keeps_registers<4>, 1); }
TEST_F(OccupancyGpu, AgreesForManyRegisters) { compare(keeps_registers<64>, 1); }
TEST_F(OccupancyGpu, AgreesForVeryManyRegisters) { compare(keeps_registers<160>, 1); }
TEST_F(OccupancyGpu, AgreesForStaticSharedMemory) { compare(keeps_shared<20000>, 1); }

}  // namespace
}  // namespace warpgauge::metrics::occupancy_gpu_test
