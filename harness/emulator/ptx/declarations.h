// Declarations of variables and registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/emulator/ptx/module.h"
#include "harness/emulator/ptx/token_stream.h"

namespace warpgauge::emulator::ptx {

/// The memory that one module may still use, so that a damaged or hostile text of a few bytes
/// cannot ask for all of it. It grows with the text: compilers number registers densely, and an
/// element that is written out has at least two characters.
struct Allowance {
  explicit Allowance(std::size_t text_bytes)
      : registers(kFewRegisters + text_bytes), initial_bytes(kFewBytes + 4 * text_bytes) {}
  static constexpr std::uint64_t kFewRegisters = 65536;
  static constexpr std::uint64_t kFewBytes = std::uint64_t{1} << 26;

  std::uint64_t registers;
  std::uint64_t initial_bytes;  ///< in variables with initialisers
};

/// A register as declared, and where.
struct DeclaredRegister {
  Register declared;
  std::uint32_t lanes;  ///< 2 or 4 of a vector type, which are registers of their own; else 1
  Token at;
};

/// A variable as declared, and where.
struct DeclaredVariable {
  Variable declared;
  Token at;
};

/// The state space that a directive such as .shared declares variables of; nothing for others.
std::optional<Space> space_from(const Token& directive);

/// Parses the one or more variables after .global, .shared, ..., and their semicolon.
std::vector<DeclaredVariable> parse_variables(TokenStream& stream, Space space,
                                              Allowance& allowance);

/// Parses the registers after .reg, and their semicolon: %r<5> is %r0 .. %r4.
std::vector<DeclaredRegister> parse_registers(TokenStream& stream, Allowance& allowance);

/// Skips an .attribute: the place of memory does not matter here.
void skip_attributes(TokenStream& stream);

/// `(.param .u64 a, .param .align 8 .b8 b[16])`, parentheses included.
std::vector<DeclaredVariable> parse_parameters(TokenStream& stream);

}  // namespace warpgauge::emulator::ptx
