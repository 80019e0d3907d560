// warpgauge explain: the cost of each source line of a case, or a picture of one access.

#include "harness/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/commands/command_line.h"
#include "harness/commands/external_commands.h"
#include "harness/explain/explain_picture.h"
#include "harness/files/write_file.h"
#include "harness/outcome/exit_code.h"
#include "metrics/cupti/cupti.h"

namespace warpgauge::commands {
namespace {

constexpr std::string_view kExplainFooter =
    R"(--text and --picture draw lanes against banks, a row for each wavefront, of the access to
shared memory with the most wavefronts beyond the ideal; of a line that only accesses global
memory, lanes against sectors. They run the case on the emulator even where there is a GPU:
only the emulator records addresses.

--html writes one page that needs nothing else: the source with all counts beside each line, the
worst lines marked, machine code folded below the lines, and pictures of the accesses that take
more than the ideal. Code is PTX, and SASS where PATH or $CUDA_HOME/bin has nvdisasm. With two cases
it shows them side by side. --json has the same for scripts. --against FILE takes what --json wrote
of an earlier run, and shows that run beside this one, or without --html the lines that differ. All
of these run the case on the emulator.

Exit codes:
  0  shown
  2  a fault
  3  it could not be counted

Examples:
  warpgauge explain transpose.tiled.f32@1024x1024
  warpgauge explain transpose.tiled.f32@1024x1024 --arch sm_75
  warpgauge explain transpose.tiled.f32@1024x1024 --text
  warpgauge explain transpose.tiled.f32@1024x1024 --line 85 --picture x.svg
  warpgauge explain transpose.tiled.f32@1024x1024 --html x.html
  warpgauge explain transpose.naive.f32@1024x1024 \
      transpose.padded.f32@1024x1024 --html x.html
  warpgauge explain transpose.tiled.f32@1024x1024 --json before.json
  warpgauge explain transpose.tiled.f32@1024x1024 --against before.json
)";

struct PageOptions {
  std::string other;  ///< a second case; empty: none
  std::filesystem::path html, json;
  std::filesystem::path against;  ///< a file that --json wrote of another run; empty: none
};

const CLI::Validator kNotEmpty(
    [](const std::string& text) { return text.empty() ? "is empty" : std::string(); }, "", "");

/// Counts the cases, and writes the file of --json or continues in
/// reports/warpgauge/page/explain.py, which draws. Returns the exit code.
int count_cases(const explain::PictureOptions& options, const PageOptions& page) {
  std::vector<std::string> ids = {options.id}, documents;
  if (!page.other.empty()) ids.push_back(page.other);
  for (const std::string& id : ids) {
    try {
      documents.push_back(explain::case_json(id, options.arch));
    } catch (const metrics::Unmeasured& unmeasured) {
      fmt::print(stderr, "{}: unmeasured: {}\n", id, unmeasured.what());
      return outcome::kNotMeasured;
    }
  }
  if (!page.json.empty()) {
    files::write_file(page.json, documents.front() + '\n');
    return outcome::kWithinBudget;
  }
  std::vector<std::string> words = {"--explain"};
  if (!page.html.empty()) words.push_back(fmt::format("--html={}", page.html.string()));
  if (!page.against.empty()) words.push_back(fmt::format("--against={}", page.against.string()));
  run_external_command(words, fmt::format("[{}]", fmt::join(documents, ",")));
}

const CLI::Validator kSvg(
    [](const std::string& text) {
      return text.ends_with(".svg") ? std::string()
                                    : "'" + text + "' does not end in .svg: pictures are SVG";
    },
    "", "");

}  // namespace

void add_explain(CommandLine& line) {
  auto options = std::make_shared<explain::PictureOptions>();
  CLI::App* command = line.add(
      "explain", "Show the cost of each source line of a case, or draw one access", kExplainFooter);
  auto device = add_device(command);
  command
      ->add_option(
          "--arch", options->arch,
          "The architecture that the emulator runs it as (default: sm_90, sm_90a or the newest)")
      ->type_name("ARCH");
  command->add_option("id", options->id, "A case, as `warpgauge list` shows it")
      ->required()
      ->type_name("ID");
  auto page = std::make_shared<PageOptions>();
  command->add_option("other", page->other, "With --html: a second case, shown beside the first")
      ->type_name("ID");
  command
      ->add_option("--html", page->html,
                   "Write a page of the case into this file; not with --json or pictures")
      ->check(kNotEmpty)
      ->type_name("FILE");
  command
      ->add_option("--json", page->json,
                   "Write what the page shows into this file, as JSON; not with pictures")
      ->check(kNotEmpty)
      ->type_name("FILE");
  command
      ->add_option("--against", page->against,
                   "Compare with another run of the case: a file that --json wrote")
      ->check(kNotEmpty)
      ->type_name("FILE");
  command->add_flag("--text", options->text, "Draw one access, as text");
  command->add_option("--picture", options->svg, "Draw one access into this file, as SVG")
      ->check(kSvg)
      ->type_name("FILE.svg");
  command
      ->add_option("--line", options->line,
                   "With --text, --picture: draw the worst access of this source line, LINE or "
                   "FILE:LINE")
      ->check(kNotEmpty)
      ->type_name("LINE");
  line.on_run(command, [=, &line] {
    const bool draws = options->text || !options->svg.empty();
    if (!draws && !options->line.empty()) {
      throw std::invalid_argument("--line needs --text or --picture FILE.svg");
    }
    const bool writes = !page->html.empty() || !page->json.empty();
    if (writes && (draws || (!page->html.empty() && !page->json.empty()))) {
      throw std::invalid_argument("--html, --json and pictures are written one at a time");
    }
    if (!page->other.empty() && page->html.empty()) {
      throw std::invalid_argument("a second case needs --html FILE");
    }
    const bool compares = !page->against.empty();
    if (compares && (draws || !page->json.empty() || !page->other.empty())) {
      throw std::invalid_argument(
          "--against compares two runs of a case, as text or with --html FILE: leave out the rest");
    }
    if (!draws && !writes && !compares) {
      line.continue_on(*device);
      return explain::explain_case(options->id, options->arch);
    }
    if (*device == process::DeviceChoice::gpu) {
      throw std::invalid_argument(
          "--device=gpu: a GPU does not record addresses; pictures and pages need the emulator");
    }
    line.continue_on(process::DeviceChoice::emulated);
    return draws ? explain::draw_case(*options) : count_cases(*options, *page);
  });
}

}  // namespace warpgauge::commands
