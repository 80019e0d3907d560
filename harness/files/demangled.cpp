#include "harness/files/demangled.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace warpgauge::files {

namespace {

/// Of a name or a type: "f" is float.
std::string demangled_symbol(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : symbol;
}

}  // namespace

std::string demangled(const std::string& name) {
  return name.starts_with("_Z") ? demangled_symbol(name) : name;
}

std::string type_name(const std::type_info& type) { return demangled_symbol(type.name()); }

std::string without_void(const std::string& demangled) {
  constexpr std::string_view kVoid = "void ";
  return demangled.starts_with(kVoid) ? demangled.substr(kVoid.size()) : demangled;
}

std::string plain_name(const std::string& demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string text = demangled;
  for (auto at = text.find(kAnonymous); at != text.npos; at = text.find(kAnonymous)) {
    text.erase(at, kAnonymous.size());
  }
  std::string name;  // outside of angle brackets, up to the parameters
  int depth = 0;
  for (const char c : text) {
    if (c == '>') --depth;
    if (depth == 0 && c == '(') break;
    if (depth == 0 && c != '<' && c != '>') name += c;
    if (c == '<') ++depth;
  }
  const std::size_t start = name.find_last_of(": ");
  if (start != name.npos) name.erase(0, start + 1);
  return name.empty() ? demangled : name;
}

std::vector<std::string> names_of(const std::string& demangled) {
  return {demangled, without_void(demangled), plain_name(demangled)};
}

}  // namespace warpgauge::files
