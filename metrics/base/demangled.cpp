// Demangles names with libiberty, within limits of time and memory, and takes parts off them.
#include "metrics/base/demangled.h"

#define HAVE_DECL_BASENAME 1  // or a header of libiberty declares basename()
#include <demangle.h>
#include <pthread.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace warpgauge::metrics {

namespace {

// Names come from other programs. A few hundred characters can demangle to gigabytes, because each
// part may repeat all before it, and the demangler recurses. The longest name seen (of CUTLASS) has
// 7,224 characters, and the longest demangled one 91,792.
constexpr std::size_t kLongestName = 16 * 1024;
constexpr std::size_t kLongestText = 256 * 1024;
// Longer names need more stack than a thread of a program may have left.
constexpr std::size_t kLongestOnThisStack = 1024;

class TooLong {};

/// A symbol and its demangled name.
struct Symbol {
  const std::string* name;
  std::string text;
  bool is_demangled = false;
};

void add_text(const char* part, std::size_t size, void* symbol) {
  std::string& text = static_cast<Symbol*>(symbol)->text;
  if (text.size() + size > kLongestText) throw TooLong();
  text.append(part, size);
}

void* demangle(void* argument) {
  Symbol& symbol = *static_cast<Symbol*>(argument);
  try {
    symbol.is_demangled =
        cplus_demangle_v3_callback(symbol.name->c_str(),
                                   DMGL_PARAMS | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT, add_text,
                                   &symbol) != 0;
  } catch (const TooLong&) {
    // The name stays as it is.
  }
  return nullptr;
}

/// Demangles on a stack of its own. The demangler uses less than 256 bytes of it a character, and
/// an entry for each template in each reference to a parameter. Only the used part takes memory.
void demangle_apart(Symbol& symbol) {
  const std::size_t size = symbol.name->size();
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  const std::size_t stack_bytes = (1 << 20) + 256 * size + 2 * size * size;
  pthread_t thread;
  if (pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
      pthread_create(&thread, &attributes, demangle, &symbol) == 0) {
    pthread_join(thread, nullptr);
  }
  pthread_attr_destroy(&attributes);
}

/// Demangles a name or a type: "f" is float.
std::string demangled_symbol(const std::string& name) {
  Symbol symbol{.name = &name, .text = {}};
  if (name.size() <= kLongestOnThisStack) {
    demangle(&symbol);
  } else if (name.size() <= kLongestName) {
    demangle_apart(symbol);
  }
  if (!symbol.is_demangled) return name;
  return std::move(symbol.text);
}

}  // namespace

std::string demangled(const std::string& name) {
  return name.starts_with("_Z") ? demangled_symbol(name) : name;
}

std::string shown_name(const std::string& name) {
  constexpr std::size_t kShown = 2000;
  std::string text = demangled(name);
  if (text.size() > kShown) text.replace(kShown, text.npos, "...");
  return text;
}

std::string type_name(const std::type_info& type) { return demangled_symbol(type.name()); }

std::string without_void(const std::string& demangled) {
  constexpr std::string_view kVoid = "void ";
  return demangled.starts_with(kVoid) ? demangled.substr(kVoid.size()) : demangled;
}

std::string without_anonymous(std::string demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (auto at = demangled.find(kAnonymous); at != demangled.npos;
       at = demangled.find(kAnonymous, at)) {
    demangled.erase(at, kAnonymous.size());
  }
  return demangled;
}

std::string without_types(const std::string& demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth != 0) continue;
    if (c == ' ') begin = i + 1;
    if (c != '(') continue;
    if (demangled.compare(i, kAnonymous.size(), kAnonymous) != 0) {
      return demangled.substr(begin, i - begin);
    }
    i += kAnonymous.size() - 1;
  }
  return demangled;
}

std::string outside_of_angles(std::string_view text) {
  std::string outside;
  int depth = 0;
  for (const char c : text) {
    if (c == '<') ++depth;
    if (depth == 0) outside += c;
    if (c == '>') --depth;
  }
  return outside;
}

std::string without_arguments(const std::string& demangled) {
  const std::string name = outside_of_angles(without_types(demangled));
  return name.empty() ? demangled : name;
}

std::string plain_name(const std::string& demangled) {
  const std::string text = without_anonymous(demangled);
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

}  // namespace warpgauge::metrics
