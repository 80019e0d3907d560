// The kinds of work that a stream takes: what is done at once, or captured as the node of a graph.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "harness/emulator/runtime/copy_ends.h"

namespace warpgauge::emulator::runtime {

class Graph;
class State;
struct GraphMemory;

/// A launch with its arguments, as the kernel finds them in its parameter space.
struct KernelCall {
  const void* kernel = nullptr;  ///< stub or cudaKernel_t
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  std::map<int, cudaLaunchAttributeValue> attributes = {};  ///< by cudaLaunchAttributeID
  std::vector<std::byte> parameters = {};
};

struct Copy {
  End destination, source;
  Size size;
};

/// Each element of the rows becomes `value`.
struct Fill {
  Box box;
  Size size;
  unsigned value = 0;
  unsigned element_bytes = 1;  ///< 1, 2 or 4
};

struct HostCall {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};

struct Child {
  std::shared_ptr<Graph> graph;
};

struct Nothing {};

struct EventWait {
  cudaEvent_t event = nullptr;
};

struct EventRecord {
  cudaEvent_t event = nullptr;
};

struct MemoryAllocation {
  std::shared_ptr<GraphMemory> memory;
};

struct MemoryRelease {
  void* memory = nullptr;
};

#if CUDART_VERSION >= 12040
/// Graphs that run by the value of a condition.
struct Condition {
  cudaGraphConditionalHandle handle = 0;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies = {};
  std::vector<cudaGraph_t> handles = {};  ///< handles of the bodies, for the program
};
#else
struct Condition {};
#endif

using Work = std::variant<KernelCall, Copy, Fill, HostCall, Child, Nothing, EventWait, EventRecord,
                          MemoryAllocation, MemoryRelease, Condition>;

// Each does its work now, or throws Failure.
void perform(State& state, const KernelCall& call);
void perform(State& state, const Copy& copy);
void perform(State& state, const Fill& fill);
void perform(State& state, const EventWait& wait);
void perform(State& state, const EventRecord& record);
void perform(State& state, const MemoryAllocation& allocation);
void perform(State& state, const MemoryRelease& release);

}  // namespace warpgauge::emulator::runtime
