// --help as programs print it: within 100 columns (those of groups are set in by two), with types
// that say something. Needs CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace warpgauge {

/// For CLI::App::formatter(); subcommands take it over.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return row(make_option_name(option, is_positional) + make_option_opts(option),
               make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return row(command->get_name(), command->get_description());
  }

  /// The type of the value, what it is without the option, and what the option excludes.
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_items_expected_max() > 0) text += " " + type_of(*option);
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    if (option->get_required()) text += " (needed)";
    for (const CLI::Option* other : option->get_excludes())
      text += " (not with " + other->get_name() + ")";
    return text;
  }

 private:
  static constexpr std::size_t kColumns = 98, kIndent = 30;

  /// {a,b} of a choice, N of a number, else the name that it was given.
  static std::string type_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t check = type.find(':');
    if (check == std::string::npos) return type;
    if (type.find('{') != std::string::npos) return type.substr(type.find('{'));
    const std::string_view kind = std::string_view(type).substr(0, check);
    return kind == "INT" || kind == "FLOAT" || kind == "UINT" ? "N" : std::string(kind);
  }

  static std::string row(const std::string& name, std::string_view text) {
    std::string out = "  " + name;
    std::size_t column = out.size();
    const auto new_line = [&] {
      out += '\n';
      out.append(kIndent, ' ');
      column = kIndent;
    };
    if (column + 2 > kIndent) {
      new_line();
    } else {
      out.append(kIndent - column, ' ');
      column = kIndent;
    }
    for (bool first = true; !text.empty(); first = false) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(word.size() + 1, text.size()));
      if (!first && column + 1 + word.size() > kColumns) {
        new_line();
      } else if (!first) {
        out += ' ';
        ++column;
      }
      out += word;
      column += word.size();
    }
    return out + '\n';
  }
};

}  // namespace warpgauge
