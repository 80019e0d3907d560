// Turns the instructions of a PTX function into what the machine executes. Each family of
// instructions has a decoding function of its own (see families.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/emulator/machine/compile/operation.h"
#include "harness/emulator/machine/core/access_plan.h"
#include "harness/emulator/machine/core/architecture.h"
#include "harness/emulator/machine/core/location.h"
#include "harness/emulator/machine/core/operand_slot.h"
#include "harness/emulator/machine/core/options.h"
#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::ptx {
struct Instruction;
struct Operand;
}  // namespace warpgauge::emulator::ptx

namespace warpgauge::emulator::machine::decode {

/// An instruction, or a form of one, that the machine cannot execute. Decoding goes on: the code
/// gets an instruction that throws the fault "not emulated: NAME at FILE:LINE" when it is reached.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The services for the families' decoding functions, implemented by FunctionDecoder.
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// The vector of an operand that is read as `type`: a register of the same width, an immediate
  /// (a constant vector of `type`; for pred a Mask), a special register, or the address of a
  /// variable + offset in its own state space, 32 or 64 bits wide as `type` says (.local: from the
  /// start of the lane's local memory). Of an address operand: of its base, without the offset.
  /// Throws Unsupported for a register of another width: where the instruction allows that, ask for
  /// the register_type.
  virtual OperandSlot source(const ptx::Operand& operand, ptx::Type type) = 0;
  /// The vector of a register that is written. `_` gives a scratch vector that is never read.
  virtual OperandSlot destination(const ptx::Operand& operand, ptx::Type type) = 0;
  /// Declared type of a register or special register; Type::none of anything else.
  virtual ptx::Type register_type(const ptx::Operand& operand) const = 0;
  /// A vector in the frame for the instruction's own use, `bytes` long.
  virtual OperandSlot scratch(std::uint32_t bytes) = 0;
  /// The present instruction computes this: for the compiler.
  virtual void note(const compile::Operation& operation) = 0;
  /// The warps of a block have to wait for each other.
  virtual void note_dependence() = 0;
  /// Keeps `detail` alive as long as the code and returns its address, for Instruction::detail.
  virtual const void* keep(std::shared_ptr<const void> detail) = 0;

  /// A variable, parameter or function by name; nothing if there is none (a register, say).
  virtual std::optional<Location> place(std::string_view name) const = 0;
  /// A new counter of this instruction: a number from 0 over the kernel and all that it calls.
  /// Its counts are in MemoryContext::caches[number]; the launch reports it with the line.
  virtual std::uint32_t counter(const ptx::Instruction& instruction) = 0;
  /// How the instruction's accesses count.
  virtual AccessPlan access_plan(const ptx::Instruction& instruction) const = 0;
  virtual const Architecture& architecture() const = 0;
  virtual const Options& options() const = 0;
  /// Whether the function is a kernel. In device functions .param is local memory.
  virtual bool decodes_kernel() const = 0;
};

}  // namespace warpgauge::emulator::machine::decode
