// libFuzzer target: no text may make the reader of ptxas' reports crash, hang or throw anything but
// its own error, which names the line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "metrics/machine_code/ptxas.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpgauge::metrics;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    int last_line = 0;
    for (const PtxasKernel& kernel : parse_ptxas(text, "fuzz.txt")) {
      require(!kernel.name.empty() && !kernel.arch.empty(), "kernels have name and architecture");
      require(kernel.line > last_line, "kernels are in the order of the log");
      last_line = kernel.line;
      kernel.stack_bytes();  // adds up frames that the log names, and must not fail
    }
  } catch (const PtxasError& error) {
    require(std::string_view(error.what()).starts_with("fuzz.txt:"), "errors name the place");
  }
  return 0;
}
