// Finds the words that complete a command line.
#include "harness/process/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "harness/process/output_of.h"
#include "harness/process/program_name.h"

namespace warpgauge::process {
namespace {

/// GoogleTest's and Google Benchmark's own options take cases, too.
constexpr std::string_view kFilters[] = {"--gtest_filter", "--benchmark_filter"};

std::vector<std::string> words_of_type(const std::string& type) {
  if (const std::size_t begin = type.find('{'); begin != type.npos) {
    return CLI::detail::split(type.substr(begin + 1, type.find('}') - begin - 1), ',');
  }
  if (type.starts_with("GLOB") || type.starts_with("ID")) return {"GLOB"};
  if (type.starts_with("ARCH")) return {"ARCH"};
  return {};
}

/// The option of this name that takes a value, or else the first argument without a name.
const CLI::Option* option_for(const CLI::App& command, const std::string& name) {
  const CLI::Option* argument = nullptr;
  for (const CLI::Option* option : command.get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0;
    if (takes_value && !name.empty() && option->check_name(name)) return option;
    if (argument == nullptr && option->get_positional()) argument = option;
  }
  return argument;
}

/// The list of this program's gauge; by option, --large: all cases; --archs: all architectures.
std::vector<std::string> listed(const char* option) {
  std::filesystem::path gauge = std::filesystem::read_symlink("/proc/self/exe");
  if (gauge_name() != program_name()) gauge.replace_filename(gauge_name());
  return CLI::detail::split(output_of({gauge, "list", option}).value_or(""), '\n');
}

UnfinishedLine unfinished_line(const std::string& text) {
  UnfinishedLine line;
  const std::size_t begin = text.find_last_of(" \t\n") + 1;  // 0 without a blank
  std::istringstream before(text.substr(0, begin));
  for (std::string word; before >> word;) line.words.push_back(word);
  if (!line.words.empty()) line.words.erase(line.words.begin());  // the program
  std::string last = text.substr(begin);
  const std::size_t equals = last.find('=');
  if (last.starts_with("--") && equals != last.npos) {
    line.option = last.substr(0, equals);
    line.kept = last.substr(0, equals + 1);
    last.erase(0, equals + 1);
  } else if (last.starts_with('-')) {
    line.option = "-";
  } else if (!line.words.empty() && line.words.back().starts_with("--") &&
             line.words.back().find('=') == std::string::npos) {
    line.option = line.words.back();
  }
  if (last.starts_with('\'') || last.starts_with('"')) last.erase(0, 1);
  const std::size_t in_list = last.rfind(',') + 1;  // 0 without a comma
  line.kept += last.substr(0, in_list);
  line.begun = last.substr(in_list);
  return line;
}

}  // namespace

std::optional<UnfinishedLine> asked_to_complete(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--complete") return std::nullopt;
  return unfinished_line(argv[2]);
}

std::vector<std::string> possible_words(const CLI::App& command, const std::string& option) {
  if (std::ranges::count(kFilters, option) != 0) return {"GLOB"};
  std::vector<std::string> words;
  if (option == "-") {
    for (const CLI::Option* known : command.get_options()) {
      for (const std::string& name : known->get_lnames()) words.push_back("--" + name);
    }
    return words;
  }
  if (const CLI::Option* const meant = option_for(command, option)) {
    return words_of_type(meant->get_type_name());
  }
  for (const CLI::App* known : command.get_subcommands({})) words.push_back(known->get_name());
  return words;
}

void print_candidates(const UnfinishedLine& line, std::vector<std::string> possible) {
  if (possible == std::vector<std::string>{"GLOB"}) possible = listed("--large");
  if (possible == std::vector<std::string>{"ARCH"}) possible = listed("--archs");
  for (const std::string& word : possible) {
    if (!word.empty() && word.starts_with(line.begun)) fmt::print("{}{}\n", line.kept, word);
  }
}

}  // namespace warpgauge::process
