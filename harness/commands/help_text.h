// --help as programs print it, a page of a manual within 80 columns, and what they answer to
// mistakes. Needs CLI11.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/process/program_name.h"
#include "metrics/nearest.h"

namespace warpgauge {

/// What the page of a command says beside its options. Texts call the program as HelpFormatter was
/// told.
struct Page {
  std::vector<std::string> about;  ///< paragraphs
  std::vector<std::pair<std::string, std::string>> exit_codes;
  std::vector<std::string> examples;  ///< lines for a shell
};

/// For CLI::App::formatter().
class HelpFormatter : public CLI::Formatter {
 public:
  /// `written`: what texts call the program; the page calls it by the name it was started as.
  HelpFormatter(std::string written, Page page)
      : written_(std::move(written)), page_(std::move(page)) {}

  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode /*mode*/) const override {
    std::string out = "NAME\n";
    add_filled(out, fmt::format("{} - {}", full_name(*app), lowered(app->get_description())));
    out += fmt::format("\nSYNOPSIS\n    {}\n", synopsis(*app));
    if (!page_.about.empty()) out += "\nDESCRIPTION\n";
    for (const std::string& paragraph : page_.about) {
      if (&paragraph != &page_.about.front()) out += '\n';
      add_filled(out, paragraph);
    }
    add_options(out, *app);
    add_rows(out, "COMMANDS", commands(*app));
    add_rows(out, "EXIT CODES", page_.exit_codes);
    if (!page_.examples.empty()) out += "\nEXAMPLES\n";
    for (const std::string& line : page_.examples) out += fmt::format("    {}\n", named(line));
    return out;
  }

 private:
  static constexpr std::size_t kColumns = 80, kIndent = 4, kDeep = 8;
  using Rows = std::vector<std::pair<std::string, std::string>>;

  /// With the program's name in place of the one that texts are written with, where an argument or
  /// the rest of a name ("-bench") follows.
  std::string named(std::string text) const {
    const std::string name = program_name();
    for (std::size_t at = text.find(written_); at != text.npos; at = text.find(written_, at)) {
      const std::size_t end = at + written_.size();
      const bool is_call = end < text.size() && (text[end] == ' ' || text[end] == '-');
      if (is_call) text.replace(at, written_.size(), name);
      at += is_call ? name.size() : written_.size();
    }
    return text;
  }

  static std::string full_name(const CLI::App& app) {
    if (app.get_parent() == nullptr) return program_name();
    return full_name(*app.get_parent()) + " " + app.get_name();
  }

  /// As what goes on in a line.
  static std::string lowered(std::string text) {
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    }
    return text;
  }

  static Rows commands(const CLI::App& app) {
    Rows rows;
    for (const CLI::App* command : app.get_subcommands({})) {
      if (!command->get_name().empty()) {
        rows.emplace_back(command->get_name(), command->get_description());
      }
    }
    return rows;
  }

  static std::string synopsis(const CLI::App& app) {
    if (!commands(app).empty()) return full_name(app) + " [OPTIONS] COMMAND [ARGUMENT...]";
    std::string text = full_name(app) + " [OPTIONS]";
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional()) continue;
      const std::string type = type_of(*option);
      text += " " + (option->get_required() ? type : "[" + type + "]");
    }
    return text;
  }

  void add_options(std::string& out, const CLI::App& app) const {
    std::string arguments, options, rules;
    const auto add = [&](const CLI::App& part) {
      for (const CLI::Option* option : part.get_options()) {
        if (&part != &app && option == part.get_help_ptr()) continue;  // of a group
        add_option(option->get_positional() ? arguments : options, *option);
      }
    };
    add(app);
    for (const CLI::App* group : app.get_subcommands({})) {
      if (!group->get_name().empty()) continue;
      add(*group);
      std::vector<std::string> names;
      for (const CLI::Option* option : group->get_options()) {
        if (option != group->get_help_ptr()) names.push_back(option->get_name());
      }
      if (group->get_require_option_max() == 1) {
        rules += '\n';
        add_filled(rules, fmt::format("At most one of {}.", fmt::join(names, ", ")));
      }
    }
    if (!arguments.empty()) out += "\nARGUMENTS\n" + arguments;
    out += "\nOPTIONS\n" + options + rules;
  }

  void add_option(std::string& out, const CLI::Option& option) const {
    std::string name = type_of(option);
    if (!option.get_positional()) {
      std::vector<std::string> names;
      for (const std::string& one : option.get_snames()) names.push_back("-" + one);
      for (const std::string& one : option.get_lnames()) names.push_back("--" + one);
      name = fmt::format("{}{}{}", fmt::join(names, ", "), name.empty() ? "" : " ", name);
    }
    std::string text = option.get_description();
    if (!option.get_default_str().empty()) text += " (default: " + option.get_default_str() + ")";
    std::vector<std::string> others;
    for (const CLI::Option* other : option.get_excludes()) others.push_back(other->get_name());
    if (!others.empty()) {
      std::ranges::sort(others);  // they lie in a set of addresses
      text += fmt::format(" (not with {})", fmt::join(others, ", "));
    }
    out += fmt::format("    {}\n", name);
    add_filled(out, text, kDeep);
  }

  /// What stands for the value: {a,b} of a choice, N of a number, else the name that it was given;
  /// empty for a flag.
  static std::string type_of(const CLI::Option& option) {
    if (option.get_items_expected_max() == 0) return "";
    const std::string type = option.get_type_name();
    const std::size_t check = type.find(':');
    if (check == std::string::npos) return type;
    if (type.find('{') != std::string::npos) return type.substr(type.find('{'));
    const std::string kind = type.substr(0, check);
    return kind == "INT" || kind == "FLOAT" || kind == "UINT" ? "N" : kind;
  }

  /// Two columns below a heading.
  void add_rows(std::string& out, std::string_view heading, const Rows& rows) const {
    if (rows.empty()) return;
    std::size_t width = 0;
    for (const auto& [name, text] : rows) width = std::max(width, name.size());
    out += fmt::format("\n{}\n", heading);
    for (const auto& [name, text] : rows) {
      const std::string first = fmt::format("    {:<{}}  ", name, width);
      std::string filled;
      add_filled(filled, text, first.size());
      out += first + filled.substr(first.size());
    }
  }

  /// Adds the words of a text in lines of no more than kColumns, all set in.
  void add_filled(std::string& out, const std::string& text, std::size_t indent = kIndent) const {
    std::size_t column = 0;
    for (const std::string& word : CLI::detail::split(named(text), ' ')) {
      if (column > 0 && column + 1 + word.size() <= kColumns) {
        out += " " + word;
        column += 1 + word.size();
      } else {
        if (column > 0) out += '\n';
        out += std::string(indent, ' ') + word;
        column = indent + word.size();
      }
    }
    out += '\n';
  }

  std::string written_;
  Page page_;
};

/// Gives a command, or a program, its page. `written`: what the page's texts call the program.
inline void document(CLI::App* command, Page page, std::string written = "warpgauge") {
  command->set_help_flag("-h,--help", "Show this help message and exit");
  command->formatter(std::make_shared<HelpFormatter>(std::move(written), std::move(page)));
}

/// What is told of a command line that cannot be parsed; for CLI::App::failure_message().
inline std::string parse_failure(const CLI::App* app, const CLI::Error& error) {
  const CLI::App* command = app;
  std::string name = program_name();
  for (const CLI::App* parsed : app->get_subcommands()) {
    command = parsed;
    name += " " + parsed->get_name();
  }
  std::string text = error.what();
  // "The following arguments were not expected: ...", the last first.
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    std::vector<std::string> known;
    for (const CLI::Option* one : command->get_options()) known.push_back(one->get_name());
    std::string unknown;
    for (const std::string& word : CLI::detail::split(text.substr(text.find(": ") + 2), ' ')) {
      if (unknown.empty() || word.starts_with('-')) unknown = word;
    }
    text = fmt::format("there is no option {}{}", unknown,
                       metrics::did_you_mean(unknown.substr(0, unknown.find('=')), known));
    if (!unknown.starts_with('-')) text = fmt::format("'{}' is one argument too many", unknown);
  }
  return fmt::format("{}; `{} --help` shows what there is\n", text, name);
}

}  // namespace warpgauge
