// A kernel as its caller sees it, and one launch of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/base/source_line.h"

namespace warpgauge::emulator::machine {

struct Finding;
struct FunctionHits;
struct Interleaving;
struct MemoryUse;
struct Order;

struct KernelInfo {
  std::string name;          ///< mangled
  metrics::CallSite source;  ///< its first line; file empty if it is not known
  std::uint64_t shared_static_bytes = 0;
  std::uint64_t local_bytes = 0;  ///< per thread
  std::uint64_t constant_bytes = 0;
  std::vector<std::uint32_t> max_threads;  ///< __launch_bounds__; empty: none
  /// __cluster_dims__, blocks; nothing: a launch may choose.
  std::optional<std::array<std::uint32_t, 3>> cluster;
  struct Parameter {
    std::uint64_t offset = 0, bytes = 0;
  };
  std::vector<Parameter> parameters;
  std::uint64_t parameter_bytes = 0;
};

/// How many blocks, threads or clusters a size of three dimensions has.
inline std::uint64_t volume(const std::array<std::uint32_t, 3>& size) {
  return std::uint64_t{size[0]} * size[1] * size[2];
}

/// An earlier launch that may run at the same time.
struct ConcurrentLaunch {
  std::uint64_t number = 0;  ///< Launch::number
  bool until_wait = false;   ///< until a thread executes griddepcontrol.wait
};

struct Launch {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t dynamic_shared_bytes = 0;
  bool cooperative = false;               ///< all blocks make progress together (grid barriers)
  std::span<const std::byte> parameters;  ///< laid out as KernelInfo says
  /// Gets the executions of every instruction, of a launch that faults those up to the fault;
  /// nullptr: they are not counted.
  std::vector<FunctionHits>* hits = nullptr;
  std::vector<Finding>* findings = nullptr;  ///< gets those of Options::checks, in the same way
  std::vector<Finding>* races = nullptr;     ///< gets races, whatever Options::checks look for
  std::vector<MemoryUse>* uses = nullptr;    ///< gets one for each instruction and allocation
  Interleaving* interleaving = nullptr;      ///< nullptr: the usual order, in all threads
  const Order* replayed = nullptr;           ///< to be compared with the usual order; nullptr: none
  std::uint32_t registers = 0;               ///< a thread's, as the machine code says; 0: not known
  std::uint64_t resident_blocks = 0;         ///< that the GPU holds at once; 0: not known
  /// Blocks that run together and reach each other's shared memory; nothing: none do.
  std::optional<std::array<std::uint32_t, 3>> cluster = std::nullopt;
  std::uint64_t number = 0;  ///< for the checks of later launches; 0: it is ordered before them
  std::vector<ConcurrentLaunch> concurrent = {};
};

}  // namespace warpgauge::emulator::machine
