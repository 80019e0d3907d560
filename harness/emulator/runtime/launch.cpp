// Launches. A kernel has run to its end when its launch returns; later calls report its fault,
// as on a GPU, where launches return at once.
#include "harness/emulator/runtime/launch.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/emulator/counting/access_table.h"
#include "harness/emulator/counting/coverage.h"
#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/launch_watch.h"
#include "harness/emulator/machine/fault.h"
#include "harness/emulator/machine/launcher.h"
#include "harness/emulator/ptx/error.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/device_properties.h"
#include "harness/emulator/runtime/functions.h"
#include "metrics/fact.h"

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

void check_cooperative(State& state, const Function& function, const KernelCall& request) {
  const int threads = static_cast<int>(request.block.x * request.block.y * request.block.z);
  const auto blocks = static_cast<std::uint64_t>(request.grid.x) * request.grid.y * request.grid.z;
  const auto fit = static_cast<std::uint64_t>(
      state.limits().multiprocessors *
      blocks_per_multiprocessor(state, function, threads, request.shared_bytes));
  require(blocks <= fit, cudaErrorCooperativeLaunchTooLarge);
}

/// A launch under a watch, if there is one.
class Watched {
 public:
  Watched(LaunchWatch* watch, const Function& function, const machine::Launch& launch)
      : watch_(watch),
        kernel_(function.name),
        launch_{.grid = launch.grid,
                .block = launch.block,
                .dynamic_shared_bytes = launch.dynamic_shared_bytes} {
    if (watch_ != nullptr) counts_ = watch_->begins(kernel_, launch_, function.code);
  }
  ~Watched() {
    if (watch_ != nullptr) watch_->ends(kernel_, launch_, kept_);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  bool counts() const { return counts_; }
  void kept() { kept_ = true; }

 private:
  LaunchWatch* watch_;
  const std::string& kernel_;
  const metrics::Launch launch_;
  bool counts_ = true, kept_ = false;
};

bool is_cooperative(const KernelCall& request) {
  const auto found = request.attributes.find(cudaLaunchAttributeCooperative);
  return found != request.attributes.end() && found->second.cooperative != 0;
}

machine::Launch launch_of(const KernelCall& call) {
  return {.grid = {call.grid.x, call.grid.y, call.grid.z},
          .block = {call.block.x, call.block.y, call.block.z},
          .dynamic_shared_bytes = call.shared_bytes,
          .cooperative = is_cooperative(call),
          .parameters = call.parameters};
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

/// How long a kernel only waits for memory to change until its launch returns.
constexpr std::chrono::milliseconds kPatience{20};

/// A launch of one kernel.
class KernelRun {
 public:
  /// Throws Failure.
  KernelRun(State& state, const KernelCall& call)
      : state_(state),
        call_(call),
        function_(checked_function(state, call_)),
        launch_(launch_of(call_)),
        watched_(state.watch, function_, launch_) {
    state.flush_prints();
    for (const auto& [handle, array] : state.device().arrays) {
      if (array->writes != nullptr) array->writes->forget();
    }
    if (state.covers) launch_.hits = &hits_;
    try {
      state.device().machine.prepare(*function_.kernel);
    } catch (const ptx::PtxError& error) {
      throw Failure{cudaErrorInvalidPtx, error.what()};
    }
  }

  Module& module() const { return *function_.module; }

  /// False: it waits for memory. Needs no lock.
  bool run(std::optional<std::chrono::milliseconds> patience) {
    machine::Machine& machine = state_.device().machine;
    try {
      if (machine.options().schedules > 0) {
        outcome_ = machine.run(*function_.kernel, launch_);
        return true;
      }
      if (run_ == nullptr) run_ = machine.begin(*function_.kernel, launch_);
      if (!run_->run(patience)) return false;
      outcome_ = run_->take_outcome();
    } catch (...) {
      problem_ = std::current_exception();
    }
    return true;
  }

  /// Keeps its counts or its fault. Returns what the kernel has launched.
  std::vector<machine::DeviceWork> finish() {
    State::Results& results = state_.results;
    const auto cover = [&] {
      if (results.coverage) counting::add_launch(*results.coverage, hits_);
    };
    try {
      if (problem_ != nullptr) std::rethrow_exception(problem_);
      const std::lock_guard lock(results.mutex);
      cover();
      for (const machine::Finding& finding : outcome_.findings) {
        state_.say(finding.text);
        results.findings.push_back({finding.text, function_.name, finding.source});
      }
      if (!outcome_.findings.empty()) results.memory = metrics::Memory::unsettled;
      if (watched_.counts()) {
        results.counts->add(function_.name, outcome_, *function_.trust, results.memory);
        results.accesses->add(function_.name, outcome_, *function_.trust, results.memory);
        watched_.kept();
      }
      if (function_.trust->unsettles_memory) results.memory = metrics::Memory::unsettled;
      return std::move(outcome_.work);
    } catch (const machine::Fault& fault) {
      state_.fault = error_of(fault.kind());
      state_.say(fault.what());
      const std::lock_guard lock(results.mutex);
      cover();
      results.faults.push_back({fault.what(), fault.kernel(), fault.source()});
      return {};
    }
  }

 private:
  State& state_;
  const KernelCall call_;
  Function& function_;
  std::vector<machine::FunctionHits> hits_;
  machine::Launch launch_;
  Watched watched_;
  std::unique_ptr<machine::LaunchRun> run_;
  machine::LaunchOutcome outcome_;
  std::exception_ptr problem_;
};

/// Its name in the program; empty if the program has no such kernel.
std::string name_of(State& state, const void* kernel) {
  try {
    return function_of(state, kernel).name;
  } catch (const Failure&) {
    return "";
  }
}

/// Keeps, each once, why a launch cannot begin.
void keep_failure(State& state, const KernelCall& request, const Failure& failure) {
  const dim3 grid = request.grid, block = request.block;
  std::string text =
      fmt::format("a launch of {} x {} x {} blocks of {} x {} x {} threads failed: {} ({})", grid.x,
                  grid.y, grid.z, block.x, block.y, block.z, cudaGetErrorName(failure.code),
                  failure.why.empty() ? cudaGetErrorString(failure.code) : failure.why);
  const std::string kernel = name_of(state, request.kernel);
  const std::lock_guard lock(state.results.mutex);
  auto& failures = state.results.failed_launches;
  const bool is_known = std::ranges::any_of(
      failures, [&](const auto& known) { return known.text == text && known.kernel == kernel; });
  if (!is_known) failures.push_back({std::move(text), kernel, {}});
}

/// Runs `body`; a failure of it is that of a launch.
void keeping_failures(State& state, const KernelCall& request, const std::function<void()>& body) {
  state.begin_launch();
  try {
    body();
  } catch (Failure& failure) {
    keep_failure(state, request, failure);
    failure.kept = true;
    throw;
  }
}

/// A launch with all that its kernel launches, and what that launches: each before what comes after
/// it.
class LaunchTree {
 public:
  /// Throws Failure.
  LaunchTree(State& state, const KernelCall& call) : state_(state) {
    begin(call);
    module_ = &current_->module();
  }

  /// False: a kernel waits for memory.
  bool run(std::optional<std::chrono::milliseconds> patience) {
    return run_with([&] { return current_->run(patience); });
  }
  /// To its end, without the lock where kernels run.
  void run_in_background() {
    run_with([&] {
      state_.background.unlocked([&] { current_->run(std::nullopt); });
      return true;
    });
  }

 private:
  template <typename RunKernel>
  bool run_with(RunKernel run_kernel) {
    for (;;) {
      if (current_ != nullptr) {
        if (!run_kernel()) return false;
        add(current_->finish());
        current_.reset();
      }
      if (left_.empty() || state_.fault != cudaSuccess) return true;
      begin_next();
    }
  }

  void add(std::vector<machine::DeviceWork> work) {
    std::ranges::move(std::views::reverse(work), std::back_inserter(left_));
  }

  void begin_next() {
    const machine::DeviceWork next = std::move(left_.back());
    left_.pop_back();
    try {
      std::visit([&](const auto& work) { begin(work); }, next);
    } catch (const Failure& failure) {  // which the program cannot see
      if (!failure.kept) state_.say("what a kernel launched failed: " + failure.why);
    }
  }

  void begin(const KernelCall& call) {
    keeping_failures(state_, call, [&] { current_ = std::make_unique<KernelRun>(state_, call); });
  }
  void begin(const machine::DeviceLaunch& launch) {
    const auto& [x, y, z] = launch.grid;
    const auto& [width, height, depth] = launch.block;
    begin(KernelCall{.kernel = &state_.modules.function_called(*module_, launch.kernel),
                     .grid = dim3(x, y, z),
                     .block = dim3(width, height, depth),
                     .shared_bytes = launch.dynamic_shared_bytes,
                     .parameters = launch.parameters});
  }
  void begin(const machine::DeviceCopy& copy) {
    auto* const source = const_cast<std::byte*>(copy.source);
    perform(state_, Copy{.destination = {{copy.destination}, Side::device},
                         .source = {{source}, Side::device},
                         .size = {.width = copy.bytes}});
  }
  void begin(const machine::DeviceFill& fill) {
    perform(state_, Fill{.box = {fill.begin}, .size = {.width = fill.bytes}, .value = fill.value});
  }

  State& state_;
  Module* module_ = nullptr;
  std::unique_ptr<KernelRun> current_;
  std::vector<machine::DeviceWork> left_;  ///< the next one last
};

void launch(State& state, KernelCall request, void** arguments, cudaStream_t stream) {
  keeping_failures(state, request, [&] {
    check_dimensions(request);
    require_stream(state, stream);
    pack_arguments(state, request, arguments);
    submit(state, stream, request);
  });
}

KernelCall cooperative(KernelCall request) {
  cudaLaunchAttributeValue value{};
  value.cooperative = 1;
  request.attributes[cudaLaunchAttributeCooperative] = value;
  return request;
}

}  // namespace

void perform(State& state, const KernelCall& call) { LaunchTree(state, call).run(std::nullopt); }

void perform_in_order(State& state, cudaStream_t stream, const KernelCall& call) {
  if (state.background.is_busy()) {  // one kernel at a time
    put_behind(state, stream, [&state, call] { LaunchTree(state, call).run_in_background(); });
    return;
  }
  const auto tree = std::make_shared<LaunchTree>(state, call);
  if (!tree->run(kPatience)) put_behind(state, stream, [tree] { tree->run_in_background(); });
}

void pack_arguments(State& state, KernelCall& call, void** arguments) {
  const auto& info = info_of(state, function_of(state, call.kernel));
  require(arguments != nullptr || info.parameters.empty());
  call.parameters.assign(info.parameter_bytes, {});
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    require(arguments[i] != nullptr);
    std::memcpy(call.parameters.data() + info.parameters[i].offset, arguments[i],
                info.parameters[i].bytes);
  }
}

// Attributes that only make a launch faster change nothing.
void set_attribute(KernelCall& call, cudaLaunchAttributeID id,
                   const cudaLaunchAttributeValue& value) {
  switch (static_cast<int>(id)) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeCooperative:
      break;
    case cudaLaunchAttributeClusterDimension:
      if (value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1) {
        throw Failure{cudaErrorNotSupported, "thread block clusters are not emulated"};
      }
      break;
    default:
      throw Failure{
          cudaErrorNotSupported,
          "launch attribute " + std::to_string(static_cast<int>(id)) + " is not emulated"};
  }
  call.attributes[id] = value;
}

WARPGAUGE_API cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block,
                                           void** arguments, std::size_t shared_bytes,
                                           cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    launch(state, {kernel, grid, block, shared_bytes}, arguments, stream);
  });
}

// <<<>>> calls this in code of nvcc 13.
WARPGAUGE_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                             void** arguments, std::size_t shared_bytes,
                                             cudaStream_t stream) {
  return call_in_stream("cudaLaunchKernel", [&](State& state) {
    launch(state, {kernel, grid, block, shared_bytes}, arguments, stream);
  });
}

WARPGAUGE_API cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                                      void** arguments, std::size_t shared_bytes,
                                                      cudaStream_t stream) {
  return call_in_stream(__func__, [&](State& state) {
    launch(state, cooperative({kernel, grid, block, shared_bytes}), arguments, stream);
  });
}

WARPGAUGE_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                              void** arguments) {
  return call_in_stream(__func__, [&](State& state) {
    require(config != nullptr);
    require(config->attrs != nullptr || config->numAttrs == 0);
    KernelCall request{kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      set_attribute(request, config->attrs[i].id, config->attrs[i].val);
    }
    launch(state, std::move(request), arguments, config->stream);
  });
}

WARPGAUGE_PER_THREAD(cudaLaunchKernel, _ptsz)
WARPGAUGE_PER_THREAD(__cudaLaunchKernel, _ptsz)
WARPGAUGE_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)
WARPGAUGE_PER_THREAD(cudaLaunchKernelExC, _ptsz)

}  // namespace warpgauge::emulator::runtime
