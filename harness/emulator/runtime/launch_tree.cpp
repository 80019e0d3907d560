// Runs launches and what they launch, and keeps those that fail.
#include "harness/emulator/runtime/launch_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <ranges>
#include <string>
#include <utility>
#include <variant>

#include "harness/emulator/runtime/allocation_checks.h"
#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/functions.h"
#include "harness/emulator/runtime/stream_order.h"
#include "metrics/base/demangled.h"

namespace warpgauge::emulator::runtime {
namespace {

/// A kernel that only waits for memory to change for so long goes on in the background.
constexpr std::chrono::milliseconds kPatience{20};

/// Whether the launch may begin before the previous one in its stream has ended.
bool is_dependent(const KernelCall& call) {
  const auto found = call.attributes.find(cudaLaunchAttributeProgrammaticStreamSerialization);
  return found != call.attributes.end() &&
         found->second.programmaticStreamSerializationAllowed != 0;
}

/// The name of a kernel in the program; empty if the program has no such kernel.
std::string name_of(State& state, const void* kernel) {
  try {
    return function_of(state, kernel).name;
  } catch (const Failure&) {
    return "";
  }
}

/// "f.cu:12"; empty if that is not known.
std::string place_of_kernel(State& state, const void* kernel) {
  try {
    const metrics::CallSite& source = info_of(state, function_of(state, kernel)).source;
    if (source.file.empty()) return "";
    return fmt::format("{}:{}", std::filesystem::path(source.file).filename().string(),
                       source.line);
  } catch (const Failure&) {
    return "";
  }
}

bool is_empty(const dim3& size) { return size.x == 0 || size.y == 0 || size.z == 0; }

std::string reason_of(const Failure& failure) {
  return failure.why.empty() ? cudaGetErrorString(failure.code) : failure.why;
}

/// Keeps the reason why a launch cannot begin; equal ones once.
void keep_failure(State& state, const KernelCall& call, const Failure& failure,
                  std::thread::id launcher) {
  const dim3 grid = call.grid, block = call.block;
  std::string text = fmt::format(
      "a launch of {} x {} x {} blocks of {} x {} x {} threads failed: {} ({})", grid.x, grid.y,
      grid.z, block.x, block.y, block.z, cudaGetErrorName(failure.code), reason_of(failure));
  const std::string kernel = name_of(state, call.kernel);
  FailedLaunch failed = {.fault = {std::move(text), kernel, {}}};
  if (is_empty(grid) || is_empty(block)) {
    failed.taker = launcher;
    failed.place = place_of_kernel(state, call.kernel);
  }
  const std::lock_guard lock(state.results.mutex);
  auto& failures = state.results.failed_launches;
  const auto known = std::ranges::find_if(failures, [&](const FailedLaunch& other) {
    return other.fault.text == failed.fault.text && other.fault.kernel == kernel &&
           other.taker == failed.taker;
  });
  known == failures.end() ? failures.push_back(std::move(failed)) : void(++known->count);
}

}  // namespace

void keeping_failures(State& state, const KernelCall& call, const std::function<void()>& body,
                      std::thread::id launcher) {
  state.begin_launch();
  try {
    body();
  } catch (Failure& failure) {
    keep_failure(state, call, failure, launcher);
    failure.kept = true;
    throw;
  }
}

LaunchTree::LaunchTree(State& state, const KernelCall& call, const LaunchOrder::Place& place)
    : state_(state), kernel_(name_of(state, call.kernel)) {
  begin(call, place);
  module_ = &current_->module();
}

bool LaunchTree::run(std::optional<std::chrono::milliseconds> patience) {
  return run_with([&] { return current_->run(patience); });
}

void LaunchTree::run_in_background() {
  run_with([&] {
    state_.background.unlocked([&] { current_->run(std::nullopt); });
    return true;
  });
}

bool LaunchTree::run_with(const std::function<bool()>& run_kernel) {
  for (;;) {
    if (current_ != nullptr) {
      if (!run_kernel()) return false;
      add(current_->finish());
      current_.reset();
    }
    if (left_.empty() || state_.fault != cudaSuccess || is_over_limit()) return true;
    begin_next();
  }
}

void LaunchTree::add(std::vector<machine::DeviceWork> work) {
  std::ranges::move(std::views::reverse(work), std::back_inserter(left_));
}

bool LaunchTree::is_over_limit() {
  const std::chrono::milliseconds limit = state_.options().cpu_limit;
  if (limit.count() == 0 || machine::CpuClock::now() - begun_ < limit) return false;
  std::string text = fmt::format(
      "kernel {}: with the kernels that it launches it has taken longer than its limit of {} ms of "
      "CPU time: they launch each other without end",
      metrics::demangled(kernel_), limit.count());
  state_.fault = cudaErrorLaunchTimeout;
  state_.say(text);
  const std::lock_guard lock(state_.results.mutex);
  state_.results.faults.push_back({std::move(text), kernel_, {}});
  return true;
}

void LaunchTree::begin_next() {
  const machine::DeviceWork next = std::move(left_.back());
  left_.pop_back();
  try {
    std::visit([&](const auto& work) { begin(work); }, next);
  } catch (const Failure& failure) {  // which the program cannot see
    if (failure.kept) return;
    const std::string text = "what a kernel launched failed: " + reason_of(failure);
    state_.say(text);
    if (failure.is_fault) state_.results.keep_wrong_call(text);
  }
}

void LaunchTree::begin(const KernelCall& call, const LaunchOrder::Place& place) {
  keeping_failures(state_, call,
                   [&] { current_ = std::make_unique<KernelRun>(state_, call, place); });
}

void LaunchTree::begin(const machine::DeviceLaunch& launch) {
  const auto& [x, y, z] = launch.grid;
  const auto& [width, height, depth] = launch.block;
  begin(KernelCall{.kernel = &state_.modules.function_called(*module_, launch.kernel),
                   .grid = dim3(x, y, z),
                   .block = dim3(width, height, depth),
                   .shared_bytes = launch.dynamic_shared_bytes,
                   .parameters = launch.parameters});
}

void LaunchTree::begin(const machine::DeviceCopy& copy) {
  auto* const source = const_cast<std::byte*>(copy.source);
  perform(state_, Copy{.destination = {{copy.destination}, Side::device},
                       .source = {{source}, Side::device},
                       .size = {.width = copy.bytes}});
}

void LaunchTree::begin(const machine::DeviceFill& fill) {
  perform(state_, Fill{.box = {fill.begin}, .size = {.width = fill.bytes}, .value = fill.value});
}

void perform(State& state, const KernelCall& call) {
  LaunchTree(state, call, {}).run(std::nullopt);
}

void perform_in_order(State& state, cudaStream_t stream, const KernelCall& call) {
  LaunchOrder::Place place;
  const machine::Checks& checks = state.options().checks;
  if (checks.races || checks.allocations) {
    place = state.device().order.launch(order_name(stream), is_dependent(call), waits_for(state));
    if (checks.allocations) place.unallocated = unallocated(state, stream);
  }
  if (state.background.is_busy()) {  // one kernel at a time
    put_behind(state, stream,
               [&state, call, place] { LaunchTree(state, call, place).run_in_background(); });
    return;
  }
  const auto tree = std::make_shared<LaunchTree>(state, call, place);
  if (!tree->run(kPatience)) put_behind(state, stream, [tree] { tree->run_in_background(); });
}

}  // namespace warpgauge::emulator::runtime
