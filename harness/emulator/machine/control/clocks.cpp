// Clocks and timers.
#include "harness/emulator/machine/control/clocks.h"

#include <bit>
#include <chrono>

#include "harness/emulator/machine/control/engine.h"

namespace warpgauge::emulator::machine::control {
namespace {

template <typename T>
void write_uniform(Warp& warp, const Instruction& instruction, T value) {
  T* const to = destination<T>(warp, instruction);
  for (Mask left = warp.active; left != 0; left &= left - 1) to[std::countr_zero(left)] = value;
}

// Clocks tick with each look, and the more a warp has looked, the further, so that loops that wait
// for time to pass end soon. A cycle is what a warp might need for an instruction: times of an
// emulation mean nothing.
std::uint64_t clock_cycles(Warp& warp) {
  const std::uint64_t reads = ++warp.engine->counts.clock_reads;
  return 4 * warp.engine->counts.steps + 16 * reads * (reads + 1);
}
std::uint64_t nanoseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

template <typename T>
void read_clock(Warp& warp, const Instruction& instruction) {
  write_uniform(warp, instruction, static_cast<T>(clock_cycles(warp) >> instruction.offset));
}
template <typename T>
void read_timer(Warp& warp, const Instruction& instruction) {
  write_uniform(warp, instruction, static_cast<T>(nanoseconds() >> instruction.offset));
}

constexpr Clock kClocks[] = {
    {"%clock", read_clock<std::uint32_t>, 0, ptx::Type::u32},
    {"%clock_hi", read_clock<std::uint32_t>, 32, ptx::Type::u32},
    {"%clock64", read_clock<std::uint64_t>, 0, ptx::Type::u64},
    {"%globaltimer", read_timer<std::uint64_t>, 0, ptx::Type::u64},
    {"%globaltimer_lo", read_timer<std::uint32_t>, 0, ptx::Type::u32},
    {"%globaltimer_hi", read_timer<std::uint32_t>, 32, ptx::Type::u32},
};

}  // namespace

const Clock* find_clock(std::string_view name) {
  for (const Clock& clock : kClocks) {
    if (clock.name == name) return &clock;
  }
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::control
