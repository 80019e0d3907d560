// Wraps the runtime's launch functions (ld --wrap), and records or suppresses launches.
#include "harness/cases/launch_log.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/cases/device_code.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

LaunchLog* current = nullptr;

/// The first launch that failed.
struct FailedLaunch {
  cudaError_t error = cudaSuccess;
  std::string kernel;
} failed_launch;

std::map<cudaKernel_t, const void*>& stubs_of_handles() {
  static std::map<cudaKernel_t, const void*> stubs;
  return stubs;
}

/// A dry run's stand-in for the handle of a kernel: the address of its stub. Stubs keep the first
/// handle they get, so a launch after a dry run can still come with the stand-in.
cudaKernel_t dry_handle(const void* stub) {
  return static_cast<cudaKernel_t>(const_cast<void*>(stub));
}

using Extent = std::array<std::uint32_t, 3>;

/// The blocks of a cluster that the launch asks for.
Extent cluster_of(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& asked = config.attrs[i].val.clusterDim;
    return {asked.x, asked.y, asked.z};
  }
  return metrics::kNoCluster;
}

}  // namespace

/// The hook of the wrapped launch functions below.
struct LaunchHook {
  /// Records a launch and says whether to make it. Where one launch function calls another, only
  /// the outermost records.
  class Scope {
   public:
    Scope(const void* stub, dim3 grid, dim3 block, std::size_t shared_bytes,
          const Extent& cluster = metrics::kNoCluster) {
      if (depth_++ == 0 && current != nullptr) record(stub, grid, block, shared_bytes, cluster);
    }
    ~Scope() { --depth_; }
    bool launches() const { return !is_dry_run(); }
    static cudaError_t noted(cudaError_t error, const void* stub) {
      if (error != cudaSuccess && failed_launch.error == cudaSuccess) {
        failed_launch = {error, kernel_name(stub)};
      }
      return error;
    }

   private:
    static inline thread_local int depth_ = 0;
  };

  static void record(const void* stub, dim3 grid, dim3 block, std::size_t shared_bytes,
                     const Extent& cluster) {
    const LaunchRecord record{kernel_name(stub),
                              {.grid = {grid.x, grid.y, grid.z},
                               .block = {block.x, block.y, block.z},
                               .dynamic_shared_bytes = shared_bytes,
                               .count = 1,
                               .cluster = cluster}};
    const auto same = [&](const LaunchRecord& other) {
      return other.kernel == record.kernel && other.launch.like(record.launch);
    };
    auto& launches = current->launches_;
    if (const auto found = std::ranges::find_if(launches, same); found != launches.end()) {
      ++found->launch.count;
    } else {
      launches.push_back(record);
    }
  }

  /// Notes a copy and says whether to make it.
  static bool copies() {
    if (current != nullptr) current->has_copies_ = true;
    return !dry();
  }

  static bool dry() { return current != nullptr && current->mode_ == LaunchLog::Mode::dry; }
};

LaunchLog::LaunchLog(Mode mode) : mode_(mode) {
  if (current != nullptr) throw std::logic_error("launches are being recorded already");
  current = this;
}

LaunchLog::~LaunchLog() { current = nullptr; }

void refuse_failed_launches() {
  const FailedLaunch failed = std::exchange(failed_launch, {});
  metrics::check_cuda(failed.error, ("the launch of " + failed.kernel).c_str());
}

void forget_failed_launches() { failed_launch = {}; }

bool is_dry_run() { return LaunchHook::dry(); }

}  // namespace warpgauge

// The linker sends calls of X to __wrap_X, and __real_X is the runtime's own (ld --wrap).
// Declarations as in cuda_runtime_api.h and crt/host_runtime.h.
extern "C" {

using warpgauge::LaunchHook;

void** __real___cudaRegisterFatBinary(void* wrapper);
void** __wrap___cudaRegisterFatBinary(void* wrapper) {
  warpgauge::register_fat_binary(wrapper);
  return __real___cudaRegisterFatBinary(wrapper);
}

void __real___cudaRegisterFunction(void** handle, const char* stub, char* device_function,
                                   const char* name, int thread_limit, uint3* tid, uint3* bid,
                                   dim3* block, dim3* grid, int* warp_size);
void __wrap___cudaRegisterFunction(void** handle, const char* stub, char* device_function,
                                   const char* name, int thread_limit, uint3* tid, uint3* bid,
                                   dim3* block, dim3* grid, int* warp_size) {
  warpgauge::register_kernel(stub, name);
  __real___cudaRegisterFunction(handle, stub, device_function, name, thread_limit, tid, bid, block,
                                grid, warp_size);
}

// <<<>>> fetches a handle for its stub first; a dry run has no driver to ask for one.
cudaError_t __real___cudaGetKernel(cudaKernel_t* handle, const void* stub);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  cudaError_t error = cudaSuccess;
  if (warpgauge::is_dry_run()) {
    *handle = warpgauge::dry_handle(stub);
  } else {
    error = __real___cudaGetKernel(handle, stub);
  }
  if (error == cudaSuccess) warpgauge::stubs_of_handles()[*handle] = stub;
  return LaunchHook::Scope::noted(error, stub);
}

cudaError_t __real___cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments,
                                      std::size_t shared_bytes, cudaStream_t stream);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments,
                                      std::size_t shared_bytes, cudaStream_t stream) {
  const void* stub = warpgauge::stubs_of_handles()[handle];
  const LaunchHook::Scope scope(stub, grid, block, shared_bytes);
  if (!scope.launches()) return cudaSuccess;
  if (handle == warpgauge::dry_handle(stub)) {
    if (const cudaError_t error = __real___cudaGetKernel(&handle, stub)) {
      return scope.noted(error, stub);
    }
  }
  return scope.noted(
      __real___cudaLaunchKernel(handle, grid, block, arguments, shared_bytes, stream), stub);
}

cudaError_t __real_cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared_bytes, cudaStream_t stream);
cudaError_t __wrap_cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared_bytes, cudaStream_t stream) {
  const LaunchHook::Scope scope(stub, grid, block, shared_bytes);
  if (!scope.launches()) return cudaSuccess;
  return scope.noted(__real_cudaLaunchKernel(stub, grid, block, arguments, shared_bytes, stream),
                     stub);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* stub,
                                       void** arguments);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* stub,
                                       void** arguments) {
  const LaunchHook::Scope scope(stub, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                warpgauge::cluster_of(*config));
  if (!scope.launches()) return cudaSuccess;
  return scope.noted(__real_cudaLaunchKernelExC(config, stub, arguments), stub);
}

cudaError_t __real_cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block,
                                               void** arguments, std::size_t shared_bytes,
                                               cudaStream_t stream);
cudaError_t __wrap_cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block,
                                               void** arguments, std::size_t shared_bytes,
                                               cudaStream_t stream) {
  const LaunchHook::Scope scope(stub, grid, block, shared_bytes);
  if (!scope.launches()) return cudaSuccess;
  return scope.noted(
      __real_cudaLaunchCooperativeKernel(stub, grid, block, arguments, shared_bytes, stream), stub);
}

// Calls that accompany launches and need a device.
cudaError_t __real_cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value);
cudaError_t __wrap_cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value) {
  if (warpgauge::is_dry_run()) return cudaSuccess;
  return __real_cudaFuncSetAttribute(stub, attribute, value);
}

cudaError_t __real_cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t __wrap_cudaMemsetAsync(void* memory, int value, std::size_t bytes,
                                   cudaStream_t stream) {
  if (!LaunchHook::copies()) return cudaSuccess;
  return __real_cudaMemsetAsync(memory, value, bytes, stream);
}

cudaError_t __real_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  if (!LaunchHook::copies()) return cudaSuccess;
  return __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
}

cudaError_t __real_cudaGetLastError();
cudaError_t __wrap_cudaGetLastError() {
  return warpgauge::is_dry_run() ? cudaSuccess : __real_cudaGetLastError();
}

}  // extern "C"
