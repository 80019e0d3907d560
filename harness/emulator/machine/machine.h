// The machine: loads PTX modules and runs their kernels. What the CUDA runtime of the emulator
// stands on; it knows nothing of CUDA's host interface.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/fault.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "metrics/warp_access.h"

namespace warpgauge::emulator::machine {

/// What the machine pretends to be.
struct Architecture {
  int major = 9, minor = 0;
  int multiprocessors = 132;
  std::uint32_t shared_per_block = 48 * 1024;  ///< without opt-in
  std::uint32_t shared_per_block_opt_in = 227 * 1024;
  std::uint32_t max_threads_per_block = 1024;
};

/// How a memory instruction of the PTX text counts, as its SASS counterpart tells.
struct AccessPlan {
  enum class Role : std::uint8_t {
    as_written,  ///< counts by its own kind and width
    leader,      ///< counts as an access of `width` bytes a lane at its own address rounded down
    absorbed,    ///< belongs to a leader: counts nothing
    popc_increment,  ///< a shared atomic that adds 1 and whose result is not used (ATOMS.POPC.INC)
    compare_and_swap,  ///< a shared atomic that SASS does by a loop of CAS
  };
  Role role = Role::as_written;
  int width = 0;  ///< bytes a lane, for leader
};

/// By line of the PTX text; lines that are not there count as written.
struct AccessPlans {
  struct Entry {
    int text_line;
    AccessPlan plan;
  };
  std::vector<Entry> entries;  ///< ascending
};

/// What the executions of one PTX instruction added up to. One request is one warp instruction.
struct AccessTotals {
  enum class Space : std::uint8_t { none, shared, global_load, global_store, global_atomic, local };
  Space space = Space::none;  ///< a generic instruction may have several: see InstructionTotals
  std::uint64_t requests = 0;
  std::uint64_t wavefronts = 0, wavefronts_ideal = 0;  ///< shared
  std::uint64_t sectors = 0, sectors_ideal = 0;        ///< global; local (no ideal)
  std::uint64_t tags = 0;                              ///< global: 128-byte lines
  std::uint64_t estimates = 0;       ///< requests whose cost no measurement decides
  std::string_view estimate_reason;  ///< if there are any: what is open
};

struct InstructionTotals {
  int text_line = 0;       ///< of the PTX text
  ptx::SourceLine source;  ///< file empty if unknown
  std::string function;    ///< where it stands: the kernel, or a device function it calls
  AccessTotals access;     ///< cp.async has two: shared and global_load
};

/// A loaded module.
class Program;
/// A kernel of one.
class Kernel;

struct KernelInfo {
  std::string name;  ///< mangled
  std::uint64_t shared_static_bytes = 0;
  std::uint64_t local_bytes = 0;  ///< per thread
  std::uint64_t constant_bytes = 0;
  std::vector<std::uint32_t> max_threads;  ///< __launch_bounds__; empty: none
  struct Parameter {
    std::uint64_t offset = 0, bytes = 0;
  };
  std::vector<Parameter> parameters;
  std::uint64_t parameter_bytes = 0;
};

struct Launch {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t dynamic_shared_bytes = 0;
  bool cooperative = false;               ///< all blocks make progress together (grid barriers)
  std::span<const std::byte> parameters;  ///< laid out as KernelInfo says
};

/// A branch at which warps have divided, with how often they did.
struct DivergentBranch {
  int text_line = 0;       ///< of the PTX text
  ptx::SourceLine source;  ///< file empty if unknown
  std::uint64_t count = 0;
};

/// Of all executions of one PTX instruction the one that metrics::shows_more().
struct InstructionRecord {
  int text_line = 0;
  ptx::SourceLine source;
  metrics::WarpAccess access;
};

struct LaunchOutcome {
  std::uint64_t warp_instructions = 0;
  std::vector<DivergentBranch> divergent_branches;
  std::vector<InstructionTotals> totals;  ///< instructions that were executed and access memory
  /// Of those of them that access shared or global memory, with Options::record_accesses.
  std::vector<InstructionRecord> records;
};

struct Options {
  int threads = 0;                          ///< that run blocks; 0: as many as the process may use
  std::uint64_t step_limit = 0;             ///< warp instructions of a block; 0: none
  std::chrono::milliseconds time_limit{0};  ///< of a launch; 0: none
  bool check_uninitialised_shared = false;
  bool record_accesses = false;
  std::uint64_t stack_bytes = 0;       ///< local memory a thread may use in all; 0: 512 KiB
  std::uint64_t heap_bytes = 8 << 20;  ///< of malloc in kernels
  std::uint64_t printf_bytes = 1 << 20;
  std::function<void(std::string_view)> print;  ///< gets what kernels print; empty: stdout
};

class Machine {
 public:
  Machine(Architecture architecture, Options options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  memory::Memory& memory();
  Options& options();  ///< may be changed between launches
  const Architecture& architecture() const;

  /// Loads a module: its variables get memory and their initial values. Functions are decoded when
  /// they are first launched. Throws ptx::PtxError for a module that makes no sense.
  Program& load(ptx::Module module);

  /// nullptr if the program has no such kernel.
  Kernel* find_kernel(Program& program, std::string_view name);
  const KernelInfo& info(const Kernel& kernel) const;
  /// How its accesses count. Throws std::logic_error after its first launch.
  void set_access_plans(Kernel& kernel, AccessPlans plans);

  /// A module variable (.global or .const).
  struct Symbol {
    std::byte* address = nullptr;
    std::uint64_t bytes = 0;
    bool constant = false;
  };
  /// address nullptr if there is none of that name.
  Symbol find_symbol(Program& program, std::string_view name);

  /// Runs the kernel to its end. Throws Fault, and std::invalid_argument for a launch that no GPU
  /// of this architecture would take (too many threads, too much shared memory: the runtime has
  /// checked that before).
  LaunchOutcome run(Kernel& kernel, const Launch& launch);

  /// Texture and surface objects: the runtime makes them, tex and suld read them (see texture.h).

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgauge::emulator::machine
