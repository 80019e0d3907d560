// Memory pools. Memory goes back at once when it is freed, so that a pool reserves what is in use.
#include "harness/emulator/runtime/pools.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "harness/emulator/runtime/call.h"

namespace warpgauge::emulator::runtime {
namespace {

cudaMemPool_t handle_of(Pool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

bool is_switch(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies &&
         attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

/// The greatest value of an attribute so far; nullptr if it has no such value.
std::size_t* high_of(Pool& pool, cudaMemPoolAttr attribute) {
  if (attribute == cudaMemPoolAttrUsedMemHigh) return &pool.most_used_bytes;
  if (attribute == cudaMemPoolAttrReservedMemHigh) return &pool.most_reserved_bytes;
  return nullptr;
}

std::uint64_t setting_of(const Pool& pool, cudaMemPoolAttr attribute, std::uint64_t unset) {
  const auto set = pool.settings.find(attribute);
  return set == pool.settings.end() ? unset : set->second;
}

std::uint64_t bytes_of(Pool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return setting_of(pool, attribute, 0);
    case cudaMemPoolAttrUsedMemCurrent:
    case cudaMemPoolAttrReservedMemCurrent:
      return pool.used_bytes;
    case cudaMemPoolAttrUsedMemHigh:
    case cudaMemPoolAttrReservedMemHigh:
      return *high_of(pool, attribute);
    default:
      throw Failure{cudaErrorInvalidValue};
  }
}

/// Whether a pool can be there: on this device, on the host or on one of its NUMA nodes.
bool is_here(const cudaMemLocation& location) {
  constexpr int kLastType = 3;  // cudaMemLocationTypeHostNuma, which CUDA has since 12.2
  if (location.type == cudaMemLocationTypeDevice) return location.id == 0;
  return location.type > cudaMemLocationTypeDevice && location.type <= kLastType;
}

cudaError_t get_pool(const char* name, cudaMemPool_t* pool, int device, bool current) {
  return call(name, [&](State& state) {
    require(pool != nullptr);
    require(device == 0, cudaErrorInvalidDevice);
    *pool = handle_of(current ? state.current_pool : &state.default_pool);
  });
}

}  // namespace

Pool& pool_of(State& state, cudaMemPool_t pool) {
  if (pool == handle_of(&state.default_pool)) return state.default_pool;
  const auto found = state.device().pools.find(pool);
  require(found != state.device().pools.end());
  return *found->second;
}

void take_from_pool(Device& device, Pool& pool, const void* memory, std::size_t bytes) {
  if (memory == nullptr) return;
  device.pool_memory[memory] = {&pool, bytes};
  pool.used_bytes += bytes;
  pool.most_used_bytes = std::max(pool.most_used_bytes, pool.used_bytes);
  pool.most_reserved_bytes = std::max(pool.most_reserved_bytes, pool.used_bytes);
}

void give_back_to_pool(Device& device, const void* memory) {
  const auto found = device.pool_memory.find(memory);
  if (found == device.pool_memory.end()) return;
  found->second.pool->used_bytes -= found->second.bytes;
  device.pool_memory.erase(found);
}

WARPGAUGE_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return get_pool(__func__, pool, device, false);
}

WARPGAUGE_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return get_pool(__func__, pool, device, true);
}

WARPGAUGE_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call(__func__, [&](State& state) {
    require(device == 0, cudaErrorInvalidDevice);
    state.current_pool = &pool_of(state, pool);
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  return call(__func__, [&](State& state) {
    require(pool != nullptr && props != nullptr);
    require(props->allocType == cudaMemAllocationTypePinned && is_here(props->location));
    require(props->handleTypes == cudaMemHandleTypeNone, cudaErrorNotSupported);
    auto made = std::make_unique<Pool>(Pool{.properties = *props});
    *pool = handle_of(made.get());
    state.device().pools.emplace(made.get(), std::move(made));
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call(__func__, [&](State& state) {
    Device& device = state.device();
    const auto found = device.pools.find(pool);
    require(found != device.pools.end());
    Pool* const ended = found->second.get();
    if (state.current_pool == ended) state.current_pool = &state.default_pool;
    std::erase_if(device.pool_memory,
                  [&](const auto& entry) { return entry.second.pool == ended; });
    device.pools.erase(found);
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return call(__func__, [&](State& state) { pool_of(state, pool); });
}

WARPGAUGE_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                  void* value) {
  return call(__func__, [&](State& state) {
    require(value != nullptr);
    Pool& found = pool_of(state, pool);
    if (is_switch(attribute)) {
      found.settings[attribute] = *static_cast<const int*>(value) != 0;
      return;
    }
    const std::uint64_t bytes = *static_cast<const std::uint64_t*>(value);
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
      found.settings[attribute] = bytes;
      return;
    }
    // Greatest values can only be reset, the present ones not be set.
    std::size_t* const high = high_of(found, attribute);
    require(high != nullptr && bytes == 0);
    *high = found.used_bytes;
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                  void* value) {
  return call(__func__, [&](State& state) {
    require(value != nullptr);
    Pool& found = pool_of(state, pool);
    if (is_switch(attribute)) {  // reuse is on by default
      *static_cast<int*>(value) = static_cast<int>(setting_of(found, attribute, 1));
    } else {
      *static_cast<std::uint64_t*>(value) = bytes_of(found, attribute);
    }
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*,
                                               std::size_t) {
  return call(__func__, [&](State& state) { pool_of(state, pool); });
}

}  // namespace warpgauge::emulator::runtime
