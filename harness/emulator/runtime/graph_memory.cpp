// Memory that graphs allocate.
#include "harness/emulator/runtime/graph_memory.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "harness/emulator/runtime/allocation_checks.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/device_properties.h"

namespace warpgauge::emulator::runtime {
namespace {

constexpr std::size_t kAlignment = kTextureAlignment;  // as of cudaMalloc
constexpr std::size_t kRedZone = 256;                  // behind it, which no kernel may touch

std::size_t* attribute_of(Graphs& graphs, cudaGraphMemAttributeType attribute) {
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
      return &graphs.memory_bytes;
    case cudaGraphMemAttrUsedMemHigh:
      return &graphs.most_memory_bytes;
    case cudaGraphMemAttrReservedMemCurrent:
      return &graphs.reserved_bytes;
    case cudaGraphMemAttrReservedMemHigh:
      return &graphs.most_reserved_bytes;
  }
  throw Failure{cudaErrorInvalidValue};
}

}  // namespace

std::shared_ptr<GraphMemory> reserve_graph_memory(std::size_t bytes, const cudaMemPoolProps& pool) {
  require(bytes > 0);
  require(bytes <= SIZE_MAX - kAlignment - kRedZone, cudaErrorMemoryAllocation);
  auto out = std::make_shared<GraphMemory>();
  out->buffer.reset(new std::byte[bytes + kAlignment + kRedZone]);  // not touched: no pages yet
  const auto address = reinterpret_cast<std::uintptr_t>(out->buffer.get());
  out->begin = out->buffer.get() + (kAlignment - address % kAlignment);
  out->bytes = bytes;
  out->pool = pool;
  return out;
}

machine::memory::Memory::Kind kind_of(const cudaMemPoolProps& pool) {
  using Kind = machine::memory::Memory::Kind;
  return pool.location.type == cudaMemLocationTypeDevice ? Kind::device : Kind::pinned_host;
}

bool free_graph_memory(State& state, const void* memory) {
  Graphs& graphs = state.device().graphs;
  const auto found = graphs.memory.find(memory);
  if (found == graphs.memory.end()) return false;
  graphs.memory_bytes -= found->second->bytes;
  state.memory().release(found->second->begin);
  graphs.memory.erase(found);
  return true;
}

void perform(State& state, const MemoryAllocation& allocation) {
  const auto& memory = allocation.memory;
  Device& device = state.device();
  Graphs& graphs = device.graphs;
  const std::string name = "graph memory #" + std::to_string(++device.allocations);
  require(device.machine.memory().adopt(memory->begin, memory->bytes, kind_of(memory->pool), name));
  graphs.memory[memory->begin] = memory;
  graphs.memory_bytes += memory->bytes;
  graphs.most_memory_bytes = std::max(graphs.most_memory_bytes, graphs.memory_bytes);
  graphs.reserved_bytes = std::max(graphs.reserved_bytes, graphs.memory_bytes);
  graphs.most_reserved_bytes = std::max(graphs.most_reserved_bytes, graphs.reserved_bytes);
}

void perform(State& state, const MemoryRelease& release) {
  if (free_graph_memory(state, release.memory)) return;
  find_wrong_free(state, "cudaFreeAsync", release.memory);
  throw Failure{cudaErrorInvalidValue,
                "cannot free what is " + state.memory().describe(release.memory)};
}

WARPGAUGE_API cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                         cudaGraphMemAttributeType attribute,
                                                         void* value) {
  return call(__func__, [&](State& state) {
    require(device == 0, cudaErrorInvalidDevice);
    require(value != nullptr);
    *static_cast<std::uint64_t*>(value) = *attribute_of(state.device().graphs, attribute);
  });
}

// Only the greatest values can be set, and only to 0.
WARPGAUGE_API cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                                         cudaGraphMemAttributeType attribute,
                                                         void* value) {
  return call(__func__, [&](State& state) {
    require(device == 0, cudaErrorInvalidDevice);
    require(value != nullptr && *static_cast<const std::uint64_t*>(value) == 0);
    require(attribute == cudaGraphMemAttrUsedMemHigh ||
            attribute == cudaGraphMemAttrReservedMemHigh);
    *attribute_of(state.device().graphs, attribute) = 0;
  });
}

WARPGAUGE_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call(__func__, [&](State& state) {
    require(device == 0, cudaErrorInvalidDevice);
    Graphs& graphs = state.device().graphs;
    graphs.reserved_bytes = graphs.memory_bytes;
  });
}

}  // namespace warpgauge::emulator::runtime
