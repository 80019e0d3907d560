// Copies of one, two and three dimensions.
#include "harness/emulator/runtime/copy.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>

#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/state.h"
#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {
namespace {

using MemoryKind = machine::memory::Memory::Kind;

bool host_may_touch(MemoryKind kind) {
  return kind == MemoryKind::managed || kind == MemoryKind::pinned_host;
}

/// Bytes from the first to behind the last; fails if they are more than there can be.
std::size_t span_of(const Box& box, const Size& size) {
  std::size_t slices = 0, rows = 0, sum = 0;
  const bool fits = !__builtin_mul_overflow(box.slice, size.depth - 1, &slices) &&
                    !__builtin_mul_overflow(box.pitch, size.height - 1, &rows) &&
                    !__builtin_add_overflow(slices, rows, &sum) &&
                    !__builtin_add_overflow(sum, size.width, &sum);
  require(fits);
  return sum;
}

}  // namespace

Sides sides_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return {Side::host, Side::host};
    case cudaMemcpyHostToDevice:
      return {Side::device, Side::host};
    case cudaMemcpyDeviceToHost:
      return {Side::host, Side::device};
    case cudaMemcpyDeviceToDevice:
      return {Side::device, Side::device};
    case cudaMemcpyDefault:
      return {Side::any, Side::any};
  }
  throw Failure{cudaErrorInvalidMemcpyDirection};
}

void check_end(State& state, const End& end, const Size& size, const char* role) {
  if (size.empty()) return;
  const std::byte* const begin = end.box.begin;
  const std::size_t bytes = span_of(end.box, size);
  const auto fail = [&](const std::string& why, bool is_fault = false) {
    throw Failure{.code = cudaErrorInvalidValue,
                  .why = std::string("the ") + role + " " + why,
                  .is_fault = is_fault};
  };
  if (begin == nullptr) fail("is a null pointer");

  const auto found = state.memory().find(begin);
  if (!found) {
    if (end.side == Side::device) {
      fail("is not device memory: " + state.memory().describe(begin), true);
    }
    return;
  }
  if (end.side == Side::host && !host_may_touch(found->kind)) {
    fail("is device memory (" + found->name + "), and the kind of copy says host");
  }
  const auto left = static_cast<std::size_t>(found->end() - begin);
  if (bytes > left) {
    fail("has " + std::to_string(left) + " bytes left in " + found->name + ", not " +
             std::to_string(bytes),
         true);
  }
}

namespace {

/// Hosts decide by a flag or a count: results are more.
constexpr std::size_t kMostBytesOfDecisions = 64;

bool is_of_device(State& state, const void* memory) {
  const auto allocation = state.memory().find(memory);
  return allocation && !host_may_touch(allocation->kind);
}

/// Keeps that the host knows what the order of threads may have decided.
void note_decision(State& state, const Copy& copy) {
  const Size& size = copy.size;
  if (size.width * size.height * size.depth > kMostBytesOfDecisions) return;
  const std::lock_guard lock(state.results.mutex);
  counting::MemoryState& memory = state.results.memory;
  if (!memory.is_unsettled() || memory.decides_launches) return;
  memory.decides_launches = is_of_device(state, copy.source.box.begin) &&
                            !is_of_device(state, copy.destination.box.begin);
}

}  // namespace

void perform(State& state, const Copy& copy) {
  const auto& [destination, source, size] = copy;
  check_end(state, destination, size, "destination");
  check_end(state, source, size, "source");
  if (size.empty()) return;
  const Box& to = destination.box;
  const Box& from = source.box;
  for (std::size_t z = 0; z < size.depth; ++z) {
    for (std::size_t y = 0; y < size.height; ++y) {
      std::byte* const row = to.begin + z * to.slice + y * to.pitch;
      const std::byte* const from_row = from.begin + z * from.slice + y * from.pitch;
      std::memmove(row, from_row, size.width);
      if (state.options().checks.uninitialised) {
        state.memory().note_copied(row, from_row, size.width);
      } else {
        state.memory().note_written(row, size.width);
      }
    }
  }
  note_decision(state, copy);
}

End end_in_array(const Array& array, std::size_t x, std::size_t y, std::size_t z,
                 const Size& size) {
  const auto fits = [](std::size_t offset, std::size_t count, std::size_t all) {
    return offset <= all && count <= all - offset;
  };
  if (!size.empty() && !(fits(x, size.width, array.pitch()) && fits(y, size.height, array.rows()) &&
                         fits(z, size.depth, array.slices()))) {
    throw Failure{
        .code = cudaErrorInvalidValue,
        .why = fmt::format("{} x {} x {} bytes, rows and slices from ({}, {}, {}) on leave "
                           "an array of {} x {} x {}",
                           size.width, size.height, size.depth, x, y, z, array.pitch(),
                           array.rows(), array.slices()),
        .is_fault = true};
  }
  return {{array.data + z * array.slice_bytes() + y * array.pitch() + x, array.pitch(),
           array.slice_bytes()},
          Side::device};
}

}  // namespace warpgauge::emulator::runtime
