// The state of the emulated CUDA runtime.
#include "harness/emulator/runtime/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "harness/emulator/counting/access_table.h"
#include "harness/emulator/counting/coverage.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/launch_watch.h"
#include "harness/emulator/machine/memory/texture.h"
#include "harness/emulator/process_id.h"
#include "harness/emulator/runtime/device_properties.h"
#include "harness/emulator/runtime/failure.h"
#include "metrics/base/demangled.h"

namespace warpgauge::emulator::runtime {

State& State::instance() {
  // Never destroyed: destructors of the program's own objects may still call the runtime.
  static State& state = *new State;
  return state;
}

State::~State() = default;

State::Results::Results()
    : counts(std::make_unique<counting::CountTable>()),
      accesses(std::make_unique<counting::AccessTable>()) {}

State::Results::~Results() = default;

void State::Results::keep_wrong_call(std::string what) {
  const std::lock_guard lock(mutex);
  if (std::ranges::find(wrong_calls, what) != wrong_calls.end()) return;
  wrong_calls.push_back(std::move(what));
}

void State::Results::forgive_empty_launches() {
  const std::lock_guard lock(mutex);
  std::erase_if(failed_launches, [&](const FailedLaunch& failed) {
    if (failed.taker != std::this_thread::get_id()) return false;
    metrics::add(empty_launches,
                 {.kernel = failed.fault.kernel, .place = failed.place, .count = failed.count});
    return true;
  });
}

std::vector<metrics::DeviceFault> State::Results::take_findings() {
  std::vector<metrics::DeviceFault> taken = std::exchange(findings, {});
  const auto unequal = std::exchange(equal_launches, {}).unequal();
  if (!finds_unequal) return taken;
  for (const auto& [kernel, sectors] : unequal) {
    taken.push_back({.text = fmt::format("kernel {}: unequal work: launches with equal arguments "
                                         "moved {} to {} sectors of global memory",
                                         metrics::demangled(kernel), sectors[0], sectors[1]),
                     .kernel = kernel,
                     .source = {},
                     .rule = "unequal work",
                     .other = ""});
  }
  return taken;
}

State::State() : process_(process_id()) {
  const char* const arch = std::getenv("WARPGAUGE_EMULATED_ARCH");
  const char* const older = std::getenv("WARPGAUGE_EMULATED_OLDER_PTX");
  const char* const checks = std::getenv("WARPGAUGE_EMULATED_CHECKS");
  const char* const schedules = std::getenv("WARPGAUGE_EMULATED_SCHEDULES");
  if (schedules != nullptr) {
    std::from_chars(schedules, schedules + std::strlen(schedules), options_.schedules);
  }
  if (const char* const limit = std::getenv("WARPGAUGE_EMULATED_CPU_LIMIT")) {
    int seconds = 0;
    std::from_chars(limit, limit + std::strlen(limit), seconds);
    options_.cpu_limit = std::chrono::seconds(seconds);
  }
  older_ptx = older != nullptr && std::string_view(older) == "1";
  try {
    const auto path = [](const char* name) {
      const char* const value = std::getenv(name);
      return std::filesystem::path(value == nullptr ? "" : value);
    };
    orders.write_to(path("WARPGAUGE_EMULATED_ORDERS"));
    orders.replay(path("WARPGAUGE_EMULATED_REPLAY"));
    if (checks != nullptr) options_.checks = machine::checks_called(checks);
    choose_arch(arch != nullptr && *arch != '\0' ? arch : "sm_90");
  } catch (const std::exception& error) {
    // Nothing can be thrown here: this runs in start-up code, before main.
    std::fprintf(stderr, "warpgauge emulator: %s\n", error.what());
    std::exit(2);
  }
  options_.program_waits = [this] { return !background.program_goes_on(); };
  options_.progress = [this](std::string_view text) {
    if (watch != nullptr) watch->progresses(text);
  };
  options_.print = [this](std::string_view text) {
    const std::lock_guard lock(print_mutex_);
    printed_ += text;
  };
}

void State::choose_arch(std::string_view arch) {
  const metrics::Architecture& limits = metrics::architecture(arch);
  if (device_ != nullptr && arch != arch_) {
    throw std::logic_error("the emulator runs as " + arch_ + " already and cannot become " +
                           std::string(arch) + "; choose before the first CUDA call");
  }
  arch_ = arch;
  limits_ = &limits;
}

Device& State::device() {
  is_used_ = true;
  if (device_ == nullptr) {
    const machine::Architecture architecture{
        .major = limits_->major,
        .minor = limits_->minor,
        .multiprocessors = limits_->multiprocessors,
        .shared_per_block = limits_->shared_per_block,
        .shared_per_block_opt_in = limits_->shared_per_block_opt_in,
        .max_threads_per_block = kMaxThreadsPerBlock,
    };
    device_ = std::make_unique<Device>(architecture, options_);
    device_process_ = process_id();
  }
  require_own_device();
  return *device_;
}

bool State::has_own_device() const { return device_ != nullptr && device_process_ == process_id(); }

void State::require_own_device() const {
  if (device_ == nullptr || has_own_device()) return;
  throw Failure{cudaErrorInitializationError,
                "this process was forked from one that had used CUDA before, so it cannot use "
                "CUDA: fork before the first CUDA call, or start a program in the child"};
}

metrics::Coverage State::new_code() {
  metrics::Coverage code;
  const auto reasons = modules.use_new_ptx(
      {arch_, older_ptx}, [&](const ptx::Module& module) { counting::add_code(code, module); });
  for (const std::string& why : reasons) say("coverage leaves code out that cannot run: " + why);
  return code;
}

void State::begin_launch() {
  begin_process();
  if (!covers_unlaunched) return;
  const metrics::Coverage code = new_code();
  const std::lock_guard lock(results.mutex);
  metrics::add(*results.coverage, code);
}

void State::begin_process() {
  if (launching_process_ == process_id()) return;
  launching_process_ = process_id();
  if (std::exchange(process_, process_id()) != process_id()) {
    const std::lock_guard lock(results.mutex);
    results.counts->take();
    results.accesses->take();
    if (results.coverage) results.coverage->clear();
    results.faults.clear();
    results.take_findings();
    results.memory = {};
    results.failed_launches.clear();
    results.empty_launches.clear();
  }
  if (watch != nullptr) watch->process_launches();
}

void State::reset_device() {
  require_own_device();
  flush_prints();
  modules.unload();
  device_.reset();
  machine::memory::Textures::instance().clear();
  machine::memory::Surfaces::instance().clear();
  fault = cudaSuccess;
  said_.clear();
  device_flags = cudaDeviceScheduleAuto;
  set_limits.clear();
  cache_config = cudaFuncCachePreferNone;
  current_pool = &default_pool;
  default_pool = {};
}

void State::apply_options() {
  if (device_ != nullptr) device_->machine.options() = options_;
}

void State::find(metrics::DeviceFault finding) {
  const std::lock_guard lock(results.mutex);
  const auto is_same = [&](const metrics::DeviceFault& known) {
    return known.rule == finding.rule && known.kernel == finding.kernel &&
           known.source == finding.source && known.other == finding.other &&
           (!finding.source.file.empty() || known.text == finding.text);
  };
  if (std::ranges::any_of(results.findings, is_same)) return;
  if (prints_findings) say(finding.text);
  results.findings.push_back(std::move(finding));
}

void State::say(const std::string& text) {
  if (!said_.insert(text).second) return;
  std::fprintf(stderr, "warpgauge emulator: %s\n", text.c_str());
}

void State::flush_prints() {
  std::string text;
  {
    const std::lock_guard lock(print_mutex_);
    text.swap(printed_);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace warpgauge::emulator::runtime
