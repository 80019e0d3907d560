#include "harness/files/error_text.h"

#include <string_view>
#include <typeinfo>

#include "harness/files/demangled.h"

namespace warpgauge::files {

std::string error_text(const std::exception& error) {
  const std::string_view text = error.what();
  if (text.find(' ') != text.npos) return std::string(text);
  const std::string type = demangled(typeid(error).name());
  return text.empty() ? type + " without a message" : type + ": " + std::string(text);
}

}  // namespace warpgauge::files
