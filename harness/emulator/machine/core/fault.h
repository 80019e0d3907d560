// The fault that stops a kernel.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/emulator/machine/core/act.h"
#include "metrics/base/source_line.h"

namespace warpgauge::emulator::machine {

struct KernelCode;

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
  /// Where it came about, for with_place().
  struct Site {
    Act act;
    bool has_thread = true;  ///< else it is of the whole warp
  };
  explicit Fault(Kind kind, const std::string& what, std::string kernel = "",
                 metrics::SourceLine source = {})
      : std::runtime_error(what),
        kind_(kind),
        kernel_(std::move(kernel)),
        source_(std::move(source)) {}
  Fault(Kind kind, const std::string& what, const Site& site)
      : std::runtime_error(what), kind_(kind), site_(site) {}
  Kind kind() const { return kind_; }
  const std::string& kernel() const { return kernel_; }          ///< mangled; empty if not known
  const metrics::SourceLine& source() const { return source_; }  ///< file empty if not known
  const std::optional<Site>& site() const { return site_; }      ///< nothing: what() has its text

 private:
  Kind kind_;
  std::string kernel_;
  metrics::SourceLine source_;
  std::optional<Site> site_;
};

/// Throws a Fault at `instruction` of the running function, of the lowest of `lanes`: no lanes, of
/// the whole warp. `what` says what is wrong.
[[noreturn]] void fault(const Warp& warp, const Instruction& instruction, Mask lanes,
                        Fault::Kind kind, const char* what);

/// The fault with its place in front of what(): "kernel K, block (x,y,z), thread (x,y,z),
/// FILE:LINE: ...".
Fault with_place(const Fault& fault, const KernelCode& kernel, const Launch& launch);

}  // namespace warpgauge::emulator::machine
