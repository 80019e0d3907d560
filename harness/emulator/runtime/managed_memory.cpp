// Hints on managed memory. It lies where both sides reach it, so that they change nothing.
#include <cuda_runtime_api.h>

#include <cstddef>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/streams.h"

namespace warpgauge::emulator::runtime {
namespace {

void require_managed(State& state, const void* memory, std::size_t bytes) {
  const auto found = state.memory().find(memory);
  require(found && found->kind == machine::memory::Memory::Kind::managed);
  require(bytes <= static_cast<std::size_t>(found->end() - static_cast<const std::byte*>(memory)));
}

cudaError_t advise(const char* name, const void* memory, std::size_t bytes) {
  return call(name, [&](State& state) { require_managed(state, memory, bytes); });
}

cudaError_t prefetch(const char* name, const void* memory, std::size_t bytes, cudaStream_t stream) {
  return call(name, [&](State& state) {
    require_stream(state, stream);
    require_managed(state, memory, bytes);
  });
}

}  // namespace

#if CUDART_VERSION >= 13000
WARPGAUGE_API cudaError_t cudaMemAdvise(const void* memory, std::size_t bytes, cudaMemoryAdvise,
                                        cudaMemLocation) {
  return advise(__func__, memory, bytes);
}

WARPGAUGE_API cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes,
                                               cudaMemLocation, unsigned, cudaStream_t stream) {
  return prefetch(__func__, memory, bytes, stream);
}
#else
WARPGAUGE_API cudaError_t cudaMemAdvise(const void* memory, std::size_t bytes, cudaMemoryAdvise,
                                        int) {
  return advise(__func__, memory, bytes);
}

WARPGAUGE_API cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes, int,
                                               cudaStream_t stream) {
  return prefetch(__func__, memory, bytes, stream);
}
#endif

WARPGAUGE_PER_THREAD(cudaMemPrefetchAsync, _ptsz)

}  // namespace warpgauge::emulator::runtime
