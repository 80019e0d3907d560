// Decoded functions: what the engine runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/parameter_vectors.h"
#include "harness/emulator/machine/core/special_registers.h"
#include "metrics/base/source_line.h"

namespace warpgauge::emulator::ptx {
struct Function;
struct Module;
}  // namespace warpgauge::emulator::ptx

namespace warpgauge::emulator::machine {

struct CallSite;

/// The first multiple of `alignment` (0 means 1) from `offset` on.
constexpr std::uint64_t round_up(std::uint64_t offset, std::uint64_t alignment) {
  const std::uint64_t step = alignment == 0 ? 1 : alignment;
  return (offset + step - 1) / step * step;
}

/// An argument or a result of a call, seen from either side.
struct Passed {
  bool in_register = false;  ///< else in the frame's local memory
  OperandSlot slot{};        ///< where a register or an immediate is
  std::uint64_t offset = 0;  ///< in the frame's local memory
  std::uint32_t bytes = 0;   ///< one lane's
};

/// A function without a body (printf and its like) that the engine executes itself.
using Builtin = void (*)(Warp&, const Instruction&, const CallSite&);

/// A function of a kernel's code.
struct Code {
  /// A vector of the frame that holds the address of something in the frame's local memory.
  struct LocalAddress {
    OperandSlot slot;
    int bytes;  ///< 4 or 8
    std::uint64_t offset;
  };
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::uint32_t number = 0;  ///< in KernelCode::functions
  /// The instructions of the body, in the order of code_layout.h, and an exit or return for its
  /// end.
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> places;  ///< in `instructions`, by position in the body
  std::uint64_t register_bytes = 0;
  std::uint64_t local_bytes = 0;  ///< a frame's
  std::vector<LocalAddress> local_addresses;
  std::vector<Passed> parameters, results;  ///< device functions have them
  std::vector<const CallSite*> calls;
};

/// Detail of a call.
struct CallSite {
  const Code* code = nullptr;  ///< a direct call's
  Builtin builtin = nullptr;
  bool indirect = false;                   ///< the function's address is source 0
  std::vector<Passed> arguments, results;  ///< in the frame of the caller
};

/// A function that indirect calls may reach.
struct AddressedFunction {
  std::uint64_t address;
  const Code* code;
};

/// Uninitialised bytes whose start is aligned.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size, std::size_t alignment = kVectorAlignment);
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// All that running a kernel needs and that does not change from launch to launch.
struct KernelCode {
  struct Counter {
    const Code* code;
    std::uint32_t instruction;                    ///< index in the body
    bool waits = false;                           ///< in a loop, for memory to change
    const metrics::SourceLine* source = nullptr;  ///< in `sources`
  };
  struct Branch {
    const Code* code;
    std::uint32_t instruction;                    ///< index in the body
    const metrics::SourceLine* source = nullptr;  ///< in `sources`
  };
  /// An instruction that is not emulated: a fault where it is reached.
  struct Refused {
    const Code* code;
    std::uint32_t instruction;  ///< index in the body
    std::string why;            ///< empty: it is not known
  };
  struct SharedVariable {
    std::string name;                    ///< as in the source
    std::uint64_t begin = 0, bytes = 0;  ///< of dynamic shared memory: 0 bytes
  };
  std::string name;                              ///< mangled
  std::string display;                           ///< as in the source, for messages
  std::vector<std::unique_ptr<Code>> functions;  ///< the kernel first
  std::vector<AddressedFunction> addressed;      ///< ascending
  AlignedBytes constants;
  SpecialLayout specials;
  ParameterVectors parameters;
  std::vector<Counter> counters;
  std::vector<Branch> branches;
  std::vector<Refused> refused;
  /// Their lines of source, each once. The outcomes of launches share it and may outlive the code.
  std::shared_ptr<const std::map<int, metrics::SourceLine>> sources;
  std::vector<SharedVariable> shared_variables;
  std::uint64_t shared_bytes = 0;  ///< the static variables'
  /// Local memory of a lane for the deepest chain of calls; nothing if it has no bound (recursion).
  std::optional<std::uint64_t> stack_bytes;
  bool is_async = false;  ///< uses mbarriers, the async proxy, or other blocks' memory
  /// Has strong accesses, not of shared memory, whose scope is a block or a cluster.
  bool has_narrow_scope = false;
  bool warps_depend = false;  ///< warps of a block wait for each other: barriers, polling
  bool prints = false;
  std::vector<std::shared_ptr<const void>> details;
};

/// The line of an instruction of the body; its file is empty where it is not known.
metrics::SourceLine source_line(const Code& code, std::uint32_t instruction);

/// "FILE:LINE" of an instruction, or "FUNCTION, PTX line N" where there is no source line.
std::string source_place(const Code& code, std::uint32_t instruction);

/// A C++ name as in the source, without the types of its parameters; other names as they are.
std::string display_name(const std::string& name);

/// The name of a variable as in the source, without that of the function it belongs to.
std::string variable_name(const std::string& name);

}  // namespace warpgauge::emulator::machine
