// Finds mistakes with allocations, and words them.
#include "harness/emulator/runtime/allocation_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/stream_order.h"

namespace warpgauge::emulator::runtime {
namespace {

using machine::MemoryUse;
using machine::memory::Memory;

constexpr std::string_view kNothingBetween = "no event and no wait of the program stands between";

/// "cudaMalloc #3": the function and the number.
std::pair<std::string, std::uint64_t> parts_of(const std::string& name) {
  const std::size_t at = name.rfind('#') + 1;
  std::uint64_t number = 0;
  std::from_chars(name.data() + at, name.data() + name.size(), number);
  return {name.substr(0, at), number};
}

/// Allocations of one function and one size, by their numbers: most are of one place of the
/// program.
std::string leak_text(const std::string& function, std::uint64_t bytes,
                      const std::vector<std::uint64_t>& numbers) {
  constexpr std::size_t kNamed = 5;
  const std::size_t named = std::min(kNamed, numbers.size());
  std::string text = fmt::format("leak: {}{}", function,
                                 fmt::join(numbers.begin(), numbers.begin() + named, ", #"));
  if (numbers.size() > named) text += fmt::format(" and {} more", numbers.size() - named);
  const std::string size = machine::bytes_text(bytes);
  if (numbers.size() == 1) return text + fmt::format(" ({}) was never freed", size);
  return text + fmt::format(" ({} each, {} in all) were never freed", size, bytes * numbers.size());
}

/// A finding of one line of a kernel is kept once.
void keep_use(State& state, const std::string& kernel, const char* rule, const MemoryUse& use,
              const std::string& why) {
  const auto memory = state.memory().find(use.memory);
  state.find(
      {.text = fmt::format("{}: {}: {}, {}: {}", use.who, rule, use.what, why, kNothingBetween),
       .kernel = kernel,
       .source = use.source,
       .rule = rule,
       .other = memory ? memory->name : ""});
}

void keep_early(State& state, const std::string& kernel, const MemoryUse& use) {
  keep_use(state, kernel, "use before allocation", use, "which is allocated in another stream");
}

/// The stream-ordered allocation that the bytes lie in; nullptr: they are in none.
std::pair<const std::byte* const, OrderedMemory>* ordered(State& state, const std::byte* bytes) {
  auto& memory = state.device().ordered_memory;
  if (memory.empty()) return nullptr;
  const auto allocation = state.memory().find(bytes);
  if (!allocation) return nullptr;
  const auto found = memory.find(allocation->begin);
  return found == memory.end() ? nullptr : &*found;
}

void note_use_of(State& state, cudaStream_t stream, const Box& box, const char* who,
                 const char* what) {
  auto* const found = ordered(state, box.begin);
  if (found == nullptr) return;
  auto& [begin, memory] = *found;
  const MemoryUse use = {begin, who, what + state.memory().describe(box.begin), {}};
  LaunchOrder& order = state.device().order;
  const cudaStream_t name = order_name(stream);
  if (!order.has_ended(memory.allocated, name, waits_for(state))) keep_early(state, "", use);
  memory.last[name] = {order.mark(name, waits_for(state)), "", {use}};
}

}  // namespace

void find_leaks(State& state) {
  if (!state.options().checks.allocations || !state.has_own_device()) return;
  if (state.fault != cudaSuccess) return;  // no call could free it
  std::map<std::pair<std::string, std::uint64_t>, std::vector<std::uint64_t>> leaks;
  for (const Memory::Allocation& allocation : state.memory().unfreed()) {
    if (state.device().kept_memory.contains(allocation.begin)) continue;
    const auto [function, number] = parts_of(allocation.name);
    leaks[{function, allocation.bytes}].push_back(number);
  }
  for (auto& [kind, numbers] : leaks) {
    const auto& [function, bytes] = kind;
    std::ranges::sort(numbers);
    state.find({.text = leak_text(function, bytes, numbers),
                .kernel = "",
                .source = {},
                .rule = "leak",
                .other = function + std::to_string(numbers.front())});
  }
}

void find_wrong_free(State& state, const char* function, const void* memory) {
  if (!state.options().checks.allocations) return;
  const auto freed = state.memory().freed(memory);
  const auto found = freed ? freed : state.memory().find(memory);
  const char* const rule = freed ? "double free" : "invalid free";
  const std::string what = found ? state.memory().describe(memory) : "no allocation";
  state.find({.text = fmt::format("{}: {} of what is {}", rule, called_as(function), what),
              .kernel = "",
              .source = {},
              .rule = rule,
              .other = found ? found->name : ""});
}

void note_allocated(State& state, const void* memory, cudaStream_t stream) {
  if (!state.options().checks.allocations || memory == nullptr) return;
  const auto* const begin = static_cast<const std::byte*>(memory);
  Device& device = state.device();
  device.ordered_memory[begin] = {device.order.mark(order_name(stream), waits_for(state))};
  device.machine.memory().tell_uses(begin);
}

void note_freed(State& state, const void* memory, cudaStream_t stream) {
  auto& known = state.device().ordered_memory;
  const auto found = known.find(static_cast<const std::byte*>(memory));
  if (found == known.end()) return;
  const auto has_ended = [&](const LaunchOrder::Mark& work) {
    return state.device().order.has_ended(work, order_name(stream), waits_for(state));
  };
  if (!has_ended(found->second.allocated)) {
    keep_early(state, "",
               {found->first,
                called_as("cudaFreeAsync"),
                "free of " + state.memory().describe(memory),
                {}});
  }
  for (const auto& [user, uses] : found->second.last) {
    if (has_ended(uses.when)) continue;
    for (const MemoryUse& use : uses.how) {
      keep_use(state, uses.kernel, "use after free", use, "which another stream frees");
    }
  }
  known.erase(found);
}

std::set<const void*> unallocated(State& state, cudaStream_t stream) {
  std::set<const void*> early;
  for (const auto& [begin, memory] : state.device().ordered_memory) {
    const bool is_there =
        state.device().order.has_ended(memory.allocated, order_name(stream), waits_for(state));
    if (!is_there) early.insert(begin);
  }
  return early;
}

void note_uses(State& state, const LaunchOrder::Place& place, const std::string& kernel,
               std::vector<MemoryUse> uses) {
  std::map<const std::byte*, std::vector<MemoryUse>> by_memory;
  for (MemoryUse& use : uses) {
    if (place.unallocated.contains(use.memory)) keep_early(state, kernel, use);
    by_memory[use.memory].push_back(std::move(use));
  }
  auto& known = state.device().ordered_memory;
  for (auto& [begin, how] : by_memory) {
    const auto found = known.find(begin);
    if (found == known.end()) continue;
    found->second.last[place.stream] = {{place.stream, place.number}, kernel, std::move(how)};
  }
}

void note_uses(State& state, cudaStream_t stream, const Copy& copy) {
  note_use_of(state, stream, copy.source.box, "a copy", "read from ");
  note_use_of(state, stream, copy.destination.box, "a copy", "write to ");
}

void note_uses(State& state, cudaStream_t stream, const Fill& fill) {
  note_use_of(state, stream, fill.box, "a fill", "write to ");
}

}  // namespace warpgauge::emulator::runtime
