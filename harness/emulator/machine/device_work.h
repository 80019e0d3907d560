// What kernels ask of the device runtime: other kernels (dynamic parallelism), copies and fills. It
// is done when the grid that asked for it has ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace warpgauge::emulator::machine {

struct Architecture;
class Program;

namespace memory {
class Memory;
}

struct DeviceLaunch {
  std::string kernel;  ///< its name in the module of the kernel that launches it
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters = {};
};

struct DeviceCopy {
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  std::uint64_t bytes = 0;
};

struct DeviceFill {
  std::byte* begin = nullptr;
  std::uint8_t value = 0;
  std::uint64_t bytes = 0;
};

/// Functions of the device runtime have the names of the CUDA runtime's with this in place of
/// "cuda".
inline constexpr std::string_view kDeviceRuntimePrefix = "__cudaCDP2";

using DeviceWork = std::variant<DeviceLaunch, DeviceCopy, DeviceFill>;

/// Errors of the CUDA runtime that the device runtime gives, by their numbers.
enum class DeviceError : std::uint32_t {
  none = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  invalid_kernel = 98,
};

/// The device runtime of one launch. Used by several threads.
class DeviceQueue {
 public:
  /// A thread: the number of its block, and its own in it.
  using Thread = std::pair<std::uint64_t, std::uint64_t>;

  DeviceQueue(const Program& program, const Architecture& architecture, memory::Memory& memory);
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
  std::uint64_t new_handle();  ///< of a stream or an event
  /// Device memory with a text that the program need not free; nullptr if there is none.
  const std::byte* keep_text(const char* text);

  /// What was asked for, in the order of blocks; what waits for the end of the grid and of all that
  /// it has launched (the tail) comes last.
  std::vector<DeviceWork> take();

 private:
  struct OfBlock {
    std::vector<DeviceWork> work, tail;
  };

  const Program& program_;
  const Architecture& architecture_;
  memory::Memory& memory_;
  std::mutex mutex_;  ///< of what follows
  std::map<std::byte*, DeviceLaunch> reserved_;
  std::map<std::uint64_t, OfBlock> blocks_;
  std::map<Thread, DeviceError> errors_;
  std::map<const char*, std::byte*> texts_;
  std::uint64_t handles_ = 0;
};

}  // namespace warpgauge::emulator::machine
