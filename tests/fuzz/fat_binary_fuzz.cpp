// libFuzzer target: no input, however damaged, may make the reader of fat binaries crash, leak or
// throw anything but its own error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "metrics/machine_code/fat_binary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using warpgauge::metrics::FatBinaryEntry;
  using warpgauge::metrics::FatBinaryError;
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    for (const FatBinaryEntry& entry : warpgauge::metrics::read_fat_binary(bytes)) {
      try {
        entry.unpack_text();
      } catch (const FatBinaryError&) {
        continue;  // the next one may be whole
      }
    }
  } catch (const FatBinaryError&) {
    return 0;
  }
  return 0;
}
