// Arguments of built-in functions, and the memory that they point to.
#include "harness/emulator/machine/control/builtin_call.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "harness/emulator/machine/core/window.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {

std::span<const std::byte> BuiltinCall::memory_at(std::uint64_t address) const {
  const memory::MemoryContext& memory = *warp_.memory;
  const auto part = [&](const std::byte* begin, std::uint64_t bytes, Window window) {
    const std::uint64_t offset = address - window_base(window);
    if (offset >= bytes) fail(Fault::Kind::illegal_address, "a text or argument out of bounds");
    return std::span(begin + offset, bytes - offset);
  };
  switch (static_cast<Window>(address >> kWindowShift)) {
    case Window::shared:
      return part(memory.shared, memory.shared_bytes, Window::shared);
    case Window::local:
      return part(memory.local + static_cast<std::uint64_t>(lane_) * memory.local_stride,
                  memory.local_bytes, Window::local);
    case Window::parameter:
      return part(memory.parameters, memory.parameter_bytes, Window::parameter);
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

void BuiltinCall::store(std::uint64_t address, std::uint64_t value, std::size_t bytes) const {
  const std::span<const std::byte> memory = memory_at(address);
  if (memory.size() < bytes) fail(Fault::Kind::illegal_address, "a result out of bounds");
  std::memcpy(const_cast<std::byte*>(memory.data()), &value, bytes);
  if (address >> kWindowShift == 0) launch().memory.note_written(memory.data(), bytes);
}

std::byte* BuiltinCall::allocate(std::uint64_t bytes) const {
  auto& in_use = launch().heap_in_use;
  const std::uint64_t most = launch().options.heap_bytes;
  if (bytes > most) return nullptr;
  std::byte* memory = nullptr;
  if (in_use.fetch_add(bytes) + bytes <= most) {
    memory = launch().memory.allocate(bytes, memory::Memory::Kind::heap, "malloc in a kernel");
  }
  if (memory == nullptr) in_use.fetch_sub(bytes);
  return memory;
}

bool BuiltinCall::release(std::uint64_t address) const {
  if (address >> kWindowShift != 0) return false;
  auto* const begin = reinterpret_cast<std::byte*>(address);
  memory::Memory& memory = launch().memory;
  const auto found = memory.find(begin);
  const bool is_ours = found && found->kind == memory::Memory::Kind::heap && found->begin == begin;
  if (!is_ours || !memory.free(begin)) return false;
  launch().heap_in_use.fetch_sub(found->bytes);
  return true;
}

}  // namespace warpgauge::emulator::machine::control
