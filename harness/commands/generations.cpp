// Writes the table of architectures, and shows the calls that configured old GPUs.
#include "harness/commands/generations.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string_view>

#include "harness/devices.h"
#include "harness/measuring/self_test_kernels.h"
#include "metrics/architecture/architectures.h"
#include "metrics/architecture/past_architectures.h"

// The calls below are deprecated: this file shows what is left of them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace warpgauge::commands {
namespace {

std::string kib(std::uint32_t bytes) { return fmt::format("{} KiB", bytes / 1024); }

std::string status(cudaError_t error) {
  static_cast<void>(cudaGetLastError());  // reported here, not to the next call
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

/// The share of shared memory that a kernel asks for, in percent.
std::string carveout(const void* kernel) {
  cudaFuncAttributes attributes{};
  const cudaError_t got = cudaFuncGetAttributes(&attributes, kernel);
  if (got != cudaSuccess) return status(got);
  const int percent = attributes.preferredShmemCarveout;
  return percent < 0 ? "carve-out: default" : fmt::format("carve-out: {} %", percent);
}

/// The calls for one kernel, which is not launched. No call reads back what they set.
template <typename Row>
void describe_kernel_configuration(const Row& row) {
  const void* const kernel = self_test::bank_conflict_kernel();
  for (const cudaSharedMemConfig wanted :
       {cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte}) {
    row(fmt::format("cudaFuncSetSharedMemConfig(kernel, banks of {})", bank_name(wanted)),
        cudaFuncSetSharedMemConfig(kernel, wanted), carveout(kernel));
  }
  for (const cudaFuncCache wanted : {cudaFuncCachePreferShared, cudaFuncCachePreferL1,
                                     cudaFuncCachePreferEqual, cudaFuncCachePreferNone}) {
    row(fmt::format("cudaFuncSetCacheConfig(kernel, {})", cache_name(wanted)),
        cudaFuncSetCacheConfig(kernel, wanted), carveout(kernel));
  }
}

}  // namespace

std::string describe_generations() {
  std::string text = fmt::format(
      "{:<7} {:<10} {:>8} {:>7} {:>10} {:>9} {:>9} {:>9}  {}\n{:<7} {:<10} {:>8} {:>7} {:>10} "
      "{:>9} "
      "{:>9} {:>9}\n",
      "arch", "generation", "threads", "blocks", "registers", "shared", "shared", "opt-in",
      "what was new", "", "", "each SM", "each SM", "each SM", "each SM", "a block", "a block");
  for (const metrics::Architecture& architecture : metrics::architectures()) {
    text += fmt::format(
        "{:<7} {:<10} {:>8} {:>7} {:>10} {:>9} {:>9} {:>9}  {}\n", architecture.name(),
        architecture.generation, architecture.max_threads_per_multiprocessor,
        architecture.max_blocks_per_multiprocessor, architecture.registers_per_multiprocessor,
        kib(architecture.shared_per_multiprocessor), kib(architecture.shared_per_block),
        kib(architecture.shared_per_block_opt_in), architecture.features);
  }
  return text;
}

std::string describe_history() {
  using metrics::PastArchitecture;
  constexpr std::string_view kRow =
      "{:<5} {:<10} {:<13} {:>8} {:>7} {:>10} {:>9} {:>8} {:>6} {:>11} {:>9}  {}\n";
  std::string text;
  const auto row = [&text, kRow](const auto&... cells) {
    text += fmt::format(fmt::runtime(kRow), cells...);
  };
  row("cc", "generation", "CUDA", "threads", "blocks", "registers", "registers", "shared", "banks",
      "parameters", "L2", "what was new");
  row("", "", "", "each SM", "each SM", "each SM", "a thread", "each SM", "", "bytes", "", "");
  const auto l2_text = [](int l2_kib) {
    return l2_kib == 0 ? std::string("none") : fmt::format("{} KiB", l2_kib);
  };
  for (const PastArchitecture& past : metrics::past_architectures()) {
    row(fmt::format("{}.{}", past.major, past.minor), past.generation,
        fmt::format("{} to {}", past.first_toolkit, past.last_toolkit),
        past.max_threads_per_multiprocessor, past.max_blocks_per_multiprocessor,
        past.registers_per_multiprocessor, past.registers_per_thread,
        fmt::format("{} KiB", past.shared_kib_per_multiprocessor), past.banks, past.parameter_bytes,
        l2_text(past.l2_kib), past.features);
  }
  for (const metrics::Architecture& architecture : metrics::architectures()) {
    row(fmt::format("{}.{}", architecture.major, architecture.minor), architecture.generation,
        fmt::format("{} on", metrics::first_toolkit(architecture)),
        architecture.max_threads_per_multiprocessor, architecture.max_blocks_per_multiprocessor,
        architecture.registers_per_multiprocessor, metrics::kRegistersPerThread,
        kib(architecture.shared_per_multiprocessor), metrics::kSharedBanks,
        metrics::kParameterBytes, l2_text(architecture.l2_mib * 1024), architecture.features);
  }
  return text +
         "L2 is that of the best-known chip. More than 4096 bytes of parameters need CUDA 12.1. "
         "Up to 1.3\n"
         "half a warp was served at a time, with 16 banks; from 2.0 on whole warps are.\n";
}

std::string describe_shared_configuration() {
  const auto device = current_device();
  if (!device) return why_no_device() + "; try --device=emulated\n";
  std::string text = fmt::format("{} ({})\n", device->name, arch_of(*device));
  const auto row = [&text](const std::string& call, cudaError_t error, const std::string& after) {
    text += fmt::format("  {:<62} {:<24} then: {}\n", call, status(error), after);
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
  describe_kernel_configuration(row);
  text +=
      "Banks have been 4 bytes wide on every GPU since Maxwell; the split of shared memory and L1 "
      "cache\n"
      "is a hint that the driver weighs (cudaFuncAttributePreferredSharedMemoryCarveout refines "
      "it).\n";
  return text;
}

}  // namespace warpgauge::commands
