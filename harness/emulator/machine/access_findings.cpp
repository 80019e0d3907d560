// The texts of what the history of accesses finds.
#include "harness/emulator/machine/access_findings.h"

#include <string>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/finding.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {
namespace {

using memory::Window;

/// "global read of 4 bytes at byte 8 of cudaMalloc #2 (400 bytes)"
std::string named(const Warp& warp, const memory::Access& access, Window window,
                  std::uint64_t address) {
  const std::string title = memory::title(access, window, address);
  if (window != Window::global) return title;
  const auto* const at = reinterpret_cast<const void*>(address);
  return title.substr(0, title.rfind(' ') + 1) + warp.memory->memory->describe(at, access.width);
}

std::string thread_text(const Warp& warp, std::uint32_t thread) {
  const auto& size = warp.engine->block->launch.launch.block;
  return "thread " + control::index_text({thread % size[0], thread / size[0] % size[1],
                                          thread / size[0] / size[1]});
}

std::string block_text(const Warp& warp, std::uint64_t block) {
  const auto& grid = warp.engine->block->launch.launch.grid;
  return "block " + control::index_text({static_cast<std::uint32_t>(block % grid[0]),
                                         static_cast<std::uint32_t>(block / grid[0] % grid[1]),
                                         static_cast<std::uint32_t>(block / grid[0] / grid[1])});
}

}  // namespace

std::string place_of_counter(const Warp& warp, std::uint64_t counter) {
  const KernelCode::Counter& known = warp.engine->block->launch.code.counters[counter];
  return source_place(*known.code, known.instruction);
}

bool is_async_copy(const Warp& warp, std::uint64_t counter) {
  const KernelCode::Counter& known = warp.engine->block->launch.code.counters[counter];
  return known.code->function->body[known.instruction].opcode == "cp";
}

void report_race(const Warp& warp, const Instruction& instruction, const memory::Access& access,
                 Window window, int lane, std::uint64_t address, const EarlierAccess& earlier) {
  const control::Block& block = *warp.engine->block;
  const std::string other = place_of_counter(warp, earlier.counter);
  std::string what =
      named(warp, access, window, address) + ", which " + thread_text(warp, earlier.thread);
  if (window == Window::global) what += " of " + block_text(warp, earlier.block);
  what += std::string(" has ") + (earlier.wrote ? "written" : "read") + " at " + other + "; ";
  if (earlier.in_flight) {
    what += "the copy may not have arrived: no cp.async.wait_group of that thread stands between";
  } else if (window == Window::global && earlier.block != block.number) {
    what +=
        "the blocks are not ordered: only an atomic with __threadfence(), or a barrier of the "
        "grid, orders them";
  } else if (earlier.thread / kLanes == warp.memory->warp) {
    what += "no __syncwarp() stands between";
  } else {
    what += "no __syncthreads() stands between";
  }
  report(warp, instruction, lane, "race", other, what);
}

void report_unwritten(const Warp& warp, const Instruction& instruction,
                      const memory::Access& access, Window window, int lane,
                      std::uint64_t address) {
  report(warp, instruction, lane, "uninitialised", "",
         named(warp, access, window, address) + (window == Window::shared
                                                     ? ": no thread of the block has written it"
                                                     : ": nothing has written it"));
}

void report_stores(const Warp& warp, const Instruction& instruction, const memory::Access& access,
                   Window window, int lane, int other, std::uint64_t address) {
  const std::uint32_t thread = warp.memory->warp * kLanes + static_cast<std::uint32_t>(other);
  report(warp, instruction, lane, "one word, several values", "",
         named(warp, access, window, address) + ", to which " + thread_text(warp, thread) +
             " of the same warp stores another value: which one stays is not defined");
}

void report_shuffle(const Warp& warp, const Instruction& instruction, int lane, int from) {
  report(warp, instruction, lane, "shuffle", "",
         "takes the value of lane " + std::to_string(from) +
             ", which does not take part: what it gets is not defined");
}

}  // namespace warpgauge::emulator::machine
