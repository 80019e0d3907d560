// Writes a JSON document member by member.
#include "harness/files/json_document.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/files/printable.h"

namespace warpgauge::files {

using nlohmann::ordered_json;

namespace {

std::string line_break(int columns) {
  return '\n' + std::string(static_cast<std::size_t>(columns), ' ');
}

/// A character as JSON writes its number.
std::string escaped(std::string_view character) {
  const std::string quoted = ordered_json(character).dump(-1, ' ', /*ensure_ascii=*/true);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

JsonDocument::JsonDocument(std::ostream& out, int indent) : out_(out), indent_(indent) {
  out_ << '{';
}

void JsonDocument::add(const std::string& key, const ordered_json& value) {
  begin(key);
  out_ << text(value, 1);
}

void JsonDocument::add_list(const std::string& key,
                            const std::function<void(const Element&)>& visit) {
  begin(key);
  out_ << '[';
  bool has_elements = false;
  visit([&](const ordered_json& element) {
    out_ << (has_elements ? "," : "") << line_break(2 * indent_) << text(element, 2);
    has_elements = true;
  });
  out_ << (has_elements ? line_break(indent_) : "") << ']';
}

void JsonDocument::end() { out_ << (is_empty_ ? "" : "\n") << "}\n"; }

void JsonDocument::begin(const std::string& key) {
  out_ << (is_empty_ ? "" : ",") << line_break(indent_) << ordered_json(key).dump() << ": ";
  is_empty_ = false;
}

/// Texts in JSON have no line breaks: each one is of the layout. What a terminal would obey is
/// written as its number.
std::string JsonDocument::text(const ordered_json& value, int depth) const {
  const std::string flush = value.dump(indent_, ' ', false, ordered_json::error_handler_t::replace);
  const std::string indented = line_break(depth * indent_);
  std::string text;
  for (std::string_view rest = flush; !rest.empty();) {
    const auto [character, bytes] = hidden_at(rest);
    if (bytes == 0) {
      text += rest[0];
    } else if (character == '\n') {
      text += indented;
    } else {
      text += escaped(rest.substr(0, bytes));
    }
    rest.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return text;
}

}  // namespace warpgauge::files
