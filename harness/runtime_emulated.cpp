// The runtime of programs that are linked with the emulator, which counts what it executes.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "harness/emulator/emulator.h"
#include "harness/runtime.h"
#include "metrics/counting/device_fault.h"
#include "metrics/counting/line_access.h"
#include "metrics/counting/line_counts.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

class EmulatorCounter : public LineCounter {
 public:
  std::vector<metrics::LineCounts> count(const std::function<void()>& launch,
                                         const std::function<void()>& is_over) override {
    emulator::Emulator& emulator = emulator::Emulator::instance();
    WARPGAUGE_CUDA(cudaDeviceSynchronize());
    emulator.take_counts();
    emulator.take_accesses();
    launch();
    WARPGAUGE_CUDA(cudaDeviceSynchronize());
    if (is_over) is_over();
    return emulator.take_counts();
  }
};

}  // namespace

bool is_emulated() { return true; }

std::string_view counts_source() { return "emulator"; }

std::unique_ptr<LineCounter> make_line_counter() { return std::make_unique<EmulatorCounter>(); }

std::string chip_name() { return ""; }

void emulate_arch(const std::string& arch, std::chrono::milliseconds time_limit, int threads) {
  emulator::Emulator& emulator = emulator::Emulator::instance();
  emulator.choose_architecture(arch);
  emulator::machine::Options options;
  options.time_limit = time_limit;
  options.threads = threads;
  emulator.set_options(options);
}

std::string emulated_arch() { return emulator::Emulator::instance().architecture(); }

bool take_device_use() { return emulator::Emulator::instance().take_device_use(); }

std::vector<metrics::LineAccess> take_accesses() {
  return emulator::Emulator::instance().take_accesses();
}

void count_coverage() { emulator::Emulator::instance().count_coverage(); }

metrics::Coverage take_coverage() { return emulator::Emulator::instance().take_coverage(); }

metrics::Coverage code_to_cover() { return emulator::Emulator::instance().code_to_cover(); }

void set_words(void* memory, std::uint16_t word, std::size_t count) {
  const CUresult result = cuMemsetD16(reinterpret_cast<CUdeviceptr>(memory), word, count);
  metrics::check_cuda(static_cast<cudaError_t>(result), "cuMemsetD16");
}

void number_allocations_anew() { emulator::Emulator::instance().number_allocations_anew(); }

void let_kernels_only_read(void* memory, const std::string& why) {
  emulator::Emulator::instance().let_kernels_only_read(memory, why);
}

void check_accesses(const std::string& checks, int schedules) {
  emulator::Emulator::instance().check(emulator::machine::checks_called(checks), schedules);
}

std::vector<metrics::DeviceFault> take_findings() {
  return emulator::Emulator::instance().take_findings();
}

std::optional<metrics::DeviceFault> take_fault() {
  std::vector<metrics::DeviceFault> faults = emulator::Emulator::instance().take_faults();
  if (faults.empty()) return std::nullopt;
  return std::move(faults.back());
}

}  // namespace warpgauge
