// Theoretical occupancy: a table of limits, and the arithmetic of NVIDIA's cuda_occupancy.h.
#include "metrics/occupancy.h"

#include <cuda_occupancy.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace warpgauge::metrics {
namespace {

constexpr int kWarpSize = 32;
constexpr int kMaxThreadsPerBlock = 1024;
constexpr int kRegisters = 65536;
constexpr std::uint32_t kKiB = 1024;

// Source: CUDA Programming Guide 13.1, section 5.1.3 "Features and Technical Specifications": table
// 30 (threads, blocks) and table 31 with its footnote (registers, shared memory, 48 KiB without
// opt-in). The KiB that the system takes of each block: "Shared Memory" in the tuning guides from
// Ampere on. The guide leaves 8.8 out: its shared memory is that of cuda_occupancy.h. Threads and
// blocks of all rows are also those that ptxas 13.0 lets .minnctapersm ask for.
constexpr std::array<ArchLimits, 12> kTable = {{
    // cc   threads  blocks  registers: multiprocessor, block   shared: multiprocessor, block,
    //                                                          opt-in, reserved
    {7, 5, 1024, 16, kRegisters, kRegisters, 64 * kKiB, 48 * kKiB, 64 * kKiB, 0},
    {8, 0, 2048, 32, kRegisters, kRegisters, 164 * kKiB, 48 * kKiB, 163 * kKiB, kKiB},
    {8, 6, 1536, 16, kRegisters, kRegisters, 100 * kKiB, 48 * kKiB, 99 * kKiB, kKiB},
    {8, 7, 1536, 16, kRegisters, kRegisters, 164 * kKiB, 48 * kKiB, 163 * kKiB, kKiB},
    {8, 8, 1536, 16, kRegisters, kRegisters, 100 * kKiB, 48 * kKiB, 99 * kKiB, kKiB},
    {8, 9, 1536, 24, kRegisters, kRegisters, 100 * kKiB, 48 * kKiB, 99 * kKiB, kKiB},
    {9, 0, 2048, 32, kRegisters, kRegisters, 228 * kKiB, 48 * kKiB, 227 * kKiB, kKiB},
    {10, 0, 2048, 32, kRegisters, kRegisters, 228 * kKiB, 48 * kKiB, 227 * kKiB, kKiB},
    {10, 3, 2048, 32, kRegisters, kRegisters, 228 * kKiB, 48 * kKiB, 227 * kKiB, kKiB},
    {11, 0, 1536, 24, kRegisters, kRegisters, 228 * kKiB, 48 * kKiB, 227 * kKiB, kKiB},
    {12, 0, 1536, 24, kRegisters, kRegisters, 100 * kKiB, 48 * kKiB, 99 * kKiB, kKiB},
    {12, 1, 1536, 24, kRegisters, kRegisters, 100 * kKiB, 48 * kKiB, 99 * kKiB, kKiB},
}};

cudaOccDeviceProp device_of(const ArchLimits& limits) {
  cudaOccDeviceProp device;
  device.computeMajor = limits.major;
  device.computeMinor = limits.minor;
  device.maxThreadsPerBlock = kMaxThreadsPerBlock;
  device.maxThreadsPerMultiprocessor = limits.max_threads_per_multiprocessor;
  device.regsPerBlock = limits.registers_per_block;
  device.regsPerMultiprocessor = limits.registers_per_multiprocessor;
  device.warpSize = kWarpSize;
  device.sharedMemPerBlock = limits.shared_per_block;
  device.sharedMemPerMultiprocessor = limits.shared_per_multiprocessor;
  device.numSms = 1;  // asked for, but of no influence on one multiprocessor
  device.sharedMemPerBlockOptin = limits.shared_per_block_opt_in;
  device.reservedSharedMemPerBlock = limits.shared_reserved_per_block;
  return device;
}

cudaOccResult ask_nvidia(const ArchLimits& limits, const BlockNeeds& needs) {
  // The header computes in int: what is beyond every limit is cut to just beyond it.
  const int threads = std::min(needs.threads, kMaxThreadsPerBlock + 1);
  const std::uint64_t too_much_shared = limits.shared_per_block_opt_in + 1ull;
  const std::uint64_t dynamic_bytes = std::min(needs.shared_dynamic_bytes, too_much_shared);

  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = kMaxThreadsPerBlock;
  kernel.numRegs = std::min(needs.registers_per_thread, limits.registers_per_block);
  kernel.sharedSizeBytes = std::min(needs.shared_static_bytes, too_much_shared);
  // Whoever launches with more than 48 KiB has opted in, or the launch would have failed.
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = dynamic_bytes;
  kernel.numBlockBarriers = needs.barriers;

  // The default state is the most shared memory that the multiprocessor can have.
  const cudaOccDeviceState state;
  const cudaOccDeviceProp device = device_of(limits);
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &kernel, &state, threads, dynamic_bytes);
  if (error == CUDA_OCC_ERROR_UNKNOWN_DEVICE) {
    throw std::invalid_argument(
        "this CUDA toolkit cannot tell the occupancy of compute capability " +
        std::to_string(limits.major) + "." + std::to_string(limits.minor) +
        ". Build with a newer one");
  }
  if (error != CUDA_OCC_SUCCESS) {
    throw std::invalid_argument("no occupancy for a block of " + std::to_string(needs.threads) +
                                " threads with " + std::to_string(needs.registers_per_thread) +
                                " registers each: there must be at least one thread, and no "
                                "negative number");
  }
  return result;
}

}  // namespace

std::span<const ArchLimits> arch_limits() { return kTable; }

const ArchLimits* find_arch_limits(std::string_view arch) {
  if (!arch.starts_with("sm_")) return nullptr;
  const char* const end = arch.data() + arch.size();
  int number = 0;
  const auto [rest, error] = std::from_chars(arch.data() + 3, end, number);
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  // "a" and "f" are the same chip with features that other chips lack.
  if (error != std::errc{} || (suffix != "" && suffix != "a" && suffix != "f")) return nullptr;
  const auto found = std::ranges::find_if(
      kTable, [&](const ArchLimits& row) { return row.major * 10 + row.minor == number; });
  return found == kTable.end() ? nullptr : &*found;
}

Occupancy occupancy(const ArchLimits& limits, const BlockNeeds& needs) {
  const cudaOccResult result = ask_nvidia(limits, needs);
  const std::array<std::pair<std::string_view, int>, 5> most_blocks = {{
      {"warps", result.blockLimitWarps},
      {"registers", result.blockLimitRegs},
      {"shared", result.blockLimitSharedMem},
      // The header takes this one from the compute capability alone; the row may say less.
      {"blocks", std::min(result.blockLimitBlocks, limits.max_blocks_per_multiprocessor)},
      {"barriers", result.blockLimitBarriers},
  }};

  Occupancy out;
  out.blocks_per_multiprocessor =
      std::ranges::min(most_blocks, {}, &std::pair<std::string_view, int>::second).second;
  for (const auto& [name, blocks] : most_blocks) {
    if (blocks != out.blocks_per_multiprocessor) continue;
    if (!out.limiter.empty()) out.limiter += "+";
    out.limiter += name;
  }
  const int warps_per_block = (needs.threads - 1) / kWarpSize + 1;
  out.active_warps = out.blocks_per_multiprocessor * warps_per_block;
  out.fraction =
      static_cast<double>(out.active_warps) * kWarpSize / limits.max_threads_per_multiprocessor;
  return out;
}

}  // namespace warpgauge::metrics
