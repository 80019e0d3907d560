// A short name for bytes: equal bytes, equal name.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace warpgauge::metrics {

/// 64-bit FNV-1a of `bytes` as 16 hexadecimal digits. Not for secrets.
std::string hash_text(std::span<const std::byte> bytes);

}  // namespace warpgauge::metrics
