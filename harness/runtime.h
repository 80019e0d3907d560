// The CUDA runtime that this program runs on: NVIDIA's, on a GPU, or the emulator. Each program is
// linked with one of them (runtime_gpu.cpp or runtime_emulated.cpp); nothing else differs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
  /// Calls `is_over`, where there is one, when the device is no longer needed for it: to add up
  /// what was counted takes a while. Throws metrics::Unmeasured, metrics::CudaError for a launch
  /// that failed, and anything `launch` throws.
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

/// Makes the emulator pretend to be a GPU of `arch` ("sm_90"), before any other use;
/// a launch that takes longer than `time_limit` (0: none) fails. Its blocks run in as many threads
/// (0: one for each core). Throws std::logic_error on a GPU, which is what it is.
void emulate_arch(const std::string& arch, std::chrono::milliseconds time_limit = {},
                  int threads = 0);

/// The architecture ("sm_90a") whose code the emulator runs; empty on a GPU.
std::string emulated_arch();

/// Whether the emulated device was used since the last call, or anything asked that depends on its
/// architecture. Always false on a GPU.
bool take_device_use();

/// Of each source line of the kernels that a counter counted last, the access that shows most. Only
/// the emulator has addresses: throws std::logic_error on a GPU.
std::vector<metrics::LineAccess> take_accesses();

/// From now on the emulator counts which lines and branches kernels run. Throws
/// std::invalid_argument on a GPU.
void count_coverage();

/// What kernels ran since the last call; nothing on a GPU.
metrics::Coverage take_coverage();

/// All device code of the emulated architecture, as what never ran; nothing on a GPU.
metrics::Coverage code_to_cover();

/// What follows is of another case: messages of the emulator number its allocations from 1 again.
void number_allocations_anew();

/// Sets `count` 16-bit words of device memory. (The runtime's own calls set bytes.) Throws
/// metrics::CudaError.
void set_words(void* memory, std::uint16_t word, std::size_t count);

/// Makes an access of kernels that would write to this device memory a fault, with `why` in its
/// text. Does nothing on a GPU.
void let_kernels_only_read(void* memory, const std::string& why);

/// What the emulator looks for where nothing else is asked for: see check_accesses().
inline constexpr const char* kUsualChecks = "async";

/// From now on the emulator looks for what these checks find (names with commas between, or
/// "none"), and compares each launch with `schedules` other orders of its warps and blocks. Throws
/// std::invalid_argument for other names, and on a GPU for all but the usual ones and none.
void check_accesses(const std::string& checks, int schedules);

/// What they have found since the last call.
std::vector<metrics::DeviceFault> take_findings();

/// The latest fault of a kernel since the last call: its line and address, where CUDA's error has
/// only the kind. Nothing on a GPU.
std::optional<metrics::DeviceFault> take_fault();

}  // namespace warpgauge
