// Implements the runtime (harness/runtime.h) with the emulator, and the functions that the emulator
// has beside those. Each function works on the state of the emulated CUDA runtime, under a lock.
#include "harness/emulator/emulator.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/emulator/counting/access_table.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/core/checks.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/allocation_checks.h"
#include "harness/emulator/runtime/state.h"
#include "harness/runtime.h"
#include "metrics/counting/line_access.h"
#include "metrics/counting/line_counts.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

using emulator::runtime::State;

/// Calls `use` with the state, under its lock, once no kernel runs.
template <typename Use>
auto with_state(Use use) {
  State& state = State::instance();
  const std::lock_guard lock(state.mutex);
  state.background.wait();
  return use(state);
}

/// Calls `use` with the results of launches, under their lock. A kernel may run meanwhile.
template <typename Use>
auto with_results(Use use) {
  State::Results& results = State::instance().results;
  const std::lock_guard lock(results.mutex);
  return use(results);
}

class EmulatorCounter : public LineCounter {
 public:
  std::vector<metrics::LineCounts> count(const std::function<void()>& launch,
                                         const std::function<void()>& is_over) override {
    WARPGAUGE_CUDA(cudaDeviceSynchronize());
    emulator::take_counts();  // those of earlier launches are dropped
    take_accesses();
    launch();
    WARPGAUGE_CUDA(cudaDeviceSynchronize());
    if (is_over) is_over();
    return emulator::take_counts();
  }
};

}  // namespace

bool is_emulated() { return true; }

std::string_view counts_source() { return "emulator"; }

std::unique_ptr<LineCounter> make_line_counter() { return std::make_unique<EmulatorCounter>(); }

std::string chip_name() { return ""; }

void emulate_arch(const std::string& arch, std::chrono::milliseconds time_limit, int threads) {
  with_state([&](State& state) {
    state.choose_arch(arch);
    state.options().time_limit = time_limit;
    state.options().threads = threads;
    state.apply_options();
  });
}

bool take_device_use() {
  return with_state([](State& state) { return state.take_device_use(); });
}

std::string emulated_arch() {
  return with_state([](State& state) { return state.arch(); });
}

std::vector<metrics::LineAccess> take_accesses() {
  return with_results([](State::Results& results) { return results.accesses->take(); });
}

void count_coverage(bool with_unlaunched) {
  with_state([=](State& state) {
    state.covers = true;
    state.covers_unlaunched = with_unlaunched;
    const std::lock_guard lock(state.results.mutex);
    state.results.coverage.emplace();
  });
}

metrics::Coverage take_coverage() {
  return with_results([](State::Results& results) {
    return results.coverage ? std::exchange(*results.coverage, {}) : metrics::Coverage();
  });
}

metrics::Coverage code_to_cover() {
  return with_state([](State& state) { return state.new_code(); });
}

void begin_case(const std::string& id) {
  with_state([&](State& state) {
    state.orders.begin_case(id);
    if (!state.has_device()) return;
    emulator::runtime::Device& device = state.device();
    device.allocations = 0;
    device.kept_memory.clear();
    if (!state.options().checks.allocations) return;
    for (const auto& kept : state.memory().unfreed()) device.kept_memory.insert(kept.begin);
  });
}

void set_words(void* memory, std::uint16_t word, std::size_t count) {
  const CUresult result = cuMemsetD16(reinterpret_cast<CUdeviceptr>(memory), word, count);
  // Errors have the same numbers in the driver and in the runtime.
  metrics::check_cuda(static_cast<cudaError_t>(result), "cuMemsetD16");
}

void let_kernels_only_read(void* memory, const std::string& why) {
  using emulator::machine::memory::Memory;
  if (memory == nullptr) return;  // a buffer of 0 bytes
  with_state([&](State& state) {
    state.memory().make_read_only(static_cast<std::byte*>(memory), Memory::Rights::read, why);
  });
}

void check_accesses(const std::string& checks, const OtherOrders& orders) {
  const emulator::machine::Checks wanted = emulator::machine::checks_called(checks);
  with_state([&](State& state) {
    state.options().checks = wanted;
    state.options().schedules = orders.schedules;
    state.orders.write_to(orders.schedules > 0 ? orders.out : "");
    state.orders.replay(orders.replay);
    state.apply_options();
  });
}

bool could_look_for_races() {
  return with_state([](State& state) { return !state.options().checks.races; });
}

void print_no_findings() {
  with_state([](State& state) { state.prints_findings = false; });
}

void find_leaks() {
  State& state = State::instance();
  // The program may end in the middle of a call, or while a kernel waits: then nothing is known.
  const std::unique_lock lock(state.mutex, std::try_to_lock);
  if (lock && !state.background.is_busy()) emulator::runtime::find_leaks(state);
}

std::vector<metrics::DeviceFault> take_findings() {
  return with_results([](State::Results& results) {
    std::vector<metrics::DeviceFault> findings = results.take_findings();
    const std::string missing = State::instance().orders.missing_in_case();
    if (!missing.empty()) findings.push_back({missing, "", {}, "", ""});
    return findings;
  });
}

std::vector<metrics::DeviceFault> take_faults() {
  return with_results([](State::Results& results) { return std::exchange(results.faults, {}); });
}

}  // namespace warpgauge

namespace warpgauge::emulator {

void watch_launches(LaunchWatch* watch) {
  with_state([&](State& state) { state.watch = watch; });
}

std::vector<metrics::LineCounts> take_counts() {
  return with_results([](State::Results& results) {
    std::vector<metrics::LineCounts> lines = results.counts->take();
    results.memory = {};
    results.accesses->add_cures(lines);
    return lines;
  });
}

std::vector<metrics::DeviceFault> take_failed_launches() {
  return with_results([](State::Results& results) {
    std::vector<metrics::DeviceFault> faults;
    for (auto& failed : std::exchange(results.failed_launches, {})) {
      faults.push_back(std::move(failed.fault));
    }
    return faults;
  });
}

std::vector<metrics::EmptyLaunches> take_empty_launches() {
  return with_results(
      [](State::Results& results) { return std::exchange(results.empty_launches, {}); });
}

std::vector<std::string> refused_calls() {
  return with_results([](State::Results& results) {
    std::vector<std::string> calls;
    for (const runtime::Refusal& refusal : results.use.refusals) calls.push_back(refusal.what);
    return calls;
  });
}

std::string private_tables() {
  return with_results([](State::Results& results) { return results.use.private_tables; });
}

std::vector<std::string> take_wrong_calls() {
  return with_results(
      [](State::Results& results) { return std::exchange(results.wrong_calls, {}); });
}

bool order_was_replayed() {
  return with_results([](State::Results&) { return State::instance().orders.has_come(); });
}

std::string last_call() { return State::instance().results.use.call.load(); }

std::string last_failure() {
  return with_results([](State::Results& results) { return results.use.failure; });
}

}  // namespace warpgauge::emulator
