// Functions that compiled kernels call and that have no body in PTX: printf, malloc, free, assert,
// and of the device runtime what needs no launch.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string>

#include "harness/emulator/machine/conditions.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/calls.h"
#include "harness/emulator/machine/control/device_text.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/control/frames.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {
namespace {

/// A call of a built-in function by one lane.
class BuiltinCall {
 public:
  BuiltinCall(Warp& warp, const Instruction& instruction, const CallSite& site, int lane)
      : warp_(warp), instruction_(instruction), site_(site), lane_(lane) {}

  std::uint64_t argument(std::size_t n) const {
    std::uint64_t value = 0;
    const Passed& passed = site_.arguments.at(n);
    std::memcpy(&value, location(passed), std::min<std::size_t>(passed.bytes, sizeof value));
    return value;
  }
  void return_value(std::uint64_t value) const {
    if (site_.results.empty()) return;
    const Passed& passed = site_.results.front();
    std::memcpy(location(passed), &value, std::min<std::size_t>(passed.bytes, sizeof value));
  }
  [[noreturn]] void fail(Fault::Kind kind, const std::string& what) const {
    fault(warp_, instruction_, Mask{1} << lane_, kind, what.c_str());
  }
  /// The memory from a generic address on, as far as it may be read.
  std::span<const std::byte> memory_at(std::uint64_t address) const;
  /// The text that ends with a zero byte.
  std::string text_at(std::uint64_t address) const;
  Block& block() const { return *warp_.engine->block; }
  LaunchContext& launch() const { return block().launch; }
  std::array<std::uint32_t, 3> thread() const { return thread_index(warp_, lane_); }

 private:
  std::byte* location(const Passed& passed) const {
    const PassedValues values = passed_values(warp_, *warp_.engine->frame, passed);
    return values.data + static_cast<std::uint64_t>(lane_) * values.stride;
  }

  Warp& warp_;
  const Instruction& instruction_;
  const CallSite& site_;
  int lane_;
};

std::span<const std::byte> BuiltinCall::memory_at(std::uint64_t address) const {
  const memory::MemoryContext& memory = *warp_.memory;
  const auto part = [&](const std::byte* begin, std::uint64_t bytes, memory::Window window) {
    const std::uint64_t offset = address - window_base(window);
    if (offset >= bytes) fail(Fault::Kind::illegal_address, "a text or argument out of bounds");
    return std::span(begin + offset, bytes - offset);
  };
  switch (static_cast<memory::Window>(address >> memory::kWindowShift)) {
    case memory::Window::shared:
      return part(memory.shared, memory.shared_bytes, memory::Window::shared);
    case memory::Window::local:
      return part(memory.local + static_cast<std::uint64_t>(lane_) * memory.local_stride,
                  memory.local_bytes, memory::Window::local);
    case memory::Window::parameter:
      return part(memory.parameters, memory.parameter_bytes, memory::Window::parameter);
    default:
      break;
  }
  const auto* const begin = reinterpret_cast<const std::byte*>(address);
  const auto extent = memory.memory->extent(address);
  if (!extent) {
    fail(Fault::Kind::illegal_address,
         "a text or argument lies " + memory.memory->describe(begin, 1));
  }
  return {begin, extent->end - address};
}

std::string BuiltinCall::text_at(std::uint64_t address) const {
  if (address == 0) return "(null)";
  const std::span<const std::byte> memory = memory_at(address);
  const auto end = std::find(memory.begin(), memory.end(), std::byte{0});
  return {reinterpret_cast<const char*>(memory.data()),
          static_cast<std::size_t>(end - memory.begin())};
}

template <void (*kCall)(const BuiltinCall&)>
void each_lane(Warp& warp, const Instruction& instruction, const CallSite& site) {
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    kCall(BuiltinCall(warp, instruction, site, std::countr_zero(left)));
  }
}

// int vprintf(const char* format, void* arguments): returns the number of arguments.
void print(const BuiltinCall& call) {
  const std::uint64_t arguments = call.argument(1);
  const PrintfSource source = {
      [&](std::uint64_t offset, int bytes) {
        const std::span<const std::byte> memory = call.memory_at(arguments + offset);
        std::uint64_t value = 0;
        std::memcpy(&value, memory.data(),
                    std::min(memory.size(), static_cast<std::size_t>(bytes)));
        return value;
      },
      [&](std::uint64_t address) { return call.text_at(address); }};
  const Printed printed = format_text(call.text_at(call.argument(0)), source);
  call.launch().output.write(call.block().number, printed.text);
  call.return_value(static_cast<std::uint64_t>(printed.arguments));
}

// void* malloc(size_t bytes): null where the heap is full.
void allocate(const BuiltinCall& call) {
  const std::uint64_t bytes = call.argument(0);
  auto& in_use = call.launch().heap_in_use;
  std::byte* memory = nullptr;
  if (bytes <= call.launch().options.heap_bytes &&
      in_use.fetch_add(bytes) + bytes <= call.launch().options.heap_bytes) {
    memory = call.launch().memory.allocate(bytes, memory::Memory::Kind::heap, "malloc in a kernel");
  }
  if (memory == nullptr && bytes <= call.launch().options.heap_bytes) in_use.fetch_sub(bytes);
  call.return_value(reinterpret_cast<std::uint64_t>(memory));
}

void release(const BuiltinCall& call) {
  const std::uint64_t address = call.argument(0);
  if (address == 0) return;
  auto* const begin = reinterpret_cast<std::byte*>(address);
  memory::Memory& memory = call.launch().memory;
  const bool in_window = address >> memory::kWindowShift != 0;
  const auto found = in_window ? std::nullopt : memory.find(begin);
  if (!found || found->kind != memory::Memory::Kind::heap || found->begin != begin ||
      !memory.free(begin)) {
    call.fail(Fault::Kind::illegal_address,
              "free of a pointer that malloc in a kernel did not return, or freed already");
  }
  call.launch().heap_in_use.fetch_sub(found->bytes);
}

// void __assertfail(const char* condition, const char* file, unsigned line, const char* function,
// size_t char_size)
void fail_assertion(const BuiltinCall& call) {
  const auto index = [](const std::array<std::uint32_t, 3>& i) {
    return "[" + std::to_string(i[0]) + "," + std::to_string(i[1]) + "," + std::to_string(i[2]) +
           "]";
  };
  call.fail(Fault::Kind::assertion,
            call.text_at(call.argument(1)) + ":" + std::to_string(call.argument(2)) + ": " +
                call.text_at(call.argument(3)) + ": block: " + index(call.block().index) +
                ", thread: " + index(call.thread()) + " Assertion `" +
                call.text_at(call.argument(0)) + "` failed.");
}

// void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value)
void set_condition(const BuiltinCall& call) {
  auto* const begin = reinterpret_cast<std::byte*>(call.argument(0));
  const auto found = call.launch().memory.find(begin);
  if (!found || found->begin != begin || found->name != kConditionName) {
    call.fail(Fault::Kind::illegal_address,
              "cudaGraphSetConditional with a handle that is none of a conditional node");
  }
  const auto value = static_cast<std::uint32_t>(call.argument(1));
  std::memcpy(begin, &value, sizeof value);
}

}  // namespace

Builtin find_builtin(std::string_view name) {
  if (name == "vprintf") return each_lane<print>;
  if (name == "malloc") return each_lane<allocate>;
  if (name == "free") return each_lane<release>;
  if (name == "__assertfail") return each_lane<fail_assertion>;
  if (name == "cudaGraphSetConditional") return each_lane<set_condition>;
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::control
