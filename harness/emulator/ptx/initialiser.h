// The initial value of a variable.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/emulator/ptx/module.h"
#include "harness/emulator/ptx/token_stream.h"

namespace warpgauge::emulator::ptx {

/// Elements of each dimension, outermost first; that of a vector (.v4) last. Empty for a scalar.
using Extents = std::vector<std::uint64_t>;
constexpr std::uint64_t kUnsized = UINT64_MAX;  ///< the extent of name[]

/// Fills `variable.initial`, as many bytes as `variable.bytes` says, and its relocations; where
/// extents[0] is kUnsized the list says how many bytes these are. Throws PtxError for lists that do
/// not fit the extents, values that do not fit the type, and more than `most_bytes`.
void parse_initialiser(TokenStream& stream, const Extents& extents, Variable& variable,
                       std::uint64_t most_bytes);

}  // namespace warpgauge::emulator::ptx
