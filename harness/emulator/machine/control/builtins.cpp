// The functions that kernels call and that have no body in PTX: printf, malloc, free, assert,
// cudaGraphSetConditional.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "harness/emulator/machine/control/builtin_call.h"
#include "harness/emulator/machine/control/calls.h"
#include "harness/emulator/machine/control/device_text.h"
#include "harness/emulator/machine/core/graph_condition.h"
#include "harness/emulator/machine/memory/memory.h"

namespace warpgauge::emulator::machine::control {
namespace {

// int vprintf(const char* format, void* arguments): returns the number of arguments.
void print(const BuiltinCall& call) {
  const std::uint64_t arguments = call.argument(1);
  const PrintfSource source = {
      [&](std::uint64_t offset, int bytes) {
        return call.load(arguments + offset, static_cast<std::size_t>(bytes));
      },
      [&](std::uint64_t address, std::size_t most) { return call.text_at(address, most); }};
  const Printed printed = format_text(call.text_at(call.argument(0)), source);
  call.launch().output.write(call.block().number, printed.text);
  call.return_value(static_cast<std::uint64_t>(printed.arguments));
}

// void* malloc(size_t bytes): null where the heap is full.
void allocate(const BuiltinCall& call) {
  call.return_value(reinterpret_cast<std::uint64_t>(call.allocate(call.argument(0))));
}

// void free(void* pointer)
void release(const BuiltinCall& call) {
  const std::uint64_t address = call.argument(0);
  if (address == 0 || call.release(address)) return;
  call.fail(Fault::Kind::illegal_address,
            "free of a pointer that malloc in a kernel did not return, or freed already");
}

/// "[x,y,z]", as CUDA writes it in the message of an assertion.
std::string bracketed(const std::array<std::uint32_t, 3>& index) {
  return "[" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
         std::to_string(index[2]) + "]";
}

// void __assertfail(const char* condition, const char* file, unsigned line, const char* function,
// size_t char_size)
void fail_assertion(const BuiltinCall& call) {
  const std::string condition = call.text_at(call.argument(0));
  const std::string file = call.text_at(call.argument(1));
  const std::string line = std::to_string(call.argument(2));
  const std::string function = call.text_at(call.argument(3));
  call.fail(Fault::Kind::assertion,
            file + ":" + line + ": " + function + ": block: " + bracketed(call.block().index) +
                ", thread: " + bracketed(call.thread()) + " Assertion `" + condition + "` failed.");
}

// void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value)
void set_condition(const BuiltinCall& call) {
  auto* const begin = reinterpret_cast<std::byte*>(call.argument(0));
  const auto found = call.launch().memory.find(begin);
  if (!found || found->begin != begin || found->name != kConditionName) {
    call.fail(Fault::Kind::illegal_address,
              "cudaGraphSetConditional with a handle that no conditional node has");
  }
  const auto value = static_cast<std::uint32_t>(call.argument(1));
  call.launch().memory.extent_to_write(call.argument(0), sizeof value);
  std::memcpy(begin, &value, sizeof value);
}

}  // namespace

Builtin find_builtin(std::string_view name) {
  if (name == "vprintf") return each_lane<print>;
  if (name == "malloc") return each_lane<allocate>;
  if (name == "free") return each_lane<release>;
  if (name == "__assertfail") return each_lane<fail_assertion>;
  if (name == "cudaGraphSetConditional") return each_lane<set_condition>;
  return find_device_runtime(name);
}

}  // namespace warpgauge::emulator::machine::control
