// A short name for bytes: equal bytes have equal names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// 64-bit FNV-1a of `bytes` as 16 hexadecimal digits. Not for secrets.
std::string hash_text(std::span<const std::byte> bytes);
std::string hash_text(std::string_view text);

}  // namespace warpgauge::metrics
