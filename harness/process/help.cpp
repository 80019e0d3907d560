// Sets the layout of --help and of error messages, the same for every program.
#include "harness/process/help.h"

#include <fmt/format.h>

#include <vector>

#include "harness/outcome/exit_code.h"
#include "harness/process/program_name.h"
#include "metrics/base/nearest.h"

namespace warpgauge::process {
namespace {

std::string as_started(std::string text, std::string_view written) {
  const std::string name = program_name();
  for (std::size_t at = text.find(written); at != text.npos; at = text.find(written, at)) {
    const std::size_t end = at + written.size();
    const bool is_call = end < text.size() && (text[end] == ' ' || text[end] == '-');
    if (is_call) text.replace(at, written.size(), name);
    at += is_call ? name.size() : written.size();
  }
  return text;
}

/// CLI11's "The following arguments were not expected: ...", the last argument first.
std::string unexpected_argument(const CLI::App& command, const std::string& text) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) known.push_back(option->get_name());
  std::string unknown;
  for (const std::string& word : CLI::detail::split(text.substr(text.find(": ") + 2), ' ')) {
    if (unknown.empty() || word.starts_with('-')) unknown = word;
  }
  if (!unknown.starts_with('-')) return fmt::format("'{}' is one argument too many", unknown);
  return fmt::format("there is no option {}{}", unknown,
                     metrics::did_you_mean(unknown.substr(0, unknown.find('=')), known));
}

std::string parse_failure(const CLI::App* app, const CLI::Error& error) {
  const CLI::App* command = app;
  std::string name = program_name();
  for (const CLI::App* parsed : app->get_subcommands()) {
    command = parsed;
    name += " " + parsed->get_name();
  }
  const bool unexpected = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  return fmt::format("{}; see `{} --help`\n",
                     unexpected ? unexpected_argument(*command, error.what()) : error.what(), name);
}

}  // namespace

void set_help(CLI::App& app, std::string_view footer, std::string_view written) {
  app.set_help_flag("-h,--help", "Print this help message and exit");
  app.footer(as_started(std::string(footer), written));
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  app.name(program_name());
  app.failure_message(parse_failure);
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? outcome::kWithinBudget : outcome::kFault;
  }
}

}  // namespace warpgauge::process
