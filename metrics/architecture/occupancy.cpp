// Theoretical occupancy: the arithmetic of NVIDIA's cuda_occupancy.h.
#include "metrics/architecture/occupancy.h"

#include <cuda_occupancy.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace warpgauge::metrics {
namespace {

constexpr int kWarpSize = 32;
constexpr int kMaxThreadsPerBlock = 1024;
/// The most blocks of clusters on a multiprocessor. The driver of an H100 reports 8, and 8 run on
/// it at the same time; other chips are assumed to hold as many.
constexpr int kMaxBlocksOfClusters = 8;

cudaOccDeviceProp device_of(const Architecture& arch) {
  cudaOccDeviceProp device;
  device.computeMajor = arch.major;
  device.computeMinor = arch.minor;
  device.maxThreadsPerBlock = kMaxThreadsPerBlock;
  device.maxThreadsPerMultiprocessor = arch.max_threads_per_multiprocessor;
  device.regsPerBlock = arch.registers_per_block;
  device.regsPerMultiprocessor = arch.registers_per_multiprocessor;
  device.warpSize = kWarpSize;
  device.sharedMemPerBlock = arch.shared_per_block;
  device.sharedMemPerMultiprocessor = arch.shared_per_multiprocessor;
  device.numSms = 1;  // required, without effect on one multiprocessor
  device.sharedMemPerBlockOptin = arch.shared_per_block_opt_in;
  device.reservedSharedMemPerBlock = arch.shared_reserved_per_block;
  return device;
}

cudaOccResult ask_nvidia(const Architecture& arch, const BlockNeeds& needs) {
  // The header computes in int: a number beyond every limit is cut to just beyond it.
  const int threads = std::min(needs.threads, kMaxThreadsPerBlock + 1);
  const std::uint64_t too_much_shared = arch.shared_per_block_opt_in + 1ull;
  const std::uint64_t dynamic_bytes = std::min(needs.shared_dynamic_bytes, too_much_shared);

  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = kMaxThreadsPerBlock;
  kernel.numRegs = std::min(needs.registers_per_thread, arch.registers_per_block);
  kernel.sharedSizeBytes = std::min(needs.shared_static_bytes, too_much_shared);
  // A launch with more than 48 KiB has opted in, or it would have failed.
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = dynamic_bytes;
  kernel.numBlockBarriers = needs.barriers;

  // The default state is the most shared memory that the multiprocessor can have.
  const cudaOccDeviceState state;
  const cudaOccDeviceProp device = device_of(arch);
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &kernel, &state, threads, dynamic_bytes);
  if (error == CUDA_OCC_ERROR_UNKNOWN_DEVICE) {
    throw std::invalid_argument(
        "this CUDA toolkit cannot compute the occupancy of compute capability " +
        std::to_string(arch.major) + "." + std::to_string(arch.minor) + ". Build with a newer one");
  }
  if (error != CUDA_OCC_SUCCESS) {
    throw std::invalid_argument("no occupancy for a block of " + std::to_string(needs.threads) +
                                " threads with " + std::to_string(needs.registers_per_thread) +
                                " registers each: there must be at least one thread, and no "
                                "negative number");
  }
  return result;
}

/// Leaves out blocks that belong to no whole cluster. A cluster lies in one GPC, which consists of
/// pairs of multiprocessors (TPCs); a cluster of two fits into a pair. The number of pairs in a GPC
/// differs from chip to chip, even of one model, so larger clusters get a doubt.
void keep_whole_clusters(Occupancy& all, const Architecture& arch, int cluster_blocks) {
  if (cluster_blocks <= 2) return;
  all.doubt =
      "a cluster lies in one GPC, and chips differ in the multiprocessors of these: it is taken as "
      "if all were in one";
  const int blocks = all.blocks_per_multiprocessor * arch.multiprocessors;
  const int in_clusters = blocks - blocks % cluster_blocks;
  if (in_clusters == blocks) return;
  all.fraction *= static_cast<double>(in_clusters) / blocks;
  all.limiter = "clusters";
}

}  // namespace

Occupancy occupancy(const Architecture& arch, const BlockNeeds& needs) {
  const cudaOccResult result = ask_nvidia(arch, needs);
  const std::array<std::pair<std::string_view, int>, 6> most_blocks = {{
      {"warps", result.blockLimitWarps},
      {"registers", result.blockLimitRegs},
      {"shared", result.blockLimitSharedMem},
      // The header takes this limit from the compute capability alone; the row may have a lower
      // one.
      {"blocks", std::min(result.blockLimitBlocks, arch.max_blocks_per_multiprocessor)},
      {"barriers", result.blockLimitBarriers},
      {"clusters",
       needs.cluster_blocks == 1 ? arch.max_blocks_per_multiprocessor + 1 : kMaxBlocksOfClusters},
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
      static_cast<double>(out.active_warps) * kWarpSize / arch.max_threads_per_multiprocessor;
  keep_whole_clusters(out, arch, needs.cluster_blocks);
  return out;
}

}  // namespace warpgauge::metrics
