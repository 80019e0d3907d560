// Kernels, whose handles cudaGetFuncBySymbol gives: attributes, occupancy, launches.
#include <algorithm>
#include <cstring>
#include <vector>

#include "harness/emulator/driver/call.h"
#include "harness/emulator/driver/context.h"
#include "harness/emulator/driver/packed_arguments.h"
#include "harness/emulator/runtime/functions.h"

namespace warpgauge::emulator::driver {
namespace {

using runtime::Failure;
using runtime::require;
using runtime::State;

int attribute_of(const cudaFuncAttributes& all, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return all.maxThreadsPerBlock;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(all.sharedSizeBytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return static_cast<int>(all.constSizeBytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(all.localSizeBytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return all.numRegs;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return all.ptxVersion;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return all.binaryVersion;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return all.cacheModeCA;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return all.maxDynamicSharedSizeBytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return all.preferredShmemCarveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return all.clusterDimMustBeSet;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return all.requiredClusterWidth;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return all.requiredClusterHeight;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return all.requiredClusterDepth;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return all.nonPortableClusterSizeAllowed;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return all.clusterSchedulingPolicyPreference;
    default:
      throw Failure{cudaErrorInvalidValue};
  }
}

/// A function of a module is one of its context; a kernel of a library, of all.
void require_of_current_context(State& state, CUfunction function) {
  const void* const context = runtime::function_of(state, function).module->context;
  require(context == nullptr || context == current_context(), cudaErrorInvalidResourceHandle);
}

/// Calls `launch` with the arguments, which the program gives in one of two forms.
template <typename Launch>
CUresult launched(const char* name, CUfunction function, void** arguments, void** extra,
                  Launch launch) {
  return call(name, [&] {
    std::vector<void*> found;
    const cudaError_t error = runtime::call_in_stream(name, [&](State& state) {
      require_of_current_context(state, function);
      if (extra == nullptr) return;
      require(arguments == nullptr);
      found = arguments_in(state, function, extra);
    });
    if (error != cudaSuccess) return error;
    return launch(extra == nullptr ? arguments : found.data());
  });
}

cudaLaunchAttribute attribute_of(const CUlaunchAttribute& attribute) {
  cudaLaunchAttribute out{};
  out.id = static_cast<cudaLaunchAttributeID>(attribute.id);  // both have the same numbers
  static_assert(sizeof out.val == sizeof attribute.value);
  std::memcpy(&out.val, &attribute.value, sizeof out.val);
  return out;
}

bool makes_sense(const CUlaunchConfig* config) {
  return config != nullptr && (config->attrs != nullptr || config->numAttrs == 0);
}

/// The configuration of a launch as the runtime has it.
struct SameConfig {
  explicit SameConfig(const CUlaunchConfig& of) {
    for (unsigned i = 0; i < of.numAttrs; ++i) attributes.push_back(attribute_of(of.attrs[i]));
    config.gridDim = {of.gridDimX, of.gridDimY, of.gridDimZ};
    config.blockDim = {of.blockDimX, of.blockDimY, of.blockDimZ};
    config.dynamicSmemBytes = of.sharedMemBytes;
    config.stream = of.hStream;
    config.attrs = attributes.data();
    config.numAttrs = of.numAttrs;
  }
  SameConfig(const SameConfig&) = delete;
  SameConfig& operator=(const SameConfig&) = delete;

  std::vector<cudaLaunchAttribute> attributes;
  cudaLaunchConfig_t config{};
};

struct BlockSize {
  int threads = 0, blocks_per_multiprocessor = 0;
};

/// The largest block that fills a multiprocessor best, tried by warps.
cudaError_t best_block_size(BlockSize& best, CUfunction function, CUoccupancyB2DSize bytes_of,
                            std::size_t bytes, int limit, unsigned flags) {
  cudaFuncAttributes attributes;
  if (const auto error = cudaFuncGetAttributes(&attributes, function)) return error;
  const int most =
      limit > 0 ? std::min(limit, attributes.maxThreadsPerBlock) : attributes.maxThreadsPerBlock;
  constexpr int kWarp = 32;
  for (int rounded = (most + kWarp - 1) / kWarp * kWarp; rounded > 0; rounded -= kWarp) {
    const int threads = std::min(rounded, most);
    const std::size_t dynamic = bytes_of != nullptr ? bytes_of(threads) : bytes;
    int blocks = 0;
    const auto error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, function, threads, dynamic, flags);
    if (error != cudaSuccess) return error;
    if (blocks * threads > best.threads * best.blocks_per_multiprocessor) best = {threads, blocks};
  }
  return cudaSuccess;
}

}  // namespace

WARPGAUGE_API CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                          CUfunction function) {
  return call_anywhere("cuFuncGetAttribute", [&] {
    cudaFuncAttributes all;
    if (const auto error = cudaFuncGetAttributes(&all, function)) return error;
    return runtime::call("cuFuncGetAttribute", [&](State&) {
      require(value != nullptr);
      *value = attribute_of(all, attribute);
    });
  });
}

WARPGAUGE_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                          int value) {
  return call_anywhere("cuFuncSetAttribute", [&] {  // both have the same numbers
    return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value);
  });
}

WARPGAUGE_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return call_anywhere("cuFuncSetCacheConfig", [&] {
    return cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config));
  });
}

WARPGAUGE_API CUresult cuFuncGetName(const char** name, CUfunction function) {
  return call_anywhere("cuFuncGetName", [&] { return cudaFuncGetName(name, function); });
}

WARPGAUGE_API CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index,
                                          std::size_t* offset, std::size_t* bytes) {
  return call_anywhere("cuFuncGetParamInfo",
                       [&] { return cudaFuncGetParamInfo(function, index, offset, bytes); });
}

WARPGAUGE_API CUresult cuFuncIsLoaded(CUfunctionLoadingState* loaded, CUfunction function) {
  return call_anywhere("cuFuncIsLoaded", [&] {
    return runtime::call("cuFuncIsLoaded", [&](State& state) {
      require(loaded != nullptr);
      runtime::function_of(state, function);
      *loaded = CU_FUNCTION_LOADING_STATE_LOADED;
    });
  });
}

WARPGAUGE_API CUresult cuFuncLoad(CUfunction function) {
  return call_anywhere("cuFuncLoad", [&] {
    return runtime::call("cuFuncLoad",
                         [&](State& state) { runtime::function_of(state, function); });
  });
}

WARPGAUGE_API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return cuFuncLoad(function);  // since Maxwell banks are always four bytes wide
}

// A kernel of a library is a function of the one context.

namespace {

CUfunction function_of_kernel(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

/// Calls `forward` where the device is the one that there is.
CUresult on_device(const char* name, CUdevice device, runtime::FunctionRef<CUresult()> forward) {
  const CUresult result = query(name, [&](State&) { require_device(device); });
  return result == CUDA_SUCCESS ? forward() : result;
}

}  // namespace

WARPGAUGE_API CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute,
                                            CUkernel kernel, CUdevice device) {
  return on_device("cuKernelGetAttribute", device, [&] {
    return cuFuncGetAttribute(value, attribute, function_of_kernel(kernel));
  });
}

WARPGAUGE_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value,
                                            CUkernel kernel, CUdevice device) {
  return on_device("cuKernelSetAttribute", device, [&] {
    return cuFuncSetAttribute(function_of_kernel(kernel), attribute, value);
  });
}

WARPGAUGE_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config,
                                              CUdevice device) {
  return on_device("cuKernelSetCacheConfig", device,
                   [&] { return cuFuncSetCacheConfig(function_of_kernel(kernel), config); });
}

WARPGAUGE_API CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return cuFuncGetName(name, function_of_kernel(kernel));
}

WARPGAUGE_API CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                                            std::size_t* bytes) {
  return cuFuncGetParamInfo(function_of_kernel(kernel), index, offset, bytes);
}

WARPGAUGE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int threads, std::size_t dynamic_shared_bytes,
    unsigned flags) {
  return call("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                  dynamic_shared_bytes, flags);
  });
}

WARPGAUGE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, CUfunction function, int threads, std::size_t dynamic_shared_bytes) {
  return call("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads,
                                                         dynamic_shared_bytes);
  });
}

WARPGAUGE_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* threads,
                                                                 CUfunction function,
                                                                 CUoccupancyB2DSize bytes_of,
                                                                 std::size_t dynamic_shared_bytes,
                                                                 int limit, unsigned flags) {
  const char* const name = "cuOccupancyMaxPotentialBlockSize";
  return call(name, [&] {
    BlockSize best;
    const auto error =
        best_block_size(best, function, bytes_of, dynamic_shared_bytes, limit, flags);
    if (error != cudaSuccess) return error;
    return runtime::call(name, [&](State& state) {
      require(min_grid != nullptr && threads != nullptr);
      *min_grid = best.blocks_per_multiprocessor * state.limits().multiprocessors;
      *threads = best.threads;
    });
  });
}

WARPGAUGE_API CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid, int* threads,
                                                        CUfunction function,
                                                        CUoccupancyB2DSize bytes_of,
                                                        std::size_t dynamic_shared_bytes,
                                                        int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(
      min_grid, threads, function, bytes_of, dynamic_shared_bytes, limit, CU_OCCUPANCY_DEFAULT);
}

WARPGAUGE_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                               CUfunction function, int blocks,
                                                               int threads) {
  return call("cuOccupancyAvailableDynamicSMemPerBlock", [&] {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}

WARPGAUGE_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                      unsigned block_z, unsigned shared_bytes, CUstream stream,
                                      void** arguments, void** extra) {
  return launched("cuLaunchKernel", function, arguments, extra, [&](void** given) {
    return cudaLaunchKernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, given,
                            shared_bytes, stream);
  });
}

WARPGAUGE_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x,
                                                 unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                 unsigned block_y, unsigned block_z,
                                                 unsigned shared_bytes, CUstream stream,
                                                 void** arguments) {
  return launched("cuLaunchCooperativeKernel", function, arguments, nullptr, [&](void** given) {
    return cudaLaunchCooperativeKernel(function, {grid_x, grid_y, grid_z},
                                       {block_x, block_y, block_z}, given, shared_bytes, stream);
  });
}

WARPGAUGE_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                        void** arguments, void** extra) {
  if (!makes_sense(config)) return query("cuLaunchKernelEx", [](State&) { require(false); });
  const SameConfig same(*config);
  return launched("cuLaunchKernelEx", function, arguments, extra,
                  [&](void** given) { return cudaLaunchKernelExC(&same.config, function, given); });
}

WARPGAUGE_API CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                                    const CUlaunchConfig* config) {
  if (!makes_sense(config)) {
    return query("cuOccupancyMaxActiveClusters", [](State&) { require(false); });
  }
  const SameConfig same(*config);
  return call("cuOccupancyMaxActiveClusters",
              [&] { return cudaOccupancyMaxActiveClusters(clusters, function, &same.config); });
}

WARPGAUGE_API CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                                          const CUlaunchConfig* config) {
  if (!makes_sense(config)) {
    return query("cuOccupancyMaxPotentialClusterSize", [](State&) { require(false); });
  }
  const SameConfig same(*config);
  return call("cuOccupancyMaxPotentialClusterSize",
              [&] { return cudaOccupancyMaxPotentialClusterSize(blocks, function, &same.config); });
}

WARPGAUGE_PER_THREAD(cuLaunchKernel, _ptsz)
WARPGAUGE_PER_THREAD(cuLaunchCooperativeKernel, _ptsz)
WARPGAUGE_PER_THREAD(cuLaunchKernelEx, _ptsz)

}  // namespace warpgauge::emulator::driver
