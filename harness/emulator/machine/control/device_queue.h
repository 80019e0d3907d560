// The device runtime of a launch: what kernels ask of it is kept until the grid has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/machine/core/architecture.h"
#include "harness/emulator/machine/core/device_work.h"
#include "harness/emulator/machine/memory/memory.h"

namespace warpgauge::emulator::machine::control {

/// Errors of the CUDA runtime that the device runtime gives, by their numbers.
enum class DeviceError : std::uint32_t {
  none = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  invalid_kernel = 98,
};

/// A kernel that a kernel may launch.
struct DeviceKernel {
  std::string name;
  std::uint64_t parameter_bytes = 0;
};

/// The device runtime of one launch. Used by several threads.
class DeviceQueue {
 public:
  /// The kernel at an address; nothing: there is none.
  using FindKernel = std::function<std::optional<DeviceKernel>(std::uint64_t address)>;
  /// A thread: the number of its block, and its own in it.
  using Thread = std::pair<std::uint64_t, std::uint64_t>;

  DeviceQueue(FindKernel find_kernel, const Architecture& architecture, memory::Memory& memory);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  /// Device memory for the parameters of the kernel at this address, which `shape` is to launch;
  /// nullptr: the thread's last error says why not.
  std::byte* reserve(Thread thread, std::uint64_t kernel, DeviceLaunch shape);
  /// Launches what the parameters were reserved for.
  DeviceError launch(Thread thread, std::byte* parameters, std::uint64_t stream);
  void add(Thread thread, DeviceWork work, std::uint64_t stream);

  DeviceError fail(Thread thread, DeviceError error);  ///< the same
  /// The last error of a thread; `forget`: it has none any more.
  DeviceError last_error(Thread thread, bool forget);
  std::uint64_t new_handle();  ///< for a stream or an event
  /// Device memory with a text that the program need not free; nullptr if there is none.
  const std::byte* keep_text(const char* text);

  /// The work that was asked for, in the order of blocks; last comes the tail, which waits for the
  /// end of the grid and of all that it has launched.
  std::vector<DeviceWork> take();

 private:
  struct OfBlock {
    std::vector<DeviceWork> work, tail;
  };

  const FindKernel find_kernel_;
  const Architecture& architecture_;
  memory::Memory& memory_;
  std::mutex mutex_;  ///< protects the members below
  std::map<std::byte*, DeviceLaunch> reserved_;
  std::map<std::uint64_t, OfBlock> blocks_;
  std::map<Thread, DeviceError> errors_;
  std::map<const char*, std::byte*> texts_;
  std::uint64_t handles_ = 0;
};

}  // namespace warpgauge::emulator::machine::control
