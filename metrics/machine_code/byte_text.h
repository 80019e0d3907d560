// Bytes of a file as text, where they lie.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace warpgauge::metrics {

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace warpgauge::metrics
