// Writes what an exception says, for people.
#include "harness/files/error_text.h"

#include <new>
#include <string_view>

#include "metrics/base/demangled.h"

namespace warpgauge::files {

std::string error_text(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return "out of memory: free some, or raise its limit (ulimit -v)";
  }
  const std::string_view text = error.what();
  if (text.find(' ') != text.npos) return std::string(text);
  const std::string type = metrics::type_name(typeid(error));
  return text.empty() ? type + " without a message" : type + ": " + std::string(text);
}

}  // namespace warpgauge::files
