// The emulator as its process sees it.
#include "harness/emulator/emulator.h"

#include <mutex>
#include <utility>

#include "harness/emulator/counting/access_table.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/state.h"
#include "metrics/line_access.h"
#include "metrics/line_counts.h"

namespace warpgauge::emulator {
namespace {

/// Calls `use` with the state, under its lock.
template <typename Use>
auto locked(Use use) {
  runtime::State& state = runtime::State::instance();
  const std::lock_guard lock(state.mutex);
  return use(state);
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

void Emulator::let_kernels_only_read(void* memory, const std::string& why) {
  using machine::memory::Memory;
  if (memory == nullptr) return;  // of 0 bytes
  locked([&](runtime::State& state) {
    state.memory().make_read_only(static_cast<std::byte*>(memory), Memory::Rights::read, why);
  });
}

void Emulator::on_first_launch(void (*first_launch)()) {
  locked([&](runtime::State& state) { state.first_launch = first_launch; });
}

std::vector<metrics::LineCounts> Emulator::take_counts() {
  return locked([](runtime::State& state) {
    std::vector<metrics::LineCounts> lines = state.counts->take();
    state.accesses->add_cures(lines);
    return lines;
  });
}

std::vector<metrics::LineAccess> Emulator::take_accesses() {
  return locked([](runtime::State& state) { return state.accesses->take(); });
}

std::vector<metrics::DeviceFault> Emulator::take_faults() {
  return locked([](runtime::State& state) { return std::exchange(state.faults, {}); });
}

std::vector<metrics::DeviceFault> Emulator::take_failed_launches() {
  return locked([](runtime::State& state) { return std::exchange(state.failed_launches, {}); });
}

std::vector<std::string> Emulator::refused_calls() const {
  return locked([](runtime::State& state) { return state.refused; });
}

}  // namespace warpgauge::emulator
