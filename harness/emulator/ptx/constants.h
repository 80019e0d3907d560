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

/// Whether a constant may begin at the next token.
bool at_constant(const TokenStream& stream);

/// A constant expression: numbers, WARP_SZ, the operators of C, casts to .s64 and .u64. Throws
/// PtxError for a division by zero, mixed types, and what is no constant.
Constant parse_constant(TokenStream& stream);

/// A constant expression whose value lies in 0 .. `largest`. `what` names it in errors:
/// "an alignment".
std::uint64_t parse_count(TokenStream& stream, std::string_view what, std::uint64_t largest);

}  // namespace warpgauge::emulator::ptx
