#include "harness/commands/generations.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "harness/devices.h"
#include "metrics/occupancy.h"

// The calls below are deprecated, which is what this file is about.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace warpgauge {
namespace {

struct Generation {
  int major, minor;
  std::string_view name;
  std::string_view brought;  ///< to the code of kernels
};

// Source: PTX ISA 9.0, "Target ISA Notes" of the instructions; CUDA Programming Guide 13, feature
// table and tuning guides.
constexpr Generation kGenerations[] = {
    {7, 5, "Turing", "ldmatrix, mma of 8-bit integers, uniform data path"},
    {8, 0, "Ampere", "cp.async, mbarrier, redux.sync, mma of bf16, tf32 and f64, L2 persistence"},
    {8, 6, "Ampere", "twice the float units of 8.0, fewer double units"},
    {8, 7, "Ampere", "for embedded systems"},
    {8, 8, "Ampere", "for embedded systems"},
    {8, 9, "Ada", "mma of fp8"},
    {9, 0, "Hopper", "clusters, distributed shared memory, TMA (cp.async.bulk), wgmma, setmaxnreg"},
    {10, 0, "Blackwell", "tcgen05 and tensor memory, fp4 and fp6, 256-bit loads and stores"},
    {10, 3, "Blackwell", "faster fp4 and exponentials"},
    {11, 0, "Blackwell", "for embedded systems (10.1 before CUDA 13)"},
    {12, 0, "Blackwell", "mma of fp4 and fp6, clusters and TMA without tcgen05"},
    {12, 1, "Blackwell", "for integrated systems"},
};

std::string kib(std::uint32_t bytes) { return fmt::format("{} KiB", bytes / 1024); }

std::string status(cudaError_t error) {
  static_cast<void>(cudaGetLastError());  // it is told here, and shall not be met elsewhere
  return cudaGetErrorName(error);
}

std::string cache_name(cudaFuncCache config) {
  switch (config) {
    case cudaFuncCachePreferNone:
      return "no preference";
    case cudaFuncCachePreferShared:
      return "more shared memory";
    case cudaFuncCachePreferL1:
      return "more L1 cache";
    case cudaFuncCachePreferEqual:
      return "equal parts";
  }
  return std::to_string(config);
}

std::string bank_name(cudaSharedMemConfig config) {
  switch (config) {
    case cudaSharedMemBankSizeDefault:
      return "default";
    case cudaSharedMemBankSizeFourByte:
      return "4 bytes";
    case cudaSharedMemBankSizeEightByte:
      return "8 bytes";
  }
  return std::to_string(config);
}

}  // namespace

std::string describe_generations() {
  std::string text = fmt::format(
      "{:<7} {:<10} {:>8} {:>7} {:>10} {:>9} {:>9} {:>9}  {}\n{:<7} {:<10} {:>8} {:>7} {:>10} "
      "{:>9} "
      "{:>9} {:>9}\n",
      "arch", "generation", "threads", "blocks", "registers", "shared", "shared", "opt-in",
      "what was new", "", "", "each SM", "each SM", "each SM", "each SM", "a block", "a block");
  for (const metrics::ArchLimits& limits : metrics::arch_limits()) {
    const auto known = std::ranges::find_if(kGenerations, [&](const Generation& generation) {
      return generation.major == limits.major && generation.minor == limits.minor;
    });
    const bool found = known != std::end(kGenerations);
    fmt::format_to(std::back_inserter(text),
                   "sm_{:<4} {:<10} {:>8} {:>7} {:>10} {:>9} {:>9} {:>9}  {}\n",
                   fmt::format("{}{}", limits.major, limits.minor), found ? known->name : "?",
                   limits.max_threads_per_multiprocessor, limits.max_blocks_per_multiprocessor,
                   limits.registers_per_multiprocessor, kib(limits.shared_per_multiprocessor),
                   kib(limits.shared_per_block), kib(limits.shared_per_block_opt_in),
                   found ? known->brought : "?");
  }
  return text;
}

std::string describe_shared_configuration() {
  std::string why;
  const auto device = current_device(&why);
  if (!device) return why + "; try --device=emulated\n";
  std::string text = fmt::format("{} ({})\n", device->name, arch_of(*device));
  const auto row = [&text](const std::string& call, cudaError_t error, const std::string& after) {
    fmt::format_to(std::back_inserter(text), "  {:<62} {:<24} then: {}\n", call, status(error),
                   after);
  };
  for (const cudaSharedMemConfig wanted :
       {cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte}) {
    const cudaError_t error = cudaDeviceSetSharedMemConfig(wanted);
    cudaSharedMemConfig config = cudaSharedMemBankSizeDefault;
    const cudaError_t got = cudaDeviceGetSharedMemConfig(&config);
    row(fmt::format("cudaDeviceSetSharedMemConfig(banks of {})", bank_name(wanted)), error,
        got == cudaSuccess ? "banks of " + bank_name(config) : status(got));
  }
  cudaFuncCache before = cudaFuncCachePreferNone;
  static_cast<void>(cudaDeviceGetCacheConfig(&before));
  for (const cudaFuncCache wanted :
       {cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual}) {
    const cudaError_t error = cudaDeviceSetCacheConfig(wanted);
    cudaFuncCache config = cudaFuncCachePreferNone;
    const cudaError_t got = cudaDeviceGetCacheConfig(&config);
    row(fmt::format("cudaDeviceSetCacheConfig({})", cache_name(wanted)), error,
        got == cudaSuccess ? cache_name(config) : status(got));
  }
  static_cast<void>(cudaDeviceSetCacheConfig(before));
  text +=
      "Banks have been 4 bytes wide on every GPU since Maxwell; the split of shared memory and L1 "
      "cache\n"
      "is a hint that the driver weighs (cudaFuncAttributePreferredSharedMemoryCarveout refines "
      "it).\n";
  return text;
}

}  // namespace warpgauge
