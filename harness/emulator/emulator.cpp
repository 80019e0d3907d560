// The emulator as its process sees it.
#include "harness/emulator/emulator.h"

#include <mutex>
#include <utility>

#include "harness/emulator/counting/access_table.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/state.h"
#include "metrics/counting/line_access.h"
#include "metrics/counting/line_counts.h"

namespace warpgauge::emulator {
namespace {

/// Calls `use` with the state, under its lock, when no kernel runs.
template <typename Use>
auto locked(Use use) {
  runtime::State& state = runtime::State::instance();
  const std::lock_guard lock(state.mutex);
  state.background.wait();
  return use(state);
}

/// The same with what launches have left, while a kernel may run.
template <typename Use>
auto taken(Use use) {
  runtime::State::Results& results = runtime::State::instance().results;
  const std::lock_guard lock(results.mutex);
  return use(results);
}

}  // namespace

Emulator& Emulator::instance() {
  static Emulator emulator;
  return emulator;
}

void Emulator::choose_architecture(std::string_view arch) {
  locked([&](runtime::State& state) { state.choose_arch(arch); });
}

std::string Emulator::architecture() const {
  return locked([](runtime::State& state) { return state.arch(); });
}

bool Emulator::take_device_use() {
  return locked([](runtime::State& state) { return state.take_device_use(); });
}

std::vector<std::string> Emulator::architectures() const {
  return locked([](runtime::State& state) {
    const auto archs = state.modules.architectures();
    return std::vector(archs.begin(), archs.end());
  });
}

void Emulator::allow_older_ptx(bool allow) {
  locked([&](runtime::State& state) { state.older_ptx = allow; });
}

void Emulator::set_options(const machine::Options& options) {
  locked([&](runtime::State& state) { state.set_options(options); });
}

void Emulator::number_allocations_anew() {
  locked([](runtime::State& state) {
    if (state.has_device()) state.device().allocations = 0;
  });
}

void Emulator::let_kernels_only_read(void* memory, const std::string& why) {
  using machine::memory::Memory;
  if (memory == nullptr) return;  // of 0 bytes
  locked([&](runtime::State& state) {
    state.memory().make_read_only(static_cast<std::byte*>(memory), Memory::Rights::read, why);
  });
}

void Emulator::watch_launches(LaunchWatch* watch) {
  locked([&](runtime::State& state) { state.watch = watch; });
}

std::vector<metrics::LineCounts> Emulator::take_counts() {
  return taken([](runtime::State::Results& results) {
    std::vector<metrics::LineCounts> lines = results.counts->take();
    results.memory = metrics::Memory::settled;
    results.accesses->add_cures(lines);
    return lines;
  });
}

std::vector<metrics::LineAccess> Emulator::take_accesses() {
  return taken([](runtime::State::Results& results) { return results.accesses->take(); });
}

void Emulator::count_coverage(bool with_unlaunched) {
  locked([=](runtime::State& state) {
    state.covers = true;
    state.covers_unlaunched = with_unlaunched;
    const std::lock_guard lock(state.results.mutex);
    state.results.coverage.emplace();
  });
}

metrics::Coverage Emulator::take_coverage() {
  return taken([](runtime::State::Results& results) {
    return results.coverage ? std::exchange(*results.coverage, {}) : metrics::Coverage();
  });
}

metrics::Coverage Emulator::code_to_cover() {
  return locked([](runtime::State& state) { return state.new_code(); });
}

std::vector<metrics::DeviceFault> Emulator::take_faults() {
  return taken([](runtime::State::Results& results) { return std::exchange(results.faults, {}); });
}

std::vector<metrics::DeviceFault> Emulator::take_findings() {
  return taken(
      [](runtime::State::Results& results) { return std::exchange(results.findings, {}); });
}

void Emulator::check(const machine::Checks& checks, int schedules) {
  locked([&](runtime::State& state) {
    state.options().checks = checks;
    state.options().schedules = schedules;
    state.apply_options();
  });
}

std::vector<metrics::DeviceFault> Emulator::take_failed_launches() {
  return taken(
      [](runtime::State::Results& results) { return std::exchange(results.failed_launches, {}); });
}

std::vector<std::string> Emulator::refused_calls() const {
  return taken([](runtime::State::Results& results) {
    std::vector<std::string> calls;
    for (const runtime::Refusal& refusal : results.use.refusals) calls.push_back(refusal.what);
    return calls;
  });
}

std::string Emulator::last_call() const {
  return runtime::State::instance().results.use.call.load();
}

std::string Emulator::last_failure() const {
  return taken([](runtime::State::Results& results) { return results.use.failure; });
}

}  // namespace warpgauge::emulator
