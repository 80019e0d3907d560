// Constants and constant expressions of PTX.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/emulator/ptx/module.h"
#include "harness/emulator/ptx/token_stream.h"

namespace warpgauge::emulator::ptx {

struct Constant {
  Type type = Type::s64;  ///< s64, u64, f32 or f64
  std::uint64_t bits = 0;
  bool is_real() const { return type == Type::f32 || type == Type::f64; }
};

/// True if the next token can begin a constant expression.
bool at_constant(const TokenStream& stream);

/// Parses a constant expression: numbers, WARP_SZ, the operators of C, casts to .s64 and .u64.
/// Throws PtxError for a division by zero, for mixed types, and for anything else.
Constant parse_constant(TokenStream& stream);

/// Parses a constant expression with a value from 0 to `largest`. `what` names it in errors:
/// "an alignment". Throws PtxError.
std::uint64_t parse_count(TokenStream& stream, std::string_view what, std::uint64_t largest);

}  // namespace warpgauge::emulator::ptx
