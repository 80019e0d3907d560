// The state of the emulated CUDA runtime between two calls.
#pragma once

#include <cuda_runtime_api.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "harness/emulator/counting/equal_launches.h"
#include "harness/emulator/counting/memory_state.h"
#include "harness/emulator/machine/machine.h"
#include "harness/emulator/runtime/array.h"
#include "harness/emulator/runtime/background.h"
#include "harness/emulator/runtime/graph.h"
#include "harness/emulator/runtime/launch_order.h"
#include "harness/emulator/runtime/modules.h"
#include "harness/emulator/runtime/order_files.h"
#include "harness/emulator/runtime/ordered_memory.h"
#include "harness/emulator/uninterrupted_mutex.h"
#include "metrics/architecture/architectures.h"
#include "metrics/counting/coverage.h"
#include "metrics/counting/device_fault.h"

namespace warpgauge::emulator::counting {
class AccessTable;
class CountTable;
}  // namespace warpgauge::emulator::counting

namespace warpgauge::emulator {
class LaunchWatch;
}

namespace warpgauge::emulator::runtime {

/// Streams are in order by construction: work put into one is done when the call returns, or in
/// the background.
struct Stream {
  unsigned flags;
  int priority;
  unsigned long long id;
};

struct Event {
  unsigned flags = 0;
  CapturePoint captured = {};  ///< if it was recorded in a captured stream
  int pending = 0;             ///< records of it that are still to be done
  std::optional<std::chrono::steady_clock::time_point> recorded = {};
  LaunchOrder::Clock order = {};  ///< what its stream had got
};

/// A pool keeps its settings and counts its memory, which goes back at once when it is freed.
struct Pool {
  cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                 .handleTypes = cudaMemHandleTypeNone,
                                 .location = {.type = cudaMemLocationTypeDevice, .id = 0}};
  std::map<int, std::uint64_t> settings = {};
  std::size_t used_bytes = 0;
  /// The most bytes since the program reset the attribute: each has one of its own.
  std::size_t most_used_bytes = 0, most_reserved_bytes = 0;
};

/// An allocation that was taken from a pool.
struct PoolMemory {
  Pool* pool = nullptr;
  std::size_t bytes = 0;
};

/// The descriptors that a texture or surface object was made with.
struct TextureRequest {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
};

/// The state that cudaDeviceReset ends.
struct Device {
  explicit Device(const machine::Architecture& architecture, const machine::Options& options)
      : machine(architecture, options) {}

  machine::Machine machine;
  std::map<const void*, std::unique_ptr<Array>> arrays;
  std::map<const void*, std::unique_ptr<Stream>> streams;
  std::map<const void*, std::map<int, cudaLaunchAttributeValue>> stream_attributes;
  std::map<const void*, std::unique_ptr<Event>> events;
  std::map<const void*, std::unique_ptr<Pool>> pools;
  std::map<const void*, PoolMemory> pool_memory;  ///< of pools that are there
  std::map<std::uint64_t, TextureRequest> textures;
  std::map<std::uint64_t, TextureRequest> surfaces;
  std::map<std::byte*, unsigned> host_flags;  ///< the flags given to cudaHostAlloc
  std::uint64_t allocations = 0;              ///< made so far, for their names
  Graphs graphs;
  LaunchOrder order;
  std::map<const std::byte*, OrderedMemory> ordered_memory;  ///< by its begin; see the checks
  std::set<const std::byte*> kept_memory;  ///< may stay allocated: see find_leaks()
  unsigned long long stream_ids = 2;       ///< 1 and 2 are the default streams'
};

/// A call that is not emulated.
struct Refusal {
  std::string what;  ///< a sentence that begins with the function's name
  std::thread::id thread;
};

/// A launch that could not begin.
struct FailedLaunch {
  metrics::DeviceFault fault;
  /// That of a launch with an empty grid, whose error its thread may take; none: it is a fault.
  std::thread::id taker = {};
  std::string place = {};  ///< "f.cu:12": the kernel's
  std::uint64_t count = 1;
};

/// The functions that the program has called so far.
struct RuntimeUse {
  std::atomic<const char*> call = "";  ///< the last function; needs no lock
  std::string failure;                 ///< the last that failed, with its error
  std::vector<Refusal> refusals;       ///< refusals whose error the thread has not taken
  std::string private_tables;          ///< a sentence if the program asked for one
};

class State {
 public:
  static State& instance();

  std::mutex mutex;  ///< protects all members but `results`
  Background background{mutex};

  /// The device; made by the first call that needs it. Throws Failure in a process forked after
  /// that.
  Device& device();
  machine::memory::Memory& memory() { return device().machine.memory(); }
  bool has_device() const { return device_ != nullptr; }
  /// Whether this process has made it.
  bool has_own_device() const;
  /// The program has waited for work, or knows that it is done.
  void note_program_waited() {
    if (has_device()) device_->order.wait();
  }
  void reset_device();

  /// The code registered since the last call, as what never ran.
  metrics::Coverage new_code();

  /// To be called by each launch: in a process that has not launched before, what its parent has
  /// counted up to the fork is forgotten, and the watch told.
  void begin_launch();
  LaunchWatch* watch = nullptr;
  OrderFiles orders;
  bool covers = false;             ///< launches count what they run
  bool covers_unlaunched = false;  ///< and list what else there is
  bool prints_findings = true;

  const std::string& arch() const {
    is_used_ = true;
    return arch_;
  }
  void choose_arch(std::string_view arch);
  WantedCode wanted_code() const { return {arch(), older_ptx}; }
  const metrics::Architecture& limits() const {
    is_used_ = true;
    return *limits_;
  }
  /// Whether the device was made or used, or its architecture asked for, since the last call.
  bool take_device_use() { return is_used_.exchange(false); }
  machine::Options& options() { return options_; }
  void apply_options();  ///< to a device that is there already

  Modules modules;
  bool older_ptx = false;
  unsigned device_flags = cudaDeviceScheduleAuto;
  std::map<cudaLimit, std::size_t> set_limits;
  cudaFuncCache cache_config = cudaFuncCachePreferNone;
  Pool default_pool;
  Pool* current_pool = &default_pool;

  cudaError_t fault = cudaSuccess;  ///< a kernel's: stays until the device is reset
  /// The results of launches that were not taken yet. They have a lock of their own, which no
  /// launch holds while its kernel runs: what was counted can be taken meanwhile.
  struct Results {
    UninterruptedMutex mutex;
    const std::unique_ptr<counting::CountTable> counts;
    const std::unique_ptr<counting::AccessTable> accesses;
    std::optional<metrics::Coverage> coverage;  ///< nothing: launches are not covered
    std::vector<metrics::DeviceFault> faults;
    std::vector<metrics::DeviceFault> findings;
    counting::EqualLaunches equal_launches;
    bool finds_unequal = false;  ///< unequal ones are findings
    std::vector<FailedLaunch> failed_launches;
    std::vector<metrics::EmptyLaunches> empty_launches;  ///< whose error the program has taken
    RuntimeUse use;
    counting::MemoryState memory;
    Results();
    ~Results();
    /// Faults of calls: a sentence for each, once.
    std::vector<std::string> wrong_calls;
    void keep_wrong_call(std::string what);
    /// The thread has taken the error of its launches with an empty grid: they are no faults.
    void forgive_empty_launches();
    /// The findings since the last call, which launches are compared with no more.
    std::vector<metrics::DeviceFault> take_findings();
  };
  Results results;

  /// Keeps what a check has found, of several at one line of a kernel the first.
  void find(metrics::DeviceFault finding);

  /// Says something on stderr, each text once until the device is reset.
  void say(const std::string& text);
  /// Writes what kernels printed to stdout.
  void flush_prints();

 private:
  State();
  ~State();
  void require_own_device() const;
  void begin_process();

  std::string arch_;
  const metrics::Architecture* limits_ = nullptr;
  machine::Options options_;
  std::unique_ptr<Device> device_;
  mutable std::atomic<bool> is_used_ = false;
  pid_t device_process_ = 0, launching_process_ = 0;
  pid_t process_;  ///< whose results they are
  std::set<std::string> said_;
  std::mutex print_mutex_;  ///< kernels print from several threads
  std::string printed_;
};

}  // namespace warpgauge::emulator::runtime
