// Device, managed and page-locked host memory. A device pointer is a pointer of this process.
#include "harness/emulator/machine/memory/memory.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "harness/emulator/runtime/allocation_checks.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/device_properties.h"
#include "harness/emulator/runtime/graph_memory.h"
#include "harness/emulator/runtime/pools.h"

namespace warpgauge::emulator::runtime {
namespace {

using machine::memory::Memory;

std::byte* allocate(State& state, const char* name, std::size_t bytes,
                    machine::memory::Memory::Kind kind) {
  if (bytes == 0) return nullptr;
  Device& device = state.device();
  const std::size_t left =
      device_memory_bytes() -
      std::min<std::uint64_t>(device.machine.memory().bytes_in_use(), device_memory_bytes());
  require(bytes <= left, cudaErrorMemoryAllocation);
  std::byte* const memory = device.machine.memory().allocate(
      bytes, kind, std::string(called_as(name)) + " #" + std::to_string(++device.allocations));
  require(memory != nullptr, cudaErrorMemoryAllocation);
  return memory;
}

/// Frees what begins at `memory` and was made by the functions for one of `kinds`.
void free_memory(State& state, const char* name, void* memory,
                 std::initializer_list<machine::memory::Memory::Kind> kinds) {
  if (memory == nullptr) return;
  auto* const begin = static_cast<std::byte*>(memory);
  const auto found = state.memory().find(memory);
  const bool ours = found && found->begin == begin &&
                    std::find(kinds.begin(), kinds.end(), found->kind) != kinds.end();
  if (!ours || !state.memory().free(begin)) {
    find_wrong_free(state, name, memory);
    throw Failure{cudaErrorInvalidValue, "cannot free what is " + state.memory().describe(memory)};
  }
  give_back_to_pool(state.device(), memory);
  state.device().ordered_memory.erase(begin);
}

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  require(bytes <= SIZE_MAX - unit, cudaErrorMemoryAllocation);
  return (bytes + unit - 1) / unit * unit;
}

cudaError_t malloc_pitched(const char* name, cudaPitchedPtr* out, cudaExtent extent) {
  return call(name, [&](State& state) {
    require(out != nullptr);
    refuse_unsafe(state);
    const std::size_t pitch = rounded_up(extent.width, kPitchAlignment);
    std::size_t bytes = 0;
    require(!__builtin_mul_overflow(pitch, extent.height, &bytes) &&
                !__builtin_mul_overflow(bytes, extent.depth, &bytes),
            cudaErrorMemoryAllocation);
    *out = {allocate(state, name, bytes, machine::memory::Memory::Kind::device), pitch,
            extent.width, extent.height};
  });
}

cudaError_t host_alloc(const char* name, void** memory, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  return call(name, [&](State& state) {
    require(memory != nullptr && (flags & ~kKnown) == 0);
    refuse_unsafe(state);
    std::byte* const made =
        allocate(state, name, bytes, machine::memory::Memory::Kind::pinned_host);
    state.device().host_flags[made] = flags | cudaHostAllocMapped;
    *memory = made;
  });
}

/// Takes memory from a pool.
void malloc_in_order(State& state, const char* name, void** memory, std::size_t bytes, Pool& pool,
                     cudaStream_t stream) {
  require(memory != nullptr);
  require_stream(state, stream);
  if (CapturePoint* const point = capture_point(state, stream)) {
    const auto reserved = reserve_graph_memory(bytes, pool.properties);
    capture(*point, MemoryAllocation{reserved});
    *memory = reserved->begin;
  } else {
    *memory = allocate(state, name, bytes, kind_of(pool.properties));
    take_from_pool(state.device(), pool, *memory, bytes);
    note_allocated(state, *memory, stream);
  }
}

/// The page-locked allocation that `memory` lies in.
machine::memory::Memory::Allocation host_allocation(State& state, const void* memory) {
  const auto found = state.memory().find(memory);
  require(found && found->kind == machine::memory::Memory::Kind::pinned_host);
  return *found;
}

}  // namespace

WARPGAUGE_API cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return call(__func__, [&](State& state) {
    require(memory != nullptr);
    refuse_unsafe(state);
    *memory = allocate(state, "cudaMalloc", bytes, machine::memory::Memory::Kind::device);
  });
}

WARPGAUGE_API cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned flags) {
  return call(__func__, [&](State& state) {
    require(memory != nullptr && bytes > 0);
    require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost);
    refuse_unsafe(state);
    *memory = allocate(state, "cudaMallocManaged", bytes, machine::memory::Memory::Kind::managed);
  });
}

WARPGAUGE_API cudaError_t cudaMallocPitch(void** memory, std::size_t* pitch, std::size_t width,
                                          std::size_t height) {
  cudaPitchedPtr made{};
  const bool complete = memory != nullptr && pitch != nullptr;
  const cudaError_t error =
      malloc_pitched(__func__, complete ? &made : nullptr, {width, height, 1});
  if (error == cudaSuccess) {
    *memory = made.ptr;
    *pitch = made.pitch;
  }
  return error;
}

WARPGAUGE_API cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  return malloc_pitched(__func__, memory, extent);
}

WARPGAUGE_API cudaError_t cudaFree(void* memory) {
  return call_waiting(__func__, [&](State& state) {
    refuse_unsafe(state);
    if (free_graph_memory(state, memory)) return;
    free_memory(state, "cudaFree", memory,
                {machine::memory::Memory::Kind::device, machine::memory::Memory::Kind::managed});
  });
}

WARPGAUGE_API cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    malloc_in_order(state, "cudaMallocAsync", memory, bytes, *state.current_pool, stream);
  });
}

WARPGAUGE_API cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes,
                                                  cudaMemPool_t pool, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    malloc_in_order(state, "cudaMallocFromPoolAsync", memory, bytes, pool_of(state, pool), stream);
  });
}

WARPGAUGE_API cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    require(memory != nullptr);
    if (CapturePoint* const point = capture_point(state, stream)) {
      capture(*point, MemoryRelease{memory});
    } else if (!free_graph_memory(state, memory)) {
      note_freed(state, memory, stream);
      free_memory(state, "cudaFreeAsync", memory,
                  {Memory::Kind::device, Memory::Kind::pinned_host});
    }
  });
}

WARPGAUGE_API cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return host_alloc(__func__, memory, bytes, cudaHostAllocDefault);
}

WARPGAUGE_API cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return host_alloc(__func__, memory, bytes, flags);
}

WARPGAUGE_API cudaError_t cudaFreeHost(void* memory) {
  return call_waiting(__func__, [&](State& state) {
    refuse_unsafe(state);
    free_memory(state, "cudaFreeHost", memory, {machine::memory::Memory::Kind::pinned_host});
    state.device().host_flags.erase(static_cast<std::byte*>(memory));
  });
}

WARPGAUGE_API cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
  return call(__func__, [&](State& state) {
    require(memory != nullptr && bytes > 0 && (flags & ~kKnown) == 0);
    auto* const begin = static_cast<std::byte*>(memory);
    Device& device = state.device();
    const std::string name = "cudaHostRegister #" + std::to_string(++device.allocations);
    require(device.machine.memory().adopt(begin, bytes, machine::memory::Memory::Kind::pinned_host,
                                          name),
            cudaErrorHostMemoryAlreadyRegistered);
    if ((flags & cudaHostRegisterReadOnly) != 0) {
      state.memory().make_read_only(begin, Memory::Rights::read,
                                    "which cudaHostRegister made read-only");
    }
    device.host_flags[begin] = flags | cudaHostRegisterMapped;
  });
}

WARPGAUGE_API cudaError_t cudaHostUnregister(void* memory) {
  return call_waiting(__func__, [&](State& state) {
    auto* const begin = static_cast<std::byte*>(memory);
    require(state.memory().release(begin), cudaErrorHostMemoryNotRegistered);
    state.device().host_flags.erase(begin);
  });
}

WARPGAUGE_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call(__func__, [&](State& state) {
    require(device != nullptr && flags == 0);
    host_allocation(state, host);
    *device = host;
  });
}

WARPGAUGE_API cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call(__func__, [&](State& state) {
    require(flags != nullptr);
    const auto known = state.device().host_flags.find(host_allocation(state, host).begin);
    require(known != state.device().host_flags.end());  // else of a pool
    *flags = known->second;
  });
}

WARPGAUGE_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call(__func__, [&](State& state) {
    require(free != nullptr && total != nullptr);
    *total = device_memory_bytes();
    *free = *total - std::min<std::uint64_t>(state.memory().bytes_in_use(), *total);
  });
}

WARPGAUGE_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                   const void* pointer) {
  return call(__func__, [&](State& state) {
    require(attributes != nullptr);
    cudaPointerAttributes out{};
    const auto found = state.memory().find(pointer);
    void* const same = const_cast<void*>(pointer);
    if (!found) {
      out.type = cudaMemoryTypeUnregistered;
      out.device = -2;  // as CUDA: no device
      out.hostPointer = same;
    } else {
      const bool host = found->kind == machine::memory::Memory::Kind::pinned_host;
      const bool managed = found->kind == machine::memory::Memory::Kind::managed;
      out.type =
          managed ? cudaMemoryTypeManaged : (host ? cudaMemoryTypeHost : cudaMemoryTypeDevice);
      out.devicePointer = same;
      out.hostPointer = host || managed ? same : nullptr;
    }
    *attributes = out;
  });
}

WARPGAUGE_PER_THREAD(cudaMallocAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMallocFromPoolAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaFreeAsync, _ptsz)

}  // namespace warpgauge::emulator::runtime
