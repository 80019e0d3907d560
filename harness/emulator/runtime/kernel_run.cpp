// A launch of one kernel.
#include "harness/emulator/runtime/kernel_run.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/emulator/counting/access_table.h"
#include "harness/emulator/counting/coverage.h"
#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/program.h"
#include "harness/emulator/ptx/error.h"
#include "harness/emulator/runtime/allocation_checks.h"
#include "harness/emulator/runtime/clusters.h"
#include "harness/emulator/runtime/copy_of_process.h"
#include "harness/emulator/runtime/device_properties.h"
#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/functions.h"

namespace warpgauge::emulator::runtime {
namespace {

cudaError_t error_of(machine::Fault::Kind kind) {
  using Kind = machine::Fault::Kind;
  switch (kind) {
    case Kind::illegal_address:
      return cudaErrorIllegalAddress;
    case Kind::misaligned_address:
      return cudaErrorMisalignedAddress;
    case Kind::illegal_instruction:
      return cudaErrorIllegalInstruction;
    case Kind::assertion:
      return cudaErrorAssert;
    case Kind::stack_overflow:
      return cudaErrorHardwareStackError;
    case Kind::deadlock:
    case Kind::step_limit:
    case Kind::time_limit:
      return cudaErrorLaunchTimeout;
    case Kind::not_emulated:
      return cudaErrorNotSupported;
    case Kind::trap:
    case Kind::invalid_texture:
      break;
  }
  return cudaErrorLaunchFailure;
}

/// The number of blocks of a launch that the GPU holds at once.
std::uint64_t resident_blocks(State& state, const Function& function, const KernelCall& request) {
  const int threads = static_cast<int>(request.block.x * request.block.y * request.block.z);
  return static_cast<std::uint64_t>(state.limits().multiprocessors) *
         blocks_per_multiprocessor(state, function, threads, request.shared_bytes);
}

void check_cooperative(State& state, const Function& function, const KernelCall& request) {
  const auto blocks = static_cast<std::uint64_t>(request.grid.x) * request.grid.y * request.grid.z;
  require(blocks <= resident_blocks(state, function, request), cudaErrorCooperativeLaunchTooLarge);
}

bool is_cooperative(const KernelCall& request) {
  const auto found = request.attributes.find(cudaLaunchAttributeCooperative);
  return found != request.attributes.end() && found->second.cooperative != 0;
}

machine::Launch launch_of(State& state, const Function& function, const KernelCall& call,
                          const LaunchOrder::Place& place) {
  return {.grid = {call.grid.x, call.grid.y, call.grid.z},
          .block = {call.block.x, call.block.y, call.block.z},
          .dynamic_shared_bytes = call.shared_bytes,
          .cooperative = is_cooperative(call),
          .parameters = call.parameters,
          .registers = static_cast<std::uint32_t>(function.registers()),
          .resident_blocks = resident_blocks(state, function, call),
          .cluster = cluster_of(state, function, call),
          .number = place.number,
          .concurrent = place.concurrent};
}

/// The lines of a race, "f.cu:12 and f.cu:20"; empty where they are not known.
std::string lines_of(const machine::Finding& race) {
  const auto name = [](const std::string& place) {
    return std::filesystem::path(place).filename().string();  // folders differ between machines
  };
  if (race.source.line == 0) return "";  // and the other is none of a file
  return fmt::format("{}:{} and {}", name(race.source.file), race.source.line, name(race.other));
}

/// The kernel of a call. Throws Failure if it cannot be launched so.
Function& checked_function(State& state, const KernelCall& call) {
  check_dimensions(call);
  Function& function = function_of(state, call.kernel);
  const int threads = static_cast<int>(call.block.x * call.block.y * call.block.z);
  require(threads <= threads_by_bounds(state, function));
  require(threads <= threads_by_registers(state, function), cudaErrorLaunchOutOfResources);
  require(call.shared_bytes <= max_dynamic_shared_bytes(state, function));
  if (is_cooperative(call)) check_cooperative(state, function, call);
  return function;
}

}  // namespace

void check_dimensions(const KernelCall& request) {
  const unsigned grid[] = {request.grid.x, request.grid.y, request.grid.z};
  const unsigned block[] = {request.block.x, request.block.y, request.block.z};
  std::uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    require(grid[i] > 0 && grid[i] <= static_cast<unsigned>(kMaxGridDimensions[i]),
            cudaErrorInvalidConfiguration);
    require(block[i] > 0 && block[i] <= static_cast<unsigned>(kMaxBlockDimensions[i]),
            cudaErrorInvalidConfiguration);
    threads *= block[i];
  }
  require(threads <= kMaxThreadsPerBlock, cudaErrorInvalidConfiguration);
}

Watched::Watched(LaunchWatch* watch, const Function& function, const machine::Launch& launch)
    : watch_(watch),
      kernel_(function.name),
      launch_{.grid = launch.grid,
              .block = launch.block,
              .dynamic_shared_bytes = launch.dynamic_shared_bytes,
              .cluster = launch.cluster.value_or(metrics::kNoCluster)} {
  if (watch_ != nullptr) counts_ = watch_->begins(kernel_, launch_, function.code);
}

Watched::~Watched() {
  if (watch_ != nullptr) watch_->ends(kernel_, launch_, kept_);
}

KernelRun::KernelRun(State& state, const KernelCall& call, const LaunchOrder::Place& place)
    : state_(state),
      call_(call),
      function_(checked_function(state, call_)),
      place_(place),
      launch_(launch_of(state, function_, call_, place)),
      watched_(state.watch, function_, launch_) {
  state.flush_prints();
  for (const auto& [handle, array] : state.device().arrays) {
    if (array->writes != nullptr) array->writes->forget();
  }
  if (state.covers) launch_.hits = &hits_;
  launch_.findings = &findings_;
  if (memory_decides_counts()) launch_.races = &races_;
  if (state.options().checks.allocations && place.number != 0) {
    launch_.uses = &uses_;
    state.memory().look_anew();
  }
  try {
    state.device().machine.prepare(*function_.kernel);
  } catch (const ptx::PtxError& error) {
    throw Failure{cudaErrorInvalidPtx, error.what()};
  }
  if (state.orders.are_used()) replay_order();
}

/// Whether what kernels load can decide counts of this launch, or of a later one. What threads of
/// the launch race for is looked for then.
bool KernelRun::memory_decides_counts() {
  const std::lock_guard lock(state_.results.mutex);
  counting::MemoryState& memory = state_.results.memory;
  memory.decides_counts |= !function_.trust->unsettled.empty();
  return memory.decides_counts && !memory.is_unsettled();
}

/// Compares the launch in the order of the file to be replayed, if it is the one.
void KernelRun::replay_order() {
  file_ = state_.orders.next_launch(state_.arch(), function_.name, launch_);
  try {
    launch_.replayed = state_.orders.replayed(*file_, *function_.kernel->code);
  } catch (const std::invalid_argument& error) {
    why_not_replayed_ = error.what();
  }
}

void KernelRun::keep_findings() {
  State::Results& results = state_.results;
  if (!why_not_replayed_.empty()) {
    results.findings.push_back({why_not_replayed_, function_.name, {}, "", ""});
  }
  bool is_unbroken = launch_.replayed != nullptr && problem_ == nullptr;
  for (const machine::Finding& finding : findings_) {
    std::string text = finding.text;
    if (file_) text += state_.orders.keep(*file_, *function_.kernel->code, finding);
    // What the order does has no rule of a check.
    is_unbroken &= !finding.rule.empty() && finding.rule != "order";
    if (state_.prints_findings) state_.say(text);
    results.findings.push_back({text, function_.name, finding.source, finding.rule, finding.other});
  }
  if (is_unbroken) state_.say(state_.orders.unbroken_text());
}

bool KernelRun::run(std::optional<std::chrono::milliseconds> patience) {
  machine::Machine& machine = state_.device().machine;
  try {
    if (machine.options().schedules > 0 || launch_.replayed != nullptr) {
      outcome_ = machine.run(*function_.kernel, launch_);
    } else {
      if (run_ == nullptr) run_ = machine.begin(*function_.kernel, launch_);
      if (!run_->run(patience)) return false;
      outcome_ = run_->take_outcome();
    }
    machine.try_barriers(*function_.kernel, launch_, holds_in_copy, findings_);
  } catch (...) {
    problem_ = std::current_exception();
  }
  return true;
}

void KernelRun::compare(State::Results& results) {
  const bool is_asked_for = state_.options().checks.unequal;
  if (!is_asked_for && state_.watch == nullptr) return;
  std::uint64_t sectors = 0;
  for (const machine::InstructionTotals& instruction : outcome_.totals) {
    const metrics::Counts counts = counting::counts_of(instruction.access);
    sectors += counts.global_load_sectors + counts.global_store_sectors +
               counts.global_atomic_sectors + counts.bulk_sectors;
  }
  results.finds_unequal = is_asked_for;
  watched_.kept(
      {results.equal_launches.add(function_.name, watched_.launch(), launch_.parameters, sectors)});
}

std::vector<machine::DeviceWork> KernelRun::finish() {
  State::Results& results = state_.results;
  const auto unsettle = [&] { results.memory.memory = metrics::Memory::unsettled; };
  const auto keep = [&] {
    if (results.coverage) counting::add_launch(*results.coverage, hits_);
    keep_findings();
    if (!findings_.empty() || !races_.empty()) unsettle();
    if (results.memory.race.empty() && !races_.empty()) {
      results.memory.race = lines_of(races_.front());
    }
  };
  try {
    if (problem_ != nullptr) std::rethrow_exception(problem_);
    note_uses(state_, place_, function_.name, std::move(uses_));
    const std::lock_guard lock(results.mutex);
    keep();
    if (watched_.counts()) {
      results.counts->add(function_.name, outcome_, function_.trust, results.memory);
      results.accesses->add(function_.name, outcome_, *function_.trust, results.memory);
      compare(results);
    }
    if (function_.trust->unsettles_memory) unsettle();
    return std::move(outcome_.work);
  } catch (const machine::Fault& fault) {
    state_.fault = error_of(fault.kind());
    const std::lock_guard lock(results.mutex);
    keep();
    state_.say(fault.what());
    results.faults.push_back({fault.what(), fault.kernel(), fault.source()});
    return {};
  }
}

}  // namespace warpgauge::emulator::runtime
