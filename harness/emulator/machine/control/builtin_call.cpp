// Memory that built-in functions read, write, allocate and release for a lane.
#include "harness/emulator/machine/control/builtin_call.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/machine/core/window.h"
#include "harness/emulator/machine/memory/access_bounds.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {
namespace {

Access access_of(AccessEffect effect, std::size_t bytes) {
  const auto width = static_cast<std::uint8_t>(bytes);
  return {.effect = effect, .width = width, .used_to = width};
}

/// Adds the bytes to those in use, if `most` are not exceeded then.
bool reserve(std::atomic<std::uint64_t>& in_use, std::uint64_t bytes, std::uint64_t most) {
  if (bytes > most) return false;
  std::uint64_t before = in_use.load();
  do {
    if (before > most - bytes) return false;
  } while (!in_use.compare_exchange_weak(before, before + bytes));
  return true;
}

}  // namespace

template <typename Byte>
std::span<Byte> BuiltinCall::part_of(std::span<Byte> memory, std::uint64_t address,
                                     const Access& access) const {
  const Window window = window_of(address);
  const std::uint64_t offset = address - window_base(window);
  if (offset < memory.size() && access.width <= memory.size() - offset) {
    return memory.subspan(offset);
  }
  fail(Fault::Kind::illegal_address,
       "invalid " + title(access, window, offset) + ": " + memory::end_text(*warp_.memory, window));
}

std::span<std::byte> BuiltinCall::reached(std::uint64_t address, const Access& access) const {
  const memory::MemoryContext& memory = *warp_.memory;
  if (window_of(address) == Window::shared) {
    return part_of(std::span(memory.shared, memory.shared_bytes), address, access);
  }
  if (window_of(address) == Window::local) {
    std::byte* const own = memory.local + static_cast<std::uint64_t>(lane_) * memory.local_stride;
    return part_of(std::span(own, memory.local_bytes), address, access);
  }
  const memory::Memory::Extent extent =
      memory::admit_lane(warp_, instruction_, access, lane_, address, access.width);
  return {reinterpret_cast<std::byte*>(address), extent.end - address};
}

std::span<const std::byte> BuiltinCall::readable(std::uint64_t address, std::size_t bytes) const {
  const Access access = access_of(AccessEffect::read, bytes);
  if (window_of(address) != Window::parameter) return reached(address, access);
  const memory::MemoryContext& memory = *warp_.memory;
  return part_of(std::span(memory.parameters, memory.parameter_bytes), address, access);
}

std::span<std::byte> BuiltinCall::writable(std::uint64_t address, std::size_t bytes) const {
  const Access access = access_of(AccessEffect::write, bytes);
  if (window_of(address) != Window::parameter) return reached(address, access);
  const std::uint64_t offset = address - window_base(Window::parameter);
  fail(Fault::Kind::illegal_address, "invalid " + title(access, Window::parameter, offset) +
                                         ": kernels may only read their parameters");
}

std::uint64_t BuiltinCall::load(std::uint64_t address, std::size_t bytes) const {
  std::uint64_t value = 0;
  std::memcpy(&value, readable(address, bytes).data(), bytes);
  return value;
}

void BuiltinCall::store(std::uint64_t address, std::uint64_t value, std::size_t bytes) const {
  std::byte* const to = writable(address, bytes).data();
  std::memcpy(to, &value, bytes);
  if (window_of(address) == Window::global) launch().memory.note_written(to, bytes);
}

std::string BuiltinCall::text_at(std::uint64_t address, std::size_t most) const {
  if (address == 0) return "(null)";
  if (most == 0) return "";
  const std::span<const std::byte> memory = readable(address, 1);
  const auto read = memory.first(std::min(memory.size(), most));
  const auto end = std::ranges::find(read, std::byte{0});
  if (end == read.end() && read.size() < most) {
    const std::string place =
        warp_.memory->memory->describe(reinterpret_cast<const void*>(address));
    fail(Fault::Kind::illegal_address,
         "a text without its zero byte: it begins at " + hexadecimal(address) + ", " + place);
  }
  return {reinterpret_cast<const char*>(read.data()), static_cast<std::size_t>(end - read.begin())};
}

std::byte* BuiltinCall::allocate(std::uint64_t bytes) const {
  auto& in_use = launch().heap_in_use;
  if (!reserve(in_use, bytes, launch().options.heap_bytes)) return nullptr;
  std::byte* const memory =
      launch().memory.allocate(bytes, memory::Memory::Kind::heap, "malloc in a kernel");
  if (memory == nullptr) in_use.fetch_sub(bytes);
  return memory;
}

bool BuiltinCall::release(std::uint64_t address) const {
  if (window_of(address) != Window::global) return false;
  auto* const begin = reinterpret_cast<std::byte*>(address);
  memory::Memory& memory = launch().memory;
  const auto found = memory.find(begin);
  const bool is_ours = found && found->kind == memory::Memory::Kind::heap && found->begin == begin;
  if (!is_ours || !memory.free(begin)) return false;
  launch().heap_in_use.fetch_sub(found->bytes);
  return true;
}

}  // namespace warpgauge::emulator::machine::control
