// libFuzzer target: no name may make the demangler crash, hang or write without limit.
#include <cstddef>
#include <cstdint>
#include <string>

#include "metrics/base/demangled.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpgauge::metrics;
  const std::string name(reinterpret_cast<const char*>(data), size);
  const std::string text = demangled(name);
  require(text == name || text.size() <= 262'144, "a text has a limit");
  require(shown_name(name).size() <= 2003, "what is shown of it has one, too");
  require(without_types(text).size() <= text.size(), "a part is no longer than all");
  require(plain_name(text).size() <= text.size(), "a part is no longer than all");
  return 0;
}
