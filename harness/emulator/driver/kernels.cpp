// Kernels, whose handles cudaGetFuncBySymbol gives: attributes, occupancy, launches.
#include <algorithm>
#include <cstring>
#include <vector>

#include "harness/emulator/driver/call.h"
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

/// Where the arguments lie in the buffer that `extra` names: pairs of a key and a value.
std::vector<void*> arguments_in(State& state, CUfunction function, void** extra) {
  std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = static_cast<std::byte*>(extra[1]);
    } else {
      require(*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr);
      bytes = *static_cast<std::size_t*>(extra[1]);
    }
  }
  std::vector<void*> arguments;
  for (const auto& parameter :
       runtime::info_of(state, runtime::function_of(state, function)).parameters) {
    require(buffer != nullptr && parameter.offset + parameter.bytes <= bytes);
    arguments.push_back(buffer + parameter.offset);
  }
  return arguments;
}

/// Calls `launch` with the arguments, which the program gives in one of two forms.
template <typename Launch>
CUresult launched(const char* name, CUfunction function, void** arguments, void** extra,
                  Launch launch) {
  return call(name, [&] {
    if (extra == nullptr) return launch(arguments);
    std::vector<void*> found;
    const cudaError_t error = runtime::call_in_stream(name, [&](State& state) {
      require(arguments == nullptr);
      found = arguments_in(state, function, extra);
    });
    return error == cudaSuccess ? launch(found.data()) : error;
  });
}

cudaLaunchAttribute attribute_of(const CUlaunchAttribute& attribute) {
  cudaLaunchAttribute out{};
  out.id = static_cast<cudaLaunchAttributeID>(attribute.id);  // both have the same numbers
  static_assert(sizeof out.val == sizeof attribute.value);
  std::memcpy(&out.val, &attribute.value, sizeof out.val);
  return out;
}

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
  return call("cuFuncGetAttribute", [&] {
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
  return call("cuFuncSetAttribute", [&] {  // both have the same numbers
    return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value);
  });
}

WARPGAUGE_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return call("cuFuncSetCacheConfig",
              [&] { return cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config)); });
}

WARPGAUGE_API CUresult cuFuncGetName(const char** name, CUfunction function) {
  return call("cuFuncGetName", [&] { return cudaFuncGetName(name, function); });
}

WARPGAUGE_API CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index,
                                          std::size_t* offset, std::size_t* bytes) {
  return call("cuFuncGetParamInfo",
              [&] { return cudaFuncGetParamInfo(function, index, offset, bytes); });
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
  return call("cuLaunchCooperativeKernel", [&] {
    return cudaLaunchCooperativeKernel(function, {grid_x, grid_y, grid_z},
                                       {block_x, block_y, block_z}, arguments, shared_bytes,
                                       stream);
  });
}

WARPGAUGE_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                        void** arguments, void** extra) {
  if (config == nullptr || (config->attrs == nullptr && config->numAttrs > 0)) {
    return query("cuLaunchKernelEx", [](State&) { require(false); });
  }
  std::vector<cudaLaunchAttribute> attributes;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    attributes.push_back(attribute_of(config->attrs[i]));
  }
  cudaLaunchConfig_t same{};
  same.gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ};
  same.blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ};
  same.dynamicSmemBytes = config->sharedMemBytes;
  same.stream = config->hStream;
  same.attrs = attributes.data();
  same.numAttrs = config->numAttrs;
  return launched("cuLaunchKernelEx", function, arguments, extra,
                  [&](void** given) { return cudaLaunchKernelExC(&same, function, given); });
}

WARPGAUGE_PER_THREAD(cuLaunchKernel, _ptsz)
WARPGAUGE_PER_THREAD(cuLaunchCooperativeKernel, _ptsz)
WARPGAUGE_PER_THREAD(cuLaunchKernelEx, _ptsz)

}  // namespace warpgauge::emulator::driver
