// The fault that stops a kernel.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace warpgauge::emulator::machine {

struct Instruction;
struct Warp;

/// A fault of a kernel: the launch ends, the device is left unusable where a GPU would be. what()
/// names kernel, block, thread, address and allocation as far as they matter, and file:line.
class Fault : public std::runtime_error {
 public:
  enum class Kind {
    illegal_address,  ///< out of bounds, freed, unmapped
    misaligned_address,
    illegal_instruction,
    trap,            ///< trap; and __trap()
    assertion,       ///< device-side assert
    stack_overflow,  ///< recursion deeper than the stack limit
    deadlock,        ///< no warp of a block can go on
    step_limit,
    time_limit,
    not_emulated,   ///< an instruction that is refused by name
    uninitialised,  ///< uninitialised shared memory was read (when checked)
    invalid_texture,
  };
  Fault(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// Throws a Fault whose message names the kernel, block, thread (the lowest of `lanes`), the source
/// line of `instruction` (of the running function), and then says `what`.
[[noreturn]] void fault(const Warp& warp, const Instruction& instruction, std::uint32_t lanes,
                        Fault::Kind kind, const char* what);

}  // namespace warpgauge::emulator::machine
