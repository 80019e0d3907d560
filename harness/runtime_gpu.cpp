// Implements the runtime (runtime.h) with NVIDIA's, on a GPU: CUPTI counts.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <stdexcept>

#include "harness/driver_function.h"
#include "harness/runtime.h"
#include "metrics/counting/device_fault.h"
#include "metrics/counting/line_access.h"
#include "metrics/counting/line_counts.h"
#include "metrics/cupti/cupti.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

class CuptiCounter : public LineCounter {
 public:
  std::vector<metrics::LineCounts> count(const std::function<void()>& launch,
                                         const std::function<void()>& is_over) override {
    return counter_.count(launch, is_over);
  }

 private:
  metrics::SassCounter counter_;
};

}  // namespace

bool is_emulated() { return false; }

std::string_view counts_source() { return "cupti"; }

std::unique_ptr<LineCounter> make_line_counter() { return std::make_unique<CuptiCounter>(); }

std::string chip_name() { return metrics::current_chip(); }

void emulate_arch(const std::string& arch, std::chrono::milliseconds /*time_limit*/,
                  int /*threads*/) {
  throw std::logic_error("this program runs on a GPU and cannot emulate " + arch);
}

std::string emulated_arch() { return ""; }

bool take_device_use() { return false; }

std::vector<metrics::LineAccess> take_accesses() {
  throw std::logic_error("this program runs on a GPU, which does not record addresses");
}

void count_coverage(bool /*with_unlaunched*/) {
  throw std::invalid_argument(
      "--coverage needs the emulator, for a GPU does not say which lines ran: add "
      "--device=emulated");
}

metrics::Coverage take_coverage() { return {}; }

metrics::Coverage code_to_cover() { return {}; }

void set_words(void* memory, std::uint16_t word, std::size_t count) {
  constexpr unsigned kSinceVersion = 3020;
  static const auto kSet = driver_function<decltype(cuMemsetD16)>("cuMemsetD16", kSinceVersion);
  check_driver(kSet(reinterpret_cast<CUdeviceptr>(memory), word, count), "cuMemsetD16");
}

void begin_case(const std::string&) {}

void let_kernels_only_read(void* /*memory*/, const std::string& /*why*/) {}

void check_accesses(const std::string& checks, const OtherOrders& orders) {
  if ((checks == kUsualChecks || checks == "none") && !orders.are_asked_for()) return;
  throw std::invalid_argument(
      "--check, --schedules and --replay need the emulator, for a GPU shows neither its accesses "
      "nor their "
      "order: add --device=emulated");
}

bool could_look_for_races() { return false; }

void print_no_findings() {}

void find_leaks() {}

std::vector<metrics::DeviceFault> take_findings() { return {}; }

std::vector<metrics::DeviceFault> take_faults() { return {}; }

}  // namespace warpgauge
