// Loads a kernel from PTX that spins until the host writes a word, and launches it.
#include "harness/bench/holding_kernel.h"

#include <cuda_runtime_api.h>

#include <atomic>

#include "harness/driver_function.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::bench {
namespace {

/// PTX for the oldest GPU that the toolkit compiles for: a driver compiles it for any later one.
constexpr const char* kPtx = R"(
.version 6.3
.target sm_75
.address_size 64

.visible .entry hold(.param .u64 word, .param .u32 number)
{
  .reg .u64 %address;
  .reg .u32 %number, %ahead;
  .reg .pred %waits;

  ld.param.u64 %address, [word];
  ld.param.u32 %number, [number];
again:
  ld.volatile.global.u32 %ahead, [%address];
  sub.u32 %ahead, %ahead, %number;
  setp.lt.s32 %waits, %ahead, 0;
  @%waits bra again;
  ret;
}
)";

constexpr unsigned kModulesSince = 2000, kLaunchSince = 4000;

}  // namespace

HoldingKernel::HoldingKernel(std::uint32_t* word) : word_(word) {
  void* address = nullptr;
  WARPGAUGE_CUDA(cudaHostGetDevicePointer(&address, word, 0));
  word_on_device_ = reinterpret_cast<CUdeviceptr>(address);
  launch_ = driver_function<decltype(cuLaunchKernel)>("cuLaunchKernel", kLaunchSince);
  const auto find =
      driver_function<decltype(cuModuleGetFunction)>("cuModuleGetFunction", kModulesSince);
  check_driver(driver_function<decltype(cuModuleLoadData)>("cuModuleLoadData", kModulesSince)(
                   &module_, kPtx),
               "cuModuleLoadData");
  check_driver(find(&function_, module_, "hold"), "cuModuleGetFunction");
  pass();  // loads it: later loads might wait for what the kernel holds
}

HoldingKernel::~HoldingKernel() {
  try {
    static_cast<void>(
        driver_function<decltype(cuModuleUnload)>("cuModuleUnload", kModulesSince)(module_));
  } catch (const metrics::CudaError&) {
    // It is an earlier one of the context, which has been reported where it arose.
  }
}

void HoldingKernel::queue(std::uint32_t number) {
  void* arguments[] = {&word_on_device_, &number};
  check_driver(launch_(function_, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
               "cuLaunchKernel");
}

void HoldingKernel::pass() {
  queue(std::atomic_ref(*word_).load());  // a number that it has reached
}

}  // namespace warpgauge::bench
