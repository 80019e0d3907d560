// Launches through the emulated runtime: parameters, symbols, attributes, and every way to fail.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "harness/emulator/emulator.h"
#include "harness/emulator/runtime/state.h"
#include "harness/runtime.h"
#include "metrics/counting/line_counts.h"
#include "tests/emulator/runtime_test.h"
#include "tests/metrics/fat_binary_wrapper.h"

namespace warpgauge::emulator::runtime::runtime_kernel_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// add(int* out, short step, long long base): out[i] = base + i * step + offset, with a __constant__
// offset. fault(int* p): writes p[tid]. bounded: __launch_bounds__(64). shared: 1 KiB of static and
// any dynamic shared memory.
const std::string kPtx = kPtxHead + R"(
.visible .const .align 4 .b8 offset[8] = {5, 0, 0, 0, 7, 0, 0, 0};
.visible .global .align 4 .u32 counter = 3;
.global .attribute(.managed) .align 4 .u32 common = 11;
.extern .shared .align 16 .b8 dynamic[];

.visible .entry add(.param .u64 out, .param .u16 step, .param .u64 base)
{
  .reg .b16 %h<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.s16 %h1, [step];
  ld.param.u64 %rd2, [base];
  mov.u32 %r1, %tid.x;
  cvt.s32.s16 %r2, %h1;
  mul.lo.s32 %r3, %r1, %r2;
  ld.const.u32 %r4, [offset];
  add.s32 %r3, %r3, %r4;
  cvt.u32.u64 %r5, %rd2;
  add.s32 %r3, %r3, %r5;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  st.global.u32 [%rd4], %r3;
  ret;
}
.visible .entry fault(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
.visible .entry stop() { trap; }
.visible .entry no_such_barrier() { bar.sync 16; ret; }
.visible .entry waits() { bar.sync 1, 64; ret; }
.func down() { call down; ret; }
.visible .entry recurses() { call down; ret; }
.extern .func __assertfail(
  .param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 text[2] = {97, 0};
.visible .entry asserts()
{
  .reg .b64 %rd<2>;
  .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd1, %rd1;
  st.param.b64 [a], %rd1;
  st.param.b64 [b], %rd1;
  st.param.b32 [c], 1;
  st.param.b64 [d], %rd1;
  st.param.b64 [e], 1;
  call __assertfail, (a, b, c, d, e);
  ret;
}
.visible .entry in_pairs() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry bounded() .maxntid 64, 1, 1 { ret; }
.visible .entry shared()
{
  .shared .align 4 .b8 fixed[1024];
  .reg .b32 %r<2>;
  mov.u32 %r1, dynamic;
  st.shared.u32 [%r1], 1;
  st.shared.u32 [fixed], 1;
  ret;
}
)";

class RuntimeKernelTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory_), kThreads * sizeof(int)), cudaSuccess);
  }

  cudaError_t launch(const std::string& name, dim3 grid = 1, dim3 block = 32,
                     std::size_t shared_bytes = 0) {
    void* arguments[] = {&memory_, nullptr, nullptr};
    return cudaLaunchKernel(module_.kernel(name), grid, block, arguments, shared_bytes, nullptr);
  }

  static constexpr int kThreads = 32;
  int* memory_ = nullptr;
  TestModule module_{kPtx};
};

TEST_F(RuntimeKernelTest, ParametersOfAllWidthsArrive) {
  short step = -3;
  long long base = 1000;
  void* arguments[] = {&memory_, &step, &base};
  ASSERT_EQ(cudaLaunchKernel(module_.kernel("add"), 1, kThreads, arguments, 0, nullptr),
            cudaSuccess);
  std::vector<int> out(kThreads);
  ASSERT_EQ(cudaMemcpy(out.data(), memory_, kThreads * sizeof(int), cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(out[i], 1000 - 3 * i + 5);
}

TEST_F(RuntimeKernelTest, StoresAreCountedByTheRules) {
  take_counts();
  ASSERT_EQ(launch("fault"), cudaSuccess);
  ASSERT_EQ(launch("fault"), cudaSuccess);
  const auto lines = take_counts();
  metrics::Counts sum;
  for (const auto& line : lines) {
    EXPECT_EQ(line.kernel, "fault");
    sum += line.counts;
  }
  // 32 lanes x 4 bytes from an aligned address: four sectors of 32 bytes, twice.
  EXPECT_EQ(sum.global_store_requests, 2u);
  EXPECT_EQ(sum.global_store_sectors, 8u);
  EXPECT_EQ(sum.instructions, 2u * 6);
  EXPECT_TRUE(take_counts().empty());
}

TEST_F(RuntimeKernelTest, SymbolsAreReadAndWrittenByTheirShadows) {
  const void* const counter = module_.variable("counter", 4);
  const void* const offset = module_.variable("offset", 8);
  int value = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&value, counter, 4, 0, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 3);
  ASSERT_EQ(cudaMemcpyFromSymbol(&value, offset, 4, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 7);

  value = 100;
  ASSERT_EQ(cudaMemcpyToSymbol(offset, &value, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
  short step = 0;
  long long base = 0;
  void* arguments[] = {&memory_, &step, &base};
  ASSERT_EQ(cudaLaunchKernel(module_.kernel("add"), 1, 1, arguments, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&value, memory_, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 100);

  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, offset), cudaSuccess);
  EXPECT_EQ(bytes, 8u);
  void* address = nullptr;
  ASSERT_EQ(cudaGetSymbolAddress(&address, counter), cudaSuccess);
  ASSERT_EQ(cudaMemset(address, 0, 4), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(&value, counter, 4, 0, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 0);
}

TEST_F(RuntimeKernelTest, SymbolsThatAreNoneOrTooSmallAreRefused) {
  const void* const counter = module_.variable("counter", 4);
  int value[2] = {};
  EXPECT_EQ(cudaMemcpyFromSymbol(value, value, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyFromSymbol(value, counter, 8, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(counter, value, 4, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(counter, value, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(value, module_.variable("optimised_away", 4), 4, 0,
                                 cudaMemcpyDeviceToHost),
            cudaErrorInvalidSymbol);
}

TEST_F(RuntimeKernelTest, ManagedVariablesAreThereBeforeTheFirstLaunch) {
  int* common = nullptr;
  __cudaRegisterManagedVar(module_.handle(), reinterpret_cast<void**>(&common), nullptr, "common",
                           0, 4, 0, 0);
  EXPECT_NE(__cudaInitModule(module_.handle()), 0);
  ASSERT_NE(common, nullptr);
  EXPECT_EQ(*common, 11);
}

TEST_F(RuntimeKernelTest, LaunchesThatNoGpuTakesAreRefused) {
  EXPECT_EQ(launch("fault", 1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch("fault", 0, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch("fault", 1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch("fault", 1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch("fault", dim3(1, 65536), 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch("bounded", 1, 65), cudaErrorInvalidValue);
  EXPECT_EQ(launch("bounded", 1, 64), cudaSuccess);
  EXPECT_EQ(launch("missing"), cudaErrorInvalidDeviceFunction);
  int own = 0;
  EXPECT_EQ(cudaLaunchKernel(&own, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(module_.kernel("fault"), 1, 1, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  // No such error is sticky.
  cudaGetLastError();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(RuntimeKernelTest, MoreThan48KibOfSharedMemoryAreAskedForFirst) {
  const std::size_t most = 48 * 1024 - 1024;  // beside the static kibibyte
  EXPECT_EQ(launch("shared", 1, 1, most), cudaSuccess);
  EXPECT_EQ(launch("shared", 1, 1, most + 1), cudaErrorInvalidValue);
  const void* const stub = module_.kernel("shared");
  const auto opt_in = [&](int bytes) {
    return cudaFuncSetAttribute(stub, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  EXPECT_EQ(opt_in(227 * 1024), cudaErrorInvalidValue);
  ASSERT_EQ(opt_in(226 * 1024), cudaSuccess);
  EXPECT_EQ(launch("shared", 1, 1, 226 * 1024), cudaSuccess);

  cudaFuncAttributes attributes{};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, stub), cudaSuccess);
  EXPECT_EQ(attributes.sharedSizeBytes, 1024u);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 226 * 1024);
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, module_.kernel("bounded")), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 64);
}

TEST_F(RuntimeKernelTest, OccupancyFollowsTheTable) {
  int blocks = 0;
  // 2048 threads of a multiprocessor of sm_90 are 8 blocks of 256.
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, module_.kernel("fault"), 256, 0),
            cudaSuccess);
  EXPECT_EQ(blocks, 8);
  // 228 KiB hold one block of 100 + 1 (static) + 1 (the system's) KiB twice.
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, module_.kernel("shared"), 32,
                                                          100 * 1024),
            cudaSuccess);
  EXPECT_EQ(blocks, 2);
}

TEST_F(RuntimeKernelTest, CooperativeGridsMustFit) {
  void* arguments[] = {&memory_};
  const void* const stub = module_.kernel("fault");
  EXPECT_EQ(cudaLaunchCooperativeKernel(stub, 132 * 2, kThreads, arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchCooperativeKernel(stub, 132 * 2 + 1, 1024, arguments, 0, nullptr),
            cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(RuntimeKernelTest, ExtendedLaunchesTakeAttributesOrRefuseThem) {
  void* arguments[] = {&memory_};
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = kThreads;
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  EXPECT_EQ(cudaLaunchKernelExC(&config, module_.kernel("fault"), arguments), cudaSuccess);
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  EXPECT_EQ(cudaLaunchKernelExC(&config, module_.kernel("fault"), arguments),
            cudaErrorInvalidClusterSize)
      << "a grid of 1 block";
  config.gridDim = 2;
  EXPECT_EQ(cudaLaunchKernelExC(&config, module_.kernel("fault"), arguments), cudaSuccess);
}

TEST_F(RuntimeKernelTest, LargeClustersAreAllowedByAnAttribute) {
  void* arguments[] = {&memory_};
  const void* const stub = module_.kernel("fault");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 16;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 16;
  config.blockDim = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int most = 0, clusters = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaLaunchKernelExC(&config, stub, arguments), cudaErrorInvalidClusterSize);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("clusters of 16 blocks: at most 8 are possible, 16 after "
                        "cudaFuncAttributeNonPortableClusterSizeAllowed"));
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&most, stub, &config), cudaSuccess);
  EXPECT_EQ(most, 8);
  ASSERT_EQ(cudaFuncSetAttribute(stub, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&most, stub, &config), cudaSuccess);
  EXPECT_EQ(most, 16);
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&clusters, stub, &config), cudaSuccess);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub, 1, 0), cudaSuccess);
  EXPECT_EQ(clusters, blocks * 132 / 16);
  EXPECT_EQ(cudaLaunchKernelExC(&config, stub, arguments), cudaSuccess);
  attribute.val.clusterDim.x = config.gridDim.x = 32;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaLaunchKernelExC(&config, stub, arguments), cudaErrorInvalidClusterSize);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              EndsWith("clusters of 32 blocks: at most 16 are possible\n"));
}

/// A launch of blocks of so many threads in clusters.
struct ClusterLaunch {
  explicit ClusterLaunch(dim3 cluster, dim3 block = 1) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
    config.gridDim = cluster;
    config.blockDim = block;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;

  /// How many clusters fit on the GPU; 0: the call fails.
  int clusters(const void* stub) const {
    int clusters = 0;
    cudaOccupancyMaxActiveClusters(&clusters, stub, &config);
    return clusters;
  }

  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
};

TEST_F(RuntimeKernelTest, ClustersHaveBlocksAndThreadsInAllDimensions) {
  // 2048 threads of a multiprocessor are 8 blocks of 256.
  constexpr int kBlocks = 8 * 132;
  const dim3 block(16, 4, 4);
  const void* const stub = module_.kernel("fault");
  EXPECT_EQ(ClusterLaunch({1, 2, 2}, block).clusters(stub), kBlocks / 4);
  EXPECT_EQ(ClusterLaunch({2, 2, 1}, block).clusters(stub), kBlocks / 4);
  EXPECT_EQ(ClusterLaunch({1, 3, 3}, block).clusters(stub), 0) << "9 blocks are too many";
  EXPECT_EQ(ClusterLaunch({1, 0, 1}, block).clusters(stub), 0);
}

TEST_F(RuntimeKernelTest, TheOccupancyOfClustersNeedsNoAttributes) {
  ClusterLaunch launch({1, 1, 1}, 256);
  launch.config.attrs = nullptr;
  const void* const stub = module_.kernel("fault");
  EXPECT_EQ(launch.clusters(stub), 0) << "one attribute is announced";
  launch.config.numAttrs = 0;
  EXPECT_EQ(launch.clusters(stub), 8 * 132);
  void* arguments[] = {&memory_};
  launch.config.blockDim = kThreads;
  EXPECT_EQ(cudaLaunchKernelExC(&launch.config, stub, arguments), cudaSuccess);
  launch.config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelExC(&launch.config, stub, arguments), cudaErrorInvalidValue);
  int count = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&count, stub, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(nullptr, stub, nullptr), cudaErrorInvalidValue);
}

TEST_F(RuntimeKernelTest, AKernelCompiledForClustersHasNoOthers) {
  const void* const stub = module_.kernel("in_pairs");
  ClusterLaunch launch({2, 1, 1}, 256);
  EXPECT_EQ(launch.clusters(stub), 8 * 132 / 2);
  launch.attribute.id = cudaLaunchAttributeCooperative;
  EXPECT_EQ(launch.clusters(stub), 8 * 132 / 2) << "the launch sets none";
  testing::internal::CaptureStderr();
  EXPECT_EQ(ClusterLaunch({4, 1, 1}).clusters(stub), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("(__cluster_dims__)"));
}

TEST_F(RuntimeKernelTest, OlderArchitecturesHaveNoClusters) {
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  emulate_arch("sm_80");
  TestModule older({{.arch = 80,
                     .text = ".version 8.5\n.target sm_80\n.address_size 64\n"
                             ".visible .entry empty() { ret; }\n"}});
  const void* const stub = older.kernel("empty");
  const ClusterLaunch pairs({2, 1, 1});
  int most = 0;
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&most, stub, &pairs.config), cudaSuccess);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(pairs.clusters(stub), 0);
  EXPECT_GT(ClusterLaunch({1, 1, 1}).clusters(stub), 0);
}

TEST_F(RuntimeKernelTest, AResetTakesTheAttributesOfFunctionsBack) {
  const void* const stub = module_.kernel("fault");
  cudaFuncAttributes before, after;
  ASSERT_EQ(cudaFuncGetAttributes(&before, stub), cudaSuccess);
  for (const auto& [attribute, value] :
       std::map<cudaFuncAttribute, int>{{cudaFuncAttributeMaxDynamicSharedMemorySize, 1000},
                                        {cudaFuncAttributePreferredSharedMemoryCarveout, 50},
                                        {cudaFuncAttributeNonPortableClusterSizeAllowed, 1},
                                        {cudaFuncAttributeClusterSchedulingPolicyPreference,
                                         cudaClusterSchedulingPolicyLoadBalancing}}) {
    ASSERT_EQ(cudaFuncSetAttribute(stub, attribute, value), cudaSuccess) << attribute;
  }
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaFuncGetAttributes(&after, stub), cudaSuccess);
  EXPECT_EQ(after.maxDynamicSharedSizeBytes, before.maxDynamicSharedSizeBytes);
  EXPECT_EQ(after.preferredShmemCarveout, before.preferredShmemCarveout);
  EXPECT_EQ(after.nonPortableClusterSizeAllowed, before.nonPortableClusterSizeAllowed);
  EXPECT_EQ(after.clusterSchedulingPolicyPreference, before.clusterSchedulingPolicyPreference);
}

TEST_F(RuntimeKernelTest, LaterCallsReturnAFaultUntilTheReset) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch("fault", 1, kThreads + 1), cudaSuccess) << "launches do not wait";
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cudaMalloc"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "no call has waited yet";
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress) << "it stays";
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(launch("fault", 1, 1), cudaErrorIllegalAddress);
  const auto faults = take_faults();
  ASSERT_EQ(faults.size(), 1u) << "launches that fail because of it are none of their own";
  EXPECT_EQ(faults[0].kernel, "fault");
  EXPECT_THAT(faults[0].text, HasSubstr("kernel fault, block (0,0,0)"));
  EXPECT_EQ(faults[0].source, metrics::SourceLine()) << "the code has no line information";
  EXPECT_THAT(take_faults(), ::testing::IsEmpty());
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess) << "does not reach the device";
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&more, 4), cudaSuccess);
}

TEST_F(RuntimeKernelTest, FaultsHaveTheErrorsOfCuda) {
  memory_ = reinterpret_cast<int*>(reinterpret_cast<std::uintptr_t>(memory_) + 2);
  ASSERT_EQ(launch("fault", 1, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  for (const auto& [kernel, error] :
       std::map<std::string, cudaError_t>{{"stop", cudaErrorLaunchFailure},
                                          {"no_such_barrier", cudaErrorIllegalInstruction},
                                          {"asserts", cudaErrorAssert},
                                          {"recurses", cudaErrorHardwareStackError},
                                          {"waits", cudaErrorLaunchTimeout}}) {
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    ASSERT_EQ(launch(kernel), cudaSuccess) << kernel;
    EXPECT_EQ(cudaStreamSynchronize(nullptr), error) << kernel;
  }
}

TEST_F(RuntimeKernelTest, TheConfigurationOfALaunchIsTakenOnce) {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(1, 2, 3), dim3(4, 5, 6), 7, nullptr), 0u);
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
  EXPECT_EQ(grid.z, 3u);
  EXPECT_EQ(block.y, 5u);
  EXPECT_EQ(shared_bytes, 7u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream),
            cudaErrorMissingConfiguration);
}

TEST_F(RuntimeKernelTest, CodeForAnotherArchitectureNamesTheFlag) {
  TestModule older({{.arch = 75,
                     .text = ".version 8.5\n.target sm_75\n.address_size 64\n"
                             ".visible .entry empty() { ret; }\n"}});
  const void* const stub = older.kernel("empty");
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaLaunchKernel(stub, 1, 1, nullptr, 0, nullptr), cudaErrorNoKernelImageForDevice);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("it holds PTX for sm_75"));
  EXPECT_THAT(said, HasSubstr("-gencode arch=compute_90,code=[compute_90,sm_90]"));

  State::instance().older_ptx = true;
  EXPECT_EQ(cudaLaunchKernel(stub, 1, 1, nullptr, 0, nullptr), cudaSuccess);
  State::instance().older_ptx = false;
}

TEST_F(RuntimeKernelTest, HostMemoryRegisteredForReadingIsOnlyRead) {
  std::vector<int> own(64);
  const auto write = [&](void* memory, unsigned flags) {
    EXPECT_EQ(cudaHostRegister(memory, 32 * sizeof(int), flags), cudaSuccess);
    void* arguments[] = {&memory};
    EXPECT_EQ(cudaLaunchKernel(module_.kernel("fault"), 1, 32, arguments, 0, nullptr), cudaSuccess);
    return cudaDeviceSynchronize();
  };
  EXPECT_EQ(write(own.data(), cudaHostRegisterMapped), cudaSuccess);
  EXPECT_EQ(own[31], 31);
  EXPECT_EQ(write(own.data() + 32, cudaHostRegisterReadOnly), cudaErrorIllegalAddress);
  EXPECT_THAT(fault_text(), HasSubstr("which cudaHostRegister made read-only"));
}

TEST_F(RuntimeKernelTest, PtxThatMakesNoSenseIsAnErrorOfItsOwn) {
  TestModule broken(kPtxHead + ".visible .entry broken() { what is this; }\n");
  EXPECT_EQ(cudaLaunchKernel(broken.kernel("broken"), 1, 1, nullptr, 0, nullptr),
            cudaErrorInvalidPtx);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(RuntimeKernelTest, ObjectsWithoutPtxAreMissingOnlyWhereTheyAreCalled) {
  // nvcc links programs with libcudadevrt, which has machine code alone.
  const std::string launches = kPtxHead + R"(
.extern .func elsewhere;
.visible .entry plain() { ret; }
.visible .entry calls() { call elsewhere; ret; }
)";
  const auto program = fat_binary({TestCode{.text = launches}});
  const auto library = fat_binary({TestCode{.text = "machine code", .is_ptx = false}});
  const void* const objects[] = {program.data(), library.data(), nullptr};
  metrics::FatBinaryWrapper wrapper{.version = 2, .container = program.data(), .objects = objects};
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  const auto launch = [&](char* stub, const char* name) {
    __cudaRegisterFunction(handle, stub, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    return cudaLaunchKernel(stub, 1, 1, nullptr, 0, nullptr);
  };
  char plain = 0, missing = 0, calling = 0;
  EXPECT_EQ(launch(&plain, "plain"), cudaSuccess);
  EXPECT_EQ(launch(&missing, "missing"), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(launch(&calling, "calls"), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNotSupported);
  EXPECT_THAT(fault_text(), HasSubstr("the function elsewhere is not defined"));
  __cudaUnregisterFatBinary(handle);
}

}  // namespace
}  // namespace warpgauge::emulator::runtime::runtime_kernel_test
