// Kernels: what is known of them, their attributes, their occupancy.
#include "harness/emulator/runtime/functions.h"

#include <algorithm>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/device_properties.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/architecture/occupancy.h"

namespace warpgauge::emulator::runtime {
namespace {

constexpr int kRegisterGranularity = 8;  // per thread, on all of compute capability 7.5 to 12.1

}  // namespace

Function& function_of(State& state, const void* stub_or_handle) {
  Function* const function = state.modules.find_function(stub_or_handle);
  require(function != nullptr, cudaErrorInvalidDeviceFunction);
  state.modules.kernel(*function, state.device().machine, state.wanted_code());
  return *function;
}

const machine::KernelInfo& info_of(State& state, const Function& function) {
  return state.device().machine.info(*function.kernel);
}

std::uint64_t max_dynamic_shared_bytes(State& state, const Function& function) {
  if (function.attributes.max_dynamic_shared_bytes >= 0) {
    return static_cast<std::uint64_t>(function.attributes.max_dynamic_shared_bytes);
  }
  const std::uint64_t limit = state.limits().shared_per_block;
  const std::uint64_t taken = info_of(state, function).shared_static_bytes;
  return limit > taken ? limit - taken : 0;
}

int threads_by_bounds(State& state, const Function& function) {
  std::uint64_t product = 1;
  for (const std::uint32_t bound : info_of(state, function).max_threads) product *= bound;
  const bool bounded = !info_of(state, function).max_threads.empty();
  return bounded ? static_cast<int>(std::min<std::uint64_t>(product, kMaxThreadsPerBlock))
                 : kMaxThreadsPerBlock;
}

int threads_by_registers(State& state, const Function& function) {
  if (function.registers() == 0) return kMaxThreadsPerBlock;
  const int units = (function.registers() + kRegisterGranularity - 1) / kRegisterGranularity;
  const int warps = state.limits().registers_per_block / (units * kRegisterGranularity * kWarpSize);
  return std::min(warps * kWarpSize, kMaxThreadsPerBlock);
}

int blocks_per_multiprocessor(State& state, const Function& function, int threads,
                              std::uint64_t dynamic_shared_bytes) {
  const metrics::BlockNeeds needs{
      .threads = threads,
      .registers_per_thread = function.registers(),
      .shared_static_bytes = info_of(state, function).shared_static_bytes,
      .shared_dynamic_bytes = dynamic_shared_bytes,
  };
  return metrics::occupancy(state.limits(), needs).blocks_per_multiprocessor;
}

namespace {

int max_threads_of(State& state, const Function& function) {
  return std::min(threads_by_bounds(state, function), threads_by_registers(state, function));
}

}  // namespace

WARPGAUGE_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  return call(__func__, [&](State& state) {
    require(attributes != nullptr);
    const Function& function = function_of(state, stub);
    const auto& info = info_of(state, function);
    cudaFuncAttributes out{};
    out.sharedSizeBytes = info.shared_static_bytes;
    out.constSizeBytes = info.constant_bytes;
    out.localSizeBytes = info.local_bytes;
    out.maxThreadsPerBlock = max_threads_of(state, function);
    out.numRegs = function.registers();
    out.binaryVersion = state.limits().major * 10 + state.limits().minor;
    const auto made = metrics::ArchName::parse(function.module->ptx_arch());
    out.ptxVersion = made ? made->number : out.binaryVersion;
    out.maxDynamicSharedSizeBytes = static_cast<int>(max_dynamic_shared_bytes(state, function));
    out.preferredShmemCarveout = function.attributes.shared_carveout;
    if (info.cluster) {
      out.requiredClusterWidth = static_cast<int>((*info.cluster)[0]);
      out.requiredClusterHeight = static_cast<int>((*info.cluster)[1]);
      out.requiredClusterDepth = static_cast<int>((*info.cluster)[2]);
    }
    out.nonPortableClusterSizeAllowed = function.attributes.takes_large_clusters ? 1 : 0;
    out.clusterSchedulingPolicyPreference = function.attributes.cluster_policy;
    *attributes = out;
  });
}

WARPGAUGE_API cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute,
                                               int value) {
  return call(__func__, [&](State& state) {
    Function& function = function_of(state, stub);
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        const auto taken = info_of(state, function).shared_static_bytes;
        require(value >= 0 && taken + value <= state.limits().shared_per_block_opt_in);
        function.attributes.max_dynamic_shared_bytes = value;
        break;
      }
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        require(value >= cudaSharedmemCarveoutDefault && value <= cudaSharedmemCarveoutMaxShared);
        function.attributes.shared_carveout = value;
        break;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        require(value == 0 || value == 1);
        function.attributes.takes_large_clusters = value != 0;
        break;
      case cudaFuncAttributeClusterSchedulingPolicyPreference:
        require(value >= cudaClusterSchedulingPolicyDefault &&
                value <= cudaClusterSchedulingPolicyLoadBalancing);
        function.attributes.cluster_policy = value;
        break;
      case cudaFuncAttributeRequiredClusterWidth:
      case cudaFuncAttributeRequiredClusterHeight:
      case cudaFuncAttributeRequiredClusterDepth:
        throw Failure{cudaErrorNotSupported,
                      "a required cluster size that is set at run time is not emulated"};
      default:
        require(false);
    }
  });
}

WARPGAUGE_API cudaError_t cudaFuncSetCacheConfig(const void* stub, cudaFuncCache config) {
  return call(__func__, [&](State& state) {
    require(config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual);
    function_of(state, stub);
  });
}

WARPGAUGE_API cudaError_t cudaFuncSetSharedMemConfig(const void* stub, cudaSharedMemConfig) {
  return call(__func__, [&](State& state) { function_of(state, stub); });
}

WARPGAUGE_API cudaError_t cudaFuncGetName(const char** name, const void* stub) {
  return call(__func__, [&](State& state) {
    require(name != nullptr);
    *name = function_of(state, stub).name.c_str();
  });
}

// A cudaFunction_t is the CUfunction of the driver.
WARPGAUGE_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* stub) {
  return call(__func__, [&](State& state) {
    require(out != nullptr);
    *out = reinterpret_cast<cudaFunction_t>(&function_of(state, stub));
  });
}

WARPGAUGE_API cudaError_t cudaFuncGetParamInfo(const void* stub, std::size_t index,
                                               std::size_t* offset, std::size_t* bytes) {
  return call(__func__, [&](State& state) {
    const auto& parameters = info_of(state, function_of(state, stub)).parameters;
    require(index < parameters.size() && offset != nullptr);
    *offset = parameters[index].offset;
    if (bytes != nullptr) *bytes = parameters[index].bytes;
  });
}

WARPGAUGE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* stub, int threads, std::size_t dynamic_shared_bytes, unsigned flags) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](State& state) {
    require(blocks != nullptr && threads > 0);
    require((flags & ~static_cast<unsigned>(cudaOccupancyDisableCachingOverride)) == 0);
    const Function& function = function_of(state, stub);
    // The attribute may still be set before the launch: only a size beyond every launch gives 0.
    *blocks = threads > max_threads_of(state, function)
                  ? 0
                  : blocks_per_multiprocessor(state, function, threads, dynamic_shared_bytes);
  });
}

WARPGAUGE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, const void* stub, int threads, std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, stub, threads, dynamic_shared_bytes, cudaOccupancyDefault);
}

WARPGAUGE_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                                    const void* stub, int blocks,
                                                                    int threads) {
  return call(__func__, [&](State& state) {
    require(bytes != nullptr && blocks > 0 && threads > 0);
    const Function& function = function_of(state, stub);
    const auto& limits = state.limits();
    const std::uint64_t each = limits.shared_per_multiprocessor / static_cast<unsigned>(blocks);
    const std::uint64_t taken =
        limits.shared_reserved_per_block + info_of(state, function).shared_static_bytes;
    const std::uint64_t most = max_dynamic_shared_bytes(state, function);
    *bytes = each > taken ? std::min(each - taken, most) : 0;
  });
}

}  // namespace warpgauge::emulator::runtime
