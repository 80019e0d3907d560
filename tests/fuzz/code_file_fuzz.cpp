// libFuzzer target: no file may make the readers of archives, ELF sections and the code in them
// crash, hang or throw.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "metrics/machine_code/code_file.h"
#include "metrics/machine_code/cubin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using warpgauge::metrics::Cubin;
  using warpgauge::metrics::FoundCubin;
  warpgauge::metrics::read_code_file(
      std::as_bytes(std::span(data, size)), [](std::string_view) { return true; },
      [](const FoundCubin& found) { Cubin(found.image).kernels(); });
  return 0;
}
