// The texts of what the history of accesses finds.
#pragma once

#include <cstdint>
#include <string>

#include "harness/emulator/machine/memory/access.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/machine/warp.h"

namespace warpgauge::emulator::machine {

/// An access that was made before. `counter` is that of its instruction.
struct EarlierAccess {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;  ///< in its block
  std::uint64_t counter = 0;
  bool wrote = false;
  bool in_flight = false;  ///< cp.async that its thread has not waited for
};

/// "f.cu:12": the instruction with this counter.
std::string place_of_counter(const Warp& warp, std::uint64_t counter);
/// Whether it is a cp.async.
bool is_async_copy(const Warp& warp, std::uint64_t counter);

/// The access of `lane` races with an earlier one of its block, or (global memory) of another.
void report_race(const Warp& warp, const Instruction& instruction, const memory::Access& access,
                 memory::Window window, int lane, std::uint64_t address,
                 const EarlierAccess& earlier);
void report_unwritten(const Warp& warp, const Instruction& instruction,
                      const memory::Access& access, memory::Window window, int lane,
                      std::uint64_t address);
/// Two lanes store different values to one word.
void report_stores(const Warp& warp, const Instruction& instruction, const memory::Access& access,
                   memory::Window window, int lane, int other, std::uint64_t address);
/// `lane` takes a value from one that does not take part.
void report_shuffle(const Warp& warp, const Instruction& instruction, int lane, int from);

}  // namespace warpgauge::emulator::machine
