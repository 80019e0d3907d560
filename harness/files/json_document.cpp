// Writes a JSON document member by member.
#include "harness/files/json_document.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>

namespace warpgauge::files {

using nlohmann::ordered_json;

namespace {

std::string line_break(int columns) {
  return '\n' + std::string(static_cast<std::size_t>(columns), ' ');
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

/// Texts in JSON have no line breaks: each one is of the layout. The control characters that JSON
/// lets stand, DEL and C1, are escaped: a terminal would obey them.
std::string JsonDocument::text(const ordered_json& value, int depth) const {
  const std::string flush = value.dump(indent_, ' ', false, ordered_json::error_handler_t::replace);
  const std::string indented = line_break(depth * indent_);
  std::string text;
  for (std::size_t i = 0; i < flush.size(); ++i) {
    const auto byte = static_cast<unsigned char>(flush[i]);
    const auto next = static_cast<unsigned char>(i + 1 < flush.size() ? flush[i + 1] : 0);
    if (byte == '\n') {
      text += indented;
    } else if (byte == 0x7f) {
      text += "\\u007f";
    } else if (byte == 0xc2 && next < 0xa0) {
      text += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      text += flush[i];
    }
  }
  return text;
}

}  // namespace warpgauge::files
