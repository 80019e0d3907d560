// Clusters: the size that a launch has, and how many of them fit on the GPU.
#include "harness/emulator/runtime/clusters.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/functions.h"
#include "harness/emulator/runtime/launch.h"

namespace warpgauge::emulator::runtime {
namespace {

using ClusterSize = std::array<std::uint32_t, 3>;

constexpr int kFirstWithClusters = 9;  // compute capability, major

std::uint64_t blocks_of(const ClusterSize& cluster) {
  return std::uint64_t{cluster[0]} * cluster[1] * cluster[2];
}

std::uint32_t most_blocks(const State& state, const Function& function) {
  if (state.limits().major < kFirstWithClusters) return 1;
  return function.attributes.takes_large_clusters ? kMostClusterBlocks : kPortableClusterBlocks;
}

[[noreturn]] void refuse_cluster(const std::string& why) {
  throw Failure{cudaErrorInvalidClusterSize, why};
}

/// The launch that occupancy is asked for.
KernelCall call_of(const void* kernel, const cudaLaunchConfig_t* config) {
  require(config != nullptr);
  require(config->attrs != nullptr || config->numAttrs == 0);
  KernelCall call{kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    set_attribute(call, config->attrs[i].id, config->attrs[i].val);
  }
  return call;
}

int blocks_that_fit(State& state, const Function& function, const KernelCall& call) {
  const auto threads = static_cast<int>(call.block.x * call.block.y * call.block.z);
  return blocks_per_multiprocessor(state, function, threads, call.shared_bytes) *
         state.limits().multiprocessors;
}

}  // namespace

std::optional<ClusterSize> cluster_of(State& state, const Function& function,
                                      const KernelCall& call) {
  std::optional<ClusterSize> cluster = info_of(state, function).cluster;
  const auto found = call.attributes.find(cudaLaunchAttributeClusterDimension);
  if (found != call.attributes.end()) {
    const auto& set = found->second.clusterDim;
    const ClusterSize asked = {set.x, set.y, set.z};
    if (cluster && *cluster != asked) {
      refuse_cluster("the kernel was compiled for clusters of another size (__cluster_dims__)");
    }
    cluster = asked;
  }
  if (!cluster) return std::nullopt;
  const std::uint32_t most = most_blocks(state, function);
  if (blocks_of(*cluster) == 0 || blocks_of(*cluster) > most) {
    refuse_cluster("clusters of " + std::to_string(blocks_of(*cluster)) + " blocks: at most " +
                   std::to_string(most) + " are possible" +
                   (most == kPortableClusterBlocks
                        ? ", 16 after cudaFuncAttributeNonPortableClusterSizeAllowed"
                        : ""));
  }
  const ClusterSize grid = {call.grid.x, call.grid.y, call.grid.z};
  for (std::size_t n = 0; n < grid.size(); ++n) {
    if (grid[n] % (*cluster)[n] != 0) refuse_cluster("the grid is no multiple of the cluster");
  }
  return cluster;
}

// How the multiprocessors are grouped differs from chip to chip: here they are one group.
WARPGAUGE_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                                         const cudaLaunchConfig_t* config) {
  return call(__func__, [&](State& state) {
    require(clusters != nullptr);
    const KernelCall launch = call_of(kernel, config);
    const Function& function = function_of(state, kernel);
    const ClusterSize cluster = cluster_of(state, function, launch).value_or(ClusterSize{1, 1, 1});
    *clusters = blocks_that_fit(state, function, launch) / static_cast<int>(blocks_of(cluster));
  });
}

WARPGAUGE_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel,
                                                               const cudaLaunchConfig_t* config) {
  return call(__func__, [&](State& state) {
    require(blocks != nullptr);
    const KernelCall launch = call_of(kernel, config);
    const Function& function = function_of(state, kernel);
    const int most = static_cast<int>(most_blocks(state, function));
    *blocks = std::min(most, blocks_that_fit(state, function, launch));
  });
}

}  // namespace warpgauge::emulator::runtime
