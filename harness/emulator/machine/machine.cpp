// The machine: programs, kernels, launches.
#include "harness/emulator/machine/machine.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/emulator/machine/barrier_trial.h"
#include "harness/emulator/machine/control/tallies.h"
#include "harness/emulator/machine/decode/function_decoder.h"
#include "harness/emulator/machine/launcher.h"
#include "harness/emulator/machine/program.h"
#include "harness/emulator/machine/schedule_check.h"
#include "harness/emulator/machine/thread_pool.h"

namespace warpgauge::emulator::machine {

struct Machine::Impl {
  Impl(Architecture architecture, Options options)
      : architecture(architecture), options(std::move(options)) {}

  void decode(Kernel& kernel) {
    if (kernel.code != nullptr) return;
    kernel.code = decode::KernelDecoder(kernel, architecture, options).decode();
  }
  /// Kernels keep the counters of their last launch, which are large: only the latest ones do.
  void note_launch(Kernel& kernel) {
    constexpr std::size_t kMost = 8;
    std::erase(latest, &kernel);
    latest.push_back(&kernel);
    if (latest.size() <= kMost) return;
    for (auto& kept : latest.front()->tallies) kept.reset();
    latest.erase(latest.begin());
  }
  LaunchHost next_launch(Kernel& kernel) {
    decode(kernel);
    note_launch(kernel);
    ++launches;
    return host();
  }
  LaunchHost host() { return {architecture, options, memory, pool, heap_in_use, launches}; }

  Architecture architecture;
  Options options;
  memory::Memory memory;
  ThreadPool pool;
  std::atomic<std::uint64_t> heap_in_use = 0;
  std::mutex mutex;  ///< one launch at a time
  std::uint64_t launches = 0;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<Kernel*> latest;  ///< launched last is last
  BarrierTrials barriers;
};

Machine::Machine(Architecture architecture, Options options)
    : impl_(std::make_unique<Impl>(architecture, std::move(options))) {}
Machine::~Machine() = default;

memory::Memory& Machine::memory() { return impl_->memory; }
Options& Machine::options() { return impl_->options; }
const Architecture& Machine::architecture() const { return impl_->architecture; }

Program& Machine::load(ptx::Module module) {
  const std::lock_guard lock(impl_->mutex);
  const auto number = static_cast<std::uint32_t>(impl_->programs.size());
  return *impl_->programs.emplace_back(
      std::make_unique<Program>(std::move(module), impl_->memory, number));
}

void Machine::unload(Program& program) {
  const std::lock_guard lock(impl_->mutex);
  std::erase_if(impl_->latest, [&](const Kernel* kernel) { return &kernel->program == &program; });
  // Its place stays: the numbers of programs are in the addresses of their functions.
  std::ranges::find(impl_->programs, &program, &std::unique_ptr<Program>::get)->reset();
}

Kernel* Machine::find_kernel(Program& program, std::string_view name) {
  const std::lock_guard lock(impl_->mutex);
  return program.kernel(name);
}

const KernelInfo& Machine::info(const Kernel& kernel) const { return kernel.info; }

void Machine::set_access_plans(Kernel& kernel, AccessPlans plans) {
  const std::lock_guard lock(impl_->mutex);
  if (kernel.code != nullptr) {
    throw std::logic_error("set_access_plans: " + kernel.info.name + " has been launched already");
  }
  kernel.plans = std::move(plans);
}

Symbol Machine::find_symbol(Program& program, std::string_view name) {
  return program.symbol(name);
}

LaunchOutcome Machine::run(Kernel& kernel, const Launch& launch) {
  const std::lock_guard lock(impl_->mutex);
  const LaunchHost host = impl_->next_launch(kernel);
  const bool in_orders = impl_->options.schedules > 0 || launch.replayed != nullptr;
  if (in_orders) return run_in_orders(kernel, launch, host);
  return run_launch(kernel, launch, host);
}

void Machine::try_barriers(Kernel& kernel, const Launch& launch, const Elsewhere& elsewhere,
                           std::vector<Finding>& findings) {
  const std::lock_guard lock(impl_->mutex);
  impl_->barriers.tell(kernel, launch, impl_->host(), elsewhere, findings);
}

void Machine::prepare(Kernel& kernel) {
  const std::lock_guard lock(impl_->mutex);
  impl_->decode(kernel);
}

std::unique_ptr<LaunchRun> Machine::begin(Kernel& kernel, const Launch& launch) {
  const std::lock_guard lock(impl_->mutex);
  return std::make_unique<LaunchRun>(kernel, launch, impl_->next_launch(kernel));
}

}  // namespace warpgauge::emulator::machine
