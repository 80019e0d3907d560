#include "harness/attach/attach.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <system_error>

#include "harness/attach/attached_facts.h"
#include "harness/build_info.h"
#include "harness/child_program.h"
#include "harness/out_folder.h"
#include "harness/printable.h"
#include "harness/provenance.h"
#include "harness/summary_text.h"
#include "metrics/budget.h"
#include "metrics/judge.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInjection = "CUDA_INJECTION64_PATH";

/// A folder for the results of the processes, gone with this object.
class Results {
 public:
  explicit Results(const fs::path& out) {
    std::string name = fs::absolute(out / ".attached-XXXXXX");
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  ~Results() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  const fs::path& path() const { return path_; }

  std::vector<AttachedProcess> read() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    std::vector<AttachedProcess> processes;
    for (const fs::path& file : files) {
      std::ifstream stream(file, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      processes.push_back(parse_attached(text, file.string()));
    }
    return processes;
  }

 private:
  fs::path path_;
};

fs::path injected_library() {
  const fs::path library(kBuildInfo.injection);
  if (library.empty()) {
    throw std::runtime_error(
        "attach: this warpgauge was built without CUPTI, which counts; install CUDA's CUPTI and "
        "build it again");
  }
  if (!fs::exists(library)) {
    throw std::runtime_error(library.string() + ": not there; build the target injection");
  }
  if (const char* other = std::getenv(kInjection); other != nullptr && *other != '\0') {
    throw std::runtime_error(
        fmt::format("{}={}: another tool is injected already, and CUDA takes one; unset it",
                    kInjection, other));
  }
  return library;
}

std::regex kernel_expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(
        fmt::format("--kernels '{}': no regular expression: {}", text, error.what()));
  }
}

/// The sections of the budget file that fit none of the kernels.
std::vector<std::string> unused_sections(const metrics::Budgets& budgets,
                                         const std::vector<AttachedCase>& cases) {
  std::vector<std::string> unused;
  for (const std::string& section : budgets.section_names()) {
    const auto fits = [&](const AttachedCase& one) {
      return metrics::Budgets::fits(section, one.names());
    };
    if (std::ranges::none_of(cases, fits)) unused.push_back(section);
  }
  return unused;
}

std::string launches_text(const AttachedCase& one) {
  return one.counted == one.launches ? std::to_string(one.launches)
                                     : fmt::format("{} of {}", one.counted, one.launches);
}

/// Cut where it would fill the screen: names of templates can have thousands of characters.
std::string shortened(const std::string& name) {
  constexpr std::size_t kLongest = 160;
  const std::string text = printable(name);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

/// "12", or "-" where it was not counted.
std::string value_of(const AttachedCase& one, std::string_view metric) {
  for (const metrics::Fact& fact : one.facts) {
    if (fact.scope == metrics::Scope::whole_case && fact.metric == metric) {
      const bool there = !std::holds_alternative<std::monostate>(fact.value);
      return there ? metrics::to_text(fact.value) : "-";
    }
  }
  return "-";
}

/// What the kernels did, those with most launches first.
std::string table(const std::vector<AttachedCase>& cases) {
  constexpr std::size_t kShown = 40;
  std::string text = fmt::format("{:>9} {:>4} {:>12} {:>14} {:>12}  {}\n", "launches", "regs",
                                 "conflicts", "excess sectors", "local", "kernel");
  for (std::size_t i = 0; i < std::min(kShown, cases.size()); ++i) {
    const AttachedCase& one = cases[i];
    fmt::format_to(std::back_inserter(text), "{:>9} {:>4} {:>12} {:>14} {:>12}  {}\n",
                   launches_text(one), value_of(one, "registers"),
                   value_of(one, "shared.bank_conflicts"), value_of(one, "global.excess_sectors"),
                   value_of(one, "local.sectors"), shortened(one.kernel));
  }
  if (cases.size() > kShown) {
    fmt::format_to(std::back_inserter(text), "and {} more, see facts.jsonl\n",
                   cases.size() - kShown);
  }
  return text;
}

}  // namespace

ExitCode attach_to_program(const AttachOptions& options) {
  const fs::path library = injected_library();
  const metrics::Budgets budgets = options.budgets.empty()
                                       ? metrics::Budgets()
                                       : metrics::Budgets::load_unregistered(options.budgets);
  const std::regex kernels = kernel_expression(options.kernels);
  const OutFolder out(options.out);
  const Results results(out.path());
  const metrics::Run run = start_run(fs::current_path().string());

  std::map<std::string, std::string> variables = {{kInjection, library.string()},
                                                  {kAttachFolder, results.path().string()}};
  if (options.sample > 0) variables[kAttachSample] = std::to_string(options.sample);
  const Ending ending = run_to_its_end(options.command, variables);

  const std::vector<AttachedProcess> processes = results.read();
  std::vector<AttachedCase> cases =
      attached_cases(options.command[0], processes, results.path(), budgets);
  const std::size_t all = cases.size();
  std::erase_if(cases, [&](const AttachedCase& one) {
    return !options.kernels.empty() && !std::regex_search(one.kernel, kernels);
  });

  std::vector<metrics::StoredFact> facts;
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  metrics::FactWriter writer(out.facts(), run);
  for (AttachedCase& one : cases) {
    const metrics::Budgets own = budgets.of_kernel(one.id, one.names());
    writer.set_device(one.device);
    for (metrics::Fact& fact : one.facts) {
      metrics::judge(fact, own, today);
      writer.write(fact);
      facts.push_back({fact, writer.run()});
    }
  }

  Demands demands = options.demands;
  demands.cupti = true;  // a kernel of which nothing was counted must not pass
  const Summary summary(facts);
  const bool colour = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  const std::string command = fmt::format("{}", fmt::join(options.command, " "));
  const Told told{.repeat = [&](const metrics::Fact& fact) {
    return fmt::format("warpgauge attach --kernels '^[^(]*{}' -- {}", fact.id.variant, command);
  }};
  const auto say = [](const std::string& text) { fmt::print(stderr, "{}", text); };
  const auto note = [&](const std::string& text) { say(printable(text) + "\n"); };
  if (!cases.empty()) {
    say(table(cases) + "\n" + terminal_text(summary, demands, colour, told));
    out.write_summary(markdown_text(summary, demands, facts.front().run));
    say(fmt::format("facts: {}\nsummary: {}\n", out.facts().string(), out.summary().string()));
  }

  bool complete = true;
  for (const AttachedProcess& process : processes) {
    for (const std::string& trouble : process.troubles) {
      note(fmt::format("not counted: {} (process {}: {})", trouble, process.pid, process.command));
      complete = false;
    }
  }
  for (const AttachedCase& one : cases) {
    if (options.sample > 0 || one.counted == one.launches) continue;
    note(fmt::format("not counted: {} of {} launches of {}", one.launches - one.counted,
                     one.launches, shortened(one.kernel)));
    complete = false;
  }
  for (const std::string& section : unused_sections(budgets, cases)) {
    note(fmt::format("{}: no kernel fits section '{}'", options.budgets.string(), section));
    complete = false;
  }
  if (cases.empty()) {
    complete = false;
    note(all > 0 ? fmt::format("--kernels '{}': none of {} kernels fits", options.kernels, all)
         : processes.empty()
             ? fmt::format("{}: CUDA was never initialised with the library: it uses no GPU, or "
                           "does not hand on {}",
                           options.command[0], kInjection)
             : fmt::format("{}: no kernel was launched", options.command[0]));
  }
  if (ending.exit_code() != 0) {
    note(fmt::format("the program itself failed: {} {}", options.command[0], ending.str()));
    return kFault;
  }
  const ExitCode code = cases.empty() ? kNotMeasured : summary.exit_code(demands);
  return code == kWithinBudget && !complete ? kNotMeasured : code;
}

}  // namespace warpgauge
