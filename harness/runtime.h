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

/// Makes the emulator a GPU of `arch` ("sm_90"). Call it before any other use. A launch that takes
/// longer than `time_limit` (0: none) fails. The last argument is the number of threads that run
/// blocks (0: one a core). Throws std::logic_error on a GPU.
void emulate_arch(const std::string& arch, std::chrono::milliseconds time_limit = {},
                  int threads = 0);

/// The architecture ("sm_90a") whose code the emulator runs; empty on a GPU.
std::string emulated_arch();

/// Takes the access that is drawn for each source line of the kernels that a counter counted last.
/// Throws std::logic_error on a GPU: only the emulator has addresses.
std::vector<metrics::LineAccess> take_accesses();

/// From now on the emulator counts which lines and branches kernels run. Throws
/// std::invalid_argument on a GPU.
void count_coverage();

/// Takes the coverage since the last call; empty on a GPU.
metrics::Coverage take_coverage();

/// The coverage of all device code of the emulated architecture with zeros; empty on a GPU.
metrics::Coverage code_to_cover();

/// Begins another case: messages of the emulator number allocations from 1 again.
void number_allocations_anew();

/// Sets `count` 16-bit words of device memory. (The runtime's own calls set bytes.) Throws
/// metrics::CudaError.
void set_words(void* memory, std::uint16_t word, std::size_t count);

/// Makes writes of kernels to this device memory a fault, with `why` in its text. Does nothing on a
/// GPU.
void let_kernels_only_read(void* memory, const std::string& why);

/// The default checks of the emulator: see check_accesses().
inline constexpr const char* kUsualChecks = "async";

/// Turns on these checks of the emulator (names separated by commas, or "none"), and the comparison
/// of each launch with `schedules` other orders of its warps and blocks. Throws
/// std::invalid_argument for other names, and on a GPU for all but the usual ones and none.
void check_accesses(const std::string& checks, int schedules);

/// Takes the findings of the checks since the last call.
std::vector<metrics::DeviceFault> take_findings();

/// Takes the latest fault of a kernel since the last call, with line and address, where CUDA's
/// error has only the kind. nullopt on a GPU.
std::optional<metrics::DeviceFault> take_fault();

}  // namespace warpgauge
