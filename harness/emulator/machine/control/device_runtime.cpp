// The device runtime: what kernels call to launch kernels. It comes from libcudadevrt, which has no
// PTX.
#include <string_view>
#include <utility>
#include <vector>

#include "harness/emulator/machine/control/builtin_call.h"
#include "harness/emulator/machine/control/calls.h"
#include "harness/emulator/machine/core/device_work.h"
#include "harness/emulator/machine/core/error_table.h"

namespace warpgauge::emulator::machine::control {
namespace {

using Size = std::array<std::uint32_t, 3>;

DeviceQueue::Thread thread_of(const BuiltinCall& call) {
  const Size& block = call.launch().launch.block;
  const Size thread = call.thread();
  return {call.block().number,
          thread[0] + std::uint64_t{block[0]} * (thread[1] + std::uint64_t{block[1]} * thread[2])};
}

void return_error(const BuiltinCall& call, DeviceError error) {
  call.return_value(static_cast<std::uint64_t>(error));
}

/// Returns the error of a call that fails where `succeeds` is false.
void return_error_unless(bool succeeds, const BuiltinCall& call, DeviceError error) {
  return_error(call,
               succeeds ? DeviceError::none : call.launch().queue.fail(thread_of(call), error));
}

// void* cudaGetParameterBufferV2(void* kernel, dim3 grid, dim3 block, unsigned shared_bytes)
void get_parameter_buffer(const BuiltinCall& call) {
  DeviceLaunch shape{.grid = call.argument<Size>(1),
                     .block = call.argument<Size>(2),
                     .dynamic_shared_bytes = call.argument(3)};
  std::byte* const parameters =
      call.launch().queue.reserve(thread_of(call), call.argument(0), std::move(shape));
  call.return_value(reinterpret_cast<std::uint64_t>(parameters));
}

// cudaError_t cudaLaunchDeviceV2(void* parameters, cudaStream_t stream)
void launch_device(const BuiltinCall& call) {
  auto* const parameters = reinterpret_cast<std::byte*>(call.argument(0));
  return_error(call, call.launch().queue.launch(thread_of(call), parameters, call.argument(1)));
}

// cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, kind, cudaStream_t stream)
void copy(const BuiltinCall& call) {
  const DeviceCopy work{reinterpret_cast<std::byte*>(call.argument(0)),
                        reinterpret_cast<const std::byte*>(call.argument(1)), call.argument(2)};
  call.launch().queue.add(thread_of(call), work, call.argument(4));
  return_error(call, DeviceError::none);
}

// cudaError_t cudaMemsetAsync(void* begin, int value, size_t bytes, cudaStream_t stream)
void fill(const BuiltinCall& call) {
  const DeviceFill work{reinterpret_cast<std::byte*>(call.argument(0)),
                        static_cast<std::uint8_t>(call.argument(1)), call.argument(2)};
  call.launch().queue.add(thread_of(call), work, call.argument(3));
  return_error(call, DeviceError::none);
}

// Streams and events: all that a block asks for is done in its order, so they only have names.
void make_handle(const BuiltinCall& call) {
  call.store(call.argument(0), call.launch().queue.new_handle(), sizeof(std::uint64_t));
  return_error(call, DeviceError::none);
}

void succeed(const BuiltinCall& call) { return_error(call, DeviceError::none); }

template <bool kForget>
void last_error(const BuiltinCall& call) {
  return_error(call, call.launch().queue.last_error(thread_of(call), kForget));
}

template <const char* ErrorText::*kText>
void error_text(const BuiltinCall& call) {
  const char* const text = machine::error_text(static_cast<int>(call.argument(0))).*kText;
  call.return_value(reinterpret_cast<std::uint64_t>(call.launch().queue.keep_text(text)));
}

template <std::uint32_t kValue>
void store_number(const BuiltinCall& call) {
  call.store(call.argument(0), kValue, sizeof kValue);
  return_error(call, DeviceError::none);
}

// cudaError_t cudaMalloc(void** memory, size_t bytes): of the heap of kernels.
void cuda_allocate(const BuiltinCall& call) {
  std::byte* const memory = call.allocate(call.argument(1));
  call.store(call.argument(0), reinterpret_cast<std::uint64_t>(memory), sizeof memory);
  return_error_unless(memory != nullptr, call, DeviceError::out_of_memory);
}

void cuda_release(const BuiltinCall& call) {
  const std::uint64_t address = call.argument(0);
  return_error_unless(address == 0 || call.release(address), call, DeviceError::invalid_value);
}

constexpr std::pair<std::string_view, Builtin> kFunctions[] = {
    {"GetParameterBufferV2", each_lane<get_parameter_buffer>},
    {"LaunchDeviceV2", each_lane<launch_device>},
    {"MemcpyAsync", each_lane<copy>},
    {"MemsetAsync", each_lane<fill>},
    {"StreamCreateWithFlags", each_lane<make_handle>},
    {"StreamDestroy", each_lane<succeed>},
    {"StreamWaitEvent", each_lane<succeed>},
    {"EventCreateWithFlags", each_lane<make_handle>},
    {"EventRecord", each_lane<succeed>},
    {"EventRecordWithFlags", each_lane<succeed>},
    {"EventDestroy", each_lane<succeed>},
    {"GetLastError", each_lane<last_error<true>>},
    {"PeekAtLastError", each_lane<last_error<false>>},
    {"GetErrorName", each_lane<error_text<&ErrorText::name>>},
    {"GetErrorString", each_lane<error_text<&ErrorText::text>>},
    {"GetDevice", each_lane<store_number<0>>},
    {"GetDeviceCount", each_lane<store_number<1>>},
    {"Malloc", each_lane<cuda_allocate>},
    {"Free", each_lane<cuda_release>},
};

}  // namespace

Builtin find_device_runtime(std::string_view name) {
  constexpr std::string_view kPerThread = "_ptsz";
  if (!name.starts_with(kDeviceRuntimePrefix)) return nullptr;
  name.remove_prefix(kDeviceRuntimePrefix.size());
  if (name.ends_with(kPerThread)) name.remove_suffix(kPerThread.size());
  for (const auto& [known, function] : kFunctions) {
    if (known == name) return function;
  }
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::control
