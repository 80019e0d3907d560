// Kernels for tests of graphs, and what they work on.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/runtime_test.h"

namespace warpgauge::emulator::runtime {

// add(unsigned* p, unsigned n): *p += n. countdown(handle, unsigned* p): *p -= 1, and the condition
// becomes what is left. fault(): writes to address 0.
inline const std::string kGraphPtx = kPtxHead + R"(
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry add(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  ld.global.u32 %r2, [%rd1];
  add.s32 %r3, %r2, %r1;
  st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry countdown(.param .u64 handle, .param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [p];
  ld.global.u32 %r1, [%rd2];
  sub.s32 %r2, %r1, 1;
  st.global.u32 [%rd2], %r2;
  {
    .param .b64 param0;
    st.param.b64 [param0], %rd1;
    .param .b32 param1;
    st.param.b32 [param1], %r2;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
.visible .entry fault()
{
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 0;
  st.global.u64 [%rd1], %rd1;
  ret;
}
)";

/// Has the kernels, and a number in device memory that is 0 at first.
class GraphKernelsTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&number_), sizeof *number_), cudaSuccess);
    ASSERT_EQ(cudaMemset(number_, 0, sizeof *number_), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
  }

  unsigned number() const {
    unsigned out = 0;
    EXPECT_EQ(cudaMemcpy(&out, number_, sizeof out, cudaMemcpyDefault), cudaSuccess);
    return out;
  }
  cudaError_t launch_add(unsigned n, cudaStream_t stream) {
    void* arguments[] = {&number_, &n};
    return cudaLaunchKernel(add_, 1, 1, arguments, 0, stream);
  }
  /// A node that adds `n`.
  cudaGraphNode_t add_node(cudaGraph_t graph, unsigned n,
                           std::vector<cudaGraphNode_t> behind = {}) {
    void* arguments[] = {&number_, &n};
    const cudaKernelNodeParams params{const_cast<void*>(add_), 1, 1, 0, arguments, nullptr};
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, behind.data(), behind.size(), &params),
              cudaSuccess);
    return node;
  }
  static cudaGraph_t make_graph() {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    return graph;
  }
  static cudaGraphExec_t instantiate(cudaGraph_t graph, unsigned long long flags = 0) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, flags), cudaSuccess);
    return exec;
  }
  /// The number after a launch of a graph.
  unsigned after_launch(cudaGraphExec_t exec) const {
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    return number();
  }

  TestModule module_{kGraphPtx};
  const void* add_ = module_.kernel("add");
  const void* countdown_ = module_.kernel("countdown");
  const void* fault_ = module_.kernel("fault");
  unsigned* number_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace warpgauge::emulator::runtime
