// The CUDA runtime that this program runs on: NVIDIA's, on a GPU, or the emulator. Each program is
// linked with one of them (runtime_gpu.cpp or emulator/emulator.cpp); nothing else differs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/counting/coverage.h"

namespace warpgauge::metrics {
struct DeviceFault;
struct LineAccess;
struct LineCounts;
}  // namespace warpgauge::metrics

namespace warpgauge {

/// Counts what kernels make the memory system do.
class LineCounter {
 public:
  virtual ~LineCounter() = default;
  /// Calls `launch` once, waits for what it launched, and returns the counts per kernel and line.
  /// Calls `is_over`, if set, when the device is no longer needed, because adding the counts up
  /// takes a while. Throws metrics::Unmeasured, metrics::CudaError for a launch that failed, and
  /// anything `launch` throws.
  virtual std::vector<metrics::LineCounts> count(const std::function<void()>& launch,
                                                 const std::function<void()>& is_over) = 0;
};

bool is_emulated();

/// The source of counts here, as named in facts: "cupti" or "emulator".
std::string_view counts_source();

/// The counter of the current device. Make it before the first kernel is launched. Throws
/// metrics::Unmeasured.
std::unique_ptr<LineCounter> make_line_counter();

/// The chip of the current device ("GH100"); empty on the emulator. Throws metrics::Unmeasured.
std::string chip_name();

/// Makes the emulator pretend to be a GPU of `arch`: "sm_90" (also "sm_90a"), any of
/// metrics::architectures(). Until the first call it is the one that the environment variable
/// WARPGAUGE_EMULATED_ARCH names, or sm_90. A launch that takes longer than `time_limit` (0: none)
/// fails. Blocks run in as many threads (0: one for each core). Throws std::invalid_argument for an
/// unknown name, std::logic_error if the device is another one and in use (cudaDeviceReset() ends
/// that), and on a GPU.
void emulate_arch(const std::string& arch, std::chrono::milliseconds time_limit = {},
                  int threads = 0);

/// The architecture ("sm_90a") whose code the emulator runs; empty on a GPU.
std::string emulated_arch();

/// True if the emulated device was used since the last call, or anything was asked that depends on
/// its architecture. Always false on a GPU.
bool take_device_use();

/// The access that shows most of each source line of the kernels that ran since the last call, or
/// since a counter began to count. Only the emulator has addresses: throws std::logic_error on a
/// GPU.
std::vector<metrics::LineAccess> take_accesses();

/// From now on the emulator counts which lines and branches kernels run, which takes time. With
/// `with_unlaunched`, code that is there at a launch is listed though it never runs. Throws
/// std::invalid_argument on a GPU.
void count_coverage(bool with_unlaunched = false);

/// The coverage of the kernels that ended since the last call; nothing on a GPU.
metrics::Coverage take_coverage();

/// The device code of the emulated architecture that was registered since the last call, as code
/// that never ran; nothing on a GPU.
metrics::Coverage code_to_cover();

/// Says that another case begins: messages of the emulator count allocations from 1 again
/// ("cudaMalloc #1"), files of orders launches, and what is allocated now is no leak.
void begin_case(const std::string& id);

/// Sets `count` 16-bit words of device memory. (The runtime's own calls set bytes.) Throws
/// metrics::CudaError.
void set_words(void* memory, std::uint16_t word, std::size_t count);

/// Makes writes of kernels to this device memory a fault, with `why` in its text. Does nothing on a
/// GPU.
void let_kernels_only_read(void* memory, const std::string& why);

/// The checks that the emulator makes where no others are asked for: see check_accesses().
inline constexpr const char* kUsualChecks = "async,barriers";

/// Other orders of the warps and blocks of launches, which the emulator compares them in.
struct OtherOrders {
  int schedules = 0;             ///< so many of each launch
  std::filesystem::path replay;  ///< the file of one that was found before; empty: none
  std::filesystem::path out;     ///< the folder that gets files of those that break a launch
  bool are_asked_for() const { return schedules != 0 || !replay.empty(); }
};

/// From now on the emulator makes these checks (names with commas between, or "none"), and compares
/// launches in other orders. Throws std::invalid_argument for other names, metrics::OrderFileError,
/// and std::invalid_argument on a GPU for all but the usual ones and none.
void check_accesses(const std::string& checks, const OtherOrders& orders);

/// Whether the emulator could look for races and does not. False on a GPU.
bool could_look_for_races();

/// From now on the emulator prints no findings: the caller takes them, and tells those that no
/// budget waives. Does nothing on a GPU.
void print_no_findings();

/// Says that the program or the case has ended: what it has not freed is found, if the check
/// `allocations` is made. Does nothing on a GPU.
void find_leaks();

/// The findings of these checks since the last call, each pair of lines once a launch. Nothing on a
/// GPU.
std::vector<metrics::DeviceFault> take_findings();

/// The faults of kernels since the last call, the latest last: with their lines and addresses,
/// where CUDA's error has only the kind. A device has one until it is reset. Nothing on a GPU.
std::vector<metrics::DeviceFault> take_faults();

}  // namespace warpgauge
