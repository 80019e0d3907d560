// The fault that stops a kernel.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "metrics/base/source_line.h"

namespace warpgauge::emulator::machine {

struct Instruction;
struct Warp;

/// A fault of a kernel: the launch ends, the device is left unusable where a GPU would be. what()
/// names kernel, block, thread, address and allocation as far as they matter, and file:line, for
/// people; kernel() and source() are the same for programs.
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
    not_emulated,  ///< an instruction that is refused by name
    invalid_texture,
  };
  explicit Fault(Kind kind, const std::string& what, std::string kernel = "",
                 metrics::SourceLine source = {})
      : std::runtime_error(what),
        kind_(kind),
        kernel_(std::move(kernel)),
        source_(std::move(source)) {}
  Kind kind() const { return kind_; }
  const std::string& kernel() const { return kernel_; }          ///< mangled; empty if not known
  const metrics::SourceLine& source() const { return source_; }  ///< file empty if not known

 private:
  Kind kind_;
  std::string kernel_;
  metrics::SourceLine source_;
};

/// "kernel K, block (x,y,z), thread (x,y,z), FILE:LINE": the thread is the lowest of `lanes`, the
/// line that of `instruction`, of the running function.
std::string place_of(const Warp& warp, const Instruction& instruction, std::uint32_t lanes);

/// Throws a Fault whose message names the kernel, block, thread (the lowest of `lanes`), the source
/// line of `instruction` (of the running function), and then says `what`.
[[noreturn]] void fault(const Warp& warp, const Instruction& instruction, std::uint32_t lanes,
                        Fault::Kind kind, const char* what);

}  // namespace warpgauge::emulator::machine
