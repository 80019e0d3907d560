// Memory pools and hints on managed memory. Memory goes back at once when it is freed, and lies
// where both sides reach it, so that pools only keep their settings, and hints change nothing.
#include "harness/emulator/runtime/pools.h"

#include <cstdint>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/streams.h"

namespace warpgauge::emulator::runtime {
namespace {

cudaMemPool_t handle_of(Pool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

bool is_switch(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies &&
         attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

bool is_amount(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolAttrReleaseThreshold && attribute <= cudaMemPoolAttrUsedMemHigh;
}

cudaError_t get_pool(const char* name, cudaMemPool_t* pool, int device, bool current) {
  return call(name, [&](State& state) {
    require(pool != nullptr);
    require(device == 0, cudaErrorInvalidDevice);
    *pool = handle_of(current ? state.current_pool : &state.default_pool);
  });
}

void require_managed(State& state, const void* memory, std::size_t bytes) {
  const auto found = state.memory().find(memory);
  require(found && found->kind == machine::memory::Memory::Kind::managed);
  require(bytes <= static_cast<std::size_t>(found->end() - static_cast<const std::byte*>(memory)));
}

}  // namespace

Pool& pool_of(State& state, cudaMemPool_t pool) {
  if (pool == handle_of(&state.default_pool)) return state.default_pool;
  const auto found = state.device().pools.find(pool);
  require(found != state.device().pools.end());
  return *found->second;
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
    require(props->allocType == cudaMemAllocationTypePinned);
    require(props->handleTypes == cudaMemHandleTypeNone, cudaErrorNotSupported);
    auto made = std::make_unique<Pool>(Pool{.properties = *props});
    *pool = handle_of(made.get());
    state.device().pools.emplace(made.get(), std::move(made));
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call(__func__, [&](State& state) {
    if (handle_of(state.current_pool) == pool) state.current_pool = &state.default_pool;
    require(state.device().pools.erase(pool) == 1);
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return call(__func__, [&](State& state) { pool_of(state, pool); });
}

WARPGAUGE_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                  void* value) {
  return call(__func__, [&](State& state) {
    require(value != nullptr && (is_switch(attribute) || is_amount(attribute)));
    pool_of(state, pool).attributes[attribute] =
        is_switch(attribute) ? static_cast<std::uint64_t>(*static_cast<const int*>(value))
                             : *static_cast<const std::uint64_t*>(value);
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                  void* value) {
  return call(__func__, [&](State& state) {
    require(value != nullptr && (is_switch(attribute) || is_amount(attribute)));
    const Pool& found = pool_of(state, pool);
    const auto set = found.attributes.find(attribute);
    const std::uint64_t unset = is_switch(attribute) ? 1 : 0;
    const std::uint64_t number = set == found.attributes.end() ? unset : set->second;
    if (is_switch(attribute)) {
      *static_cast<int*>(value) = static_cast<int>(number);
    } else {
      *static_cast<std::uint64_t*>(value) = number;
    }
  });
}

WARPGAUGE_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*,
                                               std::size_t) {
  return call(__func__, [&](State& state) { pool_of(state, pool); });
}

#if CUDART_VERSION >= 13000
WARPGAUGE_API cudaError_t cudaMemAdvise(const void* memory, std::size_t bytes, cudaMemoryAdvise,
                                        cudaMemLocation) {
  return call(__func__, [&](State& state) { require_managed(state, memory, bytes); });
}

WARPGAUGE_API cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes,
                                               cudaMemLocation, unsigned, cudaStream_t stream) {
#else
WARPGAUGE_API cudaError_t cudaMemAdvise(const void* memory, std::size_t bytes, cudaMemoryAdvise,
                                        int) {
  return call(__func__, [&](State& state) { require_managed(state, memory, bytes); });
}

WARPGAUGE_API cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes, int,
                                               cudaStream_t stream) {
#endif
  return call(__func__, [&](State& state) {
    require_stream(state, stream);
    require_managed(state, memory, bytes);
  });
}

WARPGAUGE_PER_THREAD(cudaMemPrefetchAsync, _ptsz)

}  // namespace warpgauge::emulator::runtime
