// Parses the command line, and runs the command, in Python if need be.
#include "harness/commands/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "harness/build_info.h"
#include "harness/cases/built_architectures.h"
#include "harness/commands/external_commands.h"
#include "harness/files/error_text.h"
#include "harness/measuring/provenance.h"
#include "harness/outcome/exit_code.h"
#include "harness/process/help.h"
#include "harness/process/output_of.h"
#include "harness/process/program_name.h"
#include "metrics/base/check_rules.h"
#include "metrics/base/nearest.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kCommandLineFooter =
    R"(Runs kernels, counts what the hardware had to do for them (bank conflicts, memory
sectors, spills, registers, time), and holds the counts against budgets.
`warpgauge COMMAND --help` describes a command.

Exit codes:
  0  within budget
  1  over budget
  2  a fault
  3  something required was not measured

Examples:
  warpgauge doctor
  warpgauge gate --filter 'transpose.*'
  warpgauge explain --help
)";

std::string version() {
  return fmt::format("warpgauge {} (CUDA {}; {})", kBuildInfo.version, kBuildInfo.toolkit,
                     fmt::join(chosen_archs({}), " "));
}

void need_one_of(const char* option, const std::vector<std::string>& words,
                 const std::string& word) {
  if (std::ranges::find(words, word) != words.end()) return;
  throw CLI::ValidationError(option,
                             fmt::format("'{}' is not one of {}{}", word, fmt::join(words, ", "),
                                         metrics::did_you_mean(word, words)));
}

}  // namespace

CommandLine::CommandLine(int argc, char** argv)
    : argc_(argc), argv_(argv), app_("A go/no-go gauge for CUDA kernels") {
  process::set_help(app_, kCommandLineFooter);
  app_.set_version_flag("--version", version, "Print the version, the toolkit and architectures");
  app_.require_subcommand(0, 1);  // run() handles none
}

CLI::App* CommandLine::add(const std::string& name, const std::string& summary,
                           std::string_view footer) {
  CLI::App* command = app_.add_subcommand(name, summary);
  process::set_help(*command, footer);
  return command;
}

void CommandLine::on_run(CLI::App* command, std::function<int()> run) {
  command->callback([this, run = std::move(run)] { exit_code_ = run(); });
}

std::vector<std::string> CommandLine::words_behind_mark() const {
  char** const end = argv_ + argc_;
  char** const mark = std::find(argv_, end, std::string_view("--"));
  return mark == end ? std::vector<std::string>() : std::vector<std::string>(mark + 1, end);
}

/// Returns if the first word is an option or a command of this program.
void CommandLine::continue_in_external_command() {
  const std::string word = argc_ < 2 ? "" : argv_[1];
  if (!app_.get_subcommands([&](const CLI::App* command) { return command->check_name(word); })
           .empty()) {
    return;
  }
  const std::vector<ExternalCommand> externals = external_commands();
  for (const ExternalCommand& command : externals) {
    if (word == command.name) run_external_command(argv_);
    app_.add_subcommand(command.name, command.summary);
  }
  if (word.empty() || word.starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::App* command : app_.get_subcommands({})) names.push_back(command->get_name());
  std::string missing;
  if (externals.empty()) {
    missing = fmt::format("; {}, which has more, cannot be run: see `{} doctor`",
                          external_program().string(), process::program_name());
  }
  throw std::invalid_argument(fmt::format("'{}' is not a command{}; the commands are {}{}", word,
                                          metrics::did_you_mean(word, names),
                                          fmt::join(names, ", "), missing));
}

/// The words that can stand at the end of the line; those of an external command are its program's.
std::vector<std::string> CommandLine::possible_words(const process::UnfinishedLine& line) const {
  if (line.words.empty()) {
    std::vector<std::string> words = process::possible_words(app_, line.option);
    if (line.option.empty()) {
      for (const ExternalCommand& command : external_commands()) words.push_back(command.name);
    }
    return words;
  }
  const std::string& name = line.words.front();
  for (const CLI::App* command : app_.get_subcommands({})) {
    if (command->check_name(name)) return process::possible_words(*command, line.option);
  }
  std::vector<std::string> ask = {external_program(), "--complete", line.option};
  ask.insert(ask.end(), line.words.begin(), line.words.end());
  return CLI::detail::split(process::output_of(ask).value_or(""), '\n');
}

int CommandLine::run() {
  try {
    if (const auto line = process::asked_to_complete(argc_, argv_)) {
      process::print_candidates(*line, possible_words(*line));
      return outcome::kWithinBudget;
    }
    continue_in_external_command();
    if (const auto ended = process::parse(app_, argc_, argv_)) return *ended;
    if (!app_.get_subcommands().empty()) return exit_code_;
    fmt::print(stderr, "{}\nname a command\n", app_.help());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", files::error_text(error));
  }
  return outcome::kFault;
}

std::shared_ptr<process::DeviceChoice> add_device(CLI::App* command) {
  auto choice = std::make_shared<process::DeviceChoice>(process::DeviceChoice::automatic);
  const auto choose = [choice](const std::string& word) {
    const std::vector<std::string> words = {"auto", "gpu", "emulated"};  // as DeviceChoice
    need_one_of("--device", words, word);
    *choice = static_cast<process::DeviceChoice>(std::ranges::find(words, word) - words.begin());
  };
  command
      ->add_option_function<std::string>(
          "--device", choose, "Where kernels run; auto: on the GPU, else on the emulator")
      ->default_str("auto")
      ->type_name("{auto,gpu,emulated}");
  return choice;
}

void add_checks(CLI::App* command, std::string& checks, OtherOrders& orders) {
  std::vector<std::string> names(std::begin(metrics::kCheckNames), std::end(metrics::kCheckNames));
  names.insert(names.end(), {"all", "none"});
  command
      ->add_option_function<std::vector<std::string>>(
          "--check",
          [&checks, names](const std::vector<std::string>& asked) {
            for (const std::string& name : asked) need_one_of("--check", names, name);
            if (asked.size() > 1 && std::ranges::find(asked, "none") != asked.end()) {
              throw CLI::ValidationError("--check", "'none' stands alone");
            }
            checks = fmt::format("{}", fmt::join(asked, ","));
          },
          "Look for mistakes with asynchronous copies, mbarriers and clusters, barriers to which "
          "lanes of a warp come in different places, memory that copies write again without a "
          "proxy fence, races, reads of memory that nothing wrote, races of lanes of one warp, "
          "lanes that store different values to one word, shuffles from absent lanes, memory that "
          "is not freed, wrongly freed, or used before its allocation or after its free in another "
          "stream, and launches with equal arguments that did unequal work; or all of them "
          "(emulator only)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str(checks)
      ->type_name(fmt::format("{{{}}}", fmt::join(names, ",")));
  command
      ->add_option("--schedules", orders.schedules,
                   "Compare each launch with as many other orders of its warps and blocks "
                   "(emulator only)")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->type_name("N");
  command
      ->add_option("--replay", orders.replay,
                   "Compare one launch in the order of this file, which --schedules wrote "
                   "(emulator only)")
      ->type_name("FILE");
}

void add_program(CLI::App* command, std::vector<std::string>& words) {
  command->add_option("command", words, "The program to run, and its arguments")
      ->required()
      ->type_name("-- PROGRAM [ARGUMENT...]");
}

}  // namespace warpgauge::commands
