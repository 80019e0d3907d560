// Computes the hash FNV-1a.
#include "metrics/base/hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace warpgauge::metrics {

std::string hash_text(std::span<const std::byte> bytes) {
  // Offset basis and prime as published by the hash's authors.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    hash ^= std::to_integer<std::uint64_t>(byte);
    hash *= 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

std::string hash_text(std::string_view text) { return hash_text(std::as_bytes(std::span(text))); }

}  // namespace warpgauge::metrics
