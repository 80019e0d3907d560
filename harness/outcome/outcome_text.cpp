// Writes an outcome for the terminal and as Markdown.
#include "harness/outcome/outcome_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "harness/files/printable.h"
#include "harness/outcome/bulk_copies.h"
#include "harness/outcome/finding_text.h"
#include "harness/outcome/unjudged_excess.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;
using metrics::Verdict;

/// A column beside the cases; the columns stand in this order.
struct Column {
  std::string_view title;
  Verdict verdict;
};
constexpr Column kColumns[] = {{"passed", Verdict::pass},          {"failed", Verdict::fail},
                               {"errors", Verdict::error},         {"better", Verdict::better},
                               {"waived", Verdict::waived},        {"moved", Verdict::moved},
                               {"unmeasured", Verdict::unmeasured}};

/// Moved values are rare enough to have a column only when there are some.
std::vector<Column> columns_of(const Outcome& outcome) {
  std::vector<Column> columns(std::begin(kColumns), std::end(kColumns));
  std::erase_if(columns, [&](const Column& column) {
    return column.verdict == Verdict::moved && outcome.total().count(column.verdict) == 0;
  });
  return columns;
}

/// A text for Markdown, in tables, too: what could be markup is escaped.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : files::printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        if (std::string_view("|*_`~$[]\\").find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
  }
  return safe;
}

/// The rows of the families, as wide as their content; 80 columns for names of usual length.
std::string table(const Outcome& outcome) {
  constexpr std::size_t kWidest = 24;
  std::size_t width = 8;
  for (const auto& [family, tally] : outcome.families()) {
    width = std::max(width, files::printable(family).size());
  }
  width = std::min(width, kWidest);
  std::string text = fmt::format("{:<{}} {:>6} {:>7}", "family", width, "cases", "checks");
  const std::vector<Column> columns = columns_of(outcome);
  for (const Column& column : columns) text += fmt::format(" {}", column.title);
  text += '\n';
  const auto row = [&](std::string_view name, const Tally& tally) {
    text += fmt::format("{:<{}} {:>6} {:>7}", name, width, tally.cases.size(), tally.checks());
    for (const Column& column : columns) {
      text += fmt::format(" {:>{}}", tally.count(column.verdict), column.title.size());
    }
    text += '\n';
  };
  for (const auto& [family, tally] : outcome.families()) row(files::printable(family), tally);
  row("total", outcome.total());
  return text;
}

/// The values that are better than their budgets, and how to tighten these; empty where there are
/// none, or where they are findings.
std::string better_text(const Outcome& outcome) {
  constexpr int kNamed = 5;
  const int count = outcome.total().count(Verdict::better);
  if (count == 0 || outcome.options().requirements.strict) return "";
  std::string text;
  int named = 0;
  for (const JudgedValue& value : outcome.values()) {
    const Fact& fact = *value.fact;
    if (fact.verdict != Verdict::better || named == kNamed) continue;
    ++named;
    text += fmt::format("{}{} of {}{} is {}", text.empty() ? "" : "; ", fact.metric, fact.id.str(),
                        on_arch(fact), value_text(fact));
    if (fact.limit) text += ", budget " + fact.limit->str();
  }
  if (count > named) text += fmt::format("; and {} more", count - named);
  return fmt::format("better than budget: {}. `warpgauge accept FACTS --tighten` tightens {}", text,
                     count == 1 ? "it" : "them");
}

/// The run that says on which device was measured, if one does.
const metrics::Run* shown_run(const Outcome& outcome) {
  const std::vector<metrics::StoredRun>& runs = outcome.runs();
  const auto measured = std::ranges::find_if(
      runs, [](const metrics::StoredRun& stored) { return !stored.run.devices.empty(); });
  if (measured != runs.end()) return &measured->run;
  return runs.empty() ? nullptr : &runs.front().run;
}

std::string run_text(const metrics::Run& run) {
  const std::string device =
      run.devices.empty()
          ? "no GPU"
          : fmt::format("{} (compute capability {}, driver {})", run.devices[0].name,
                        run.devices[0].compute_capability, run.devices[0].driver);
  return fmt::format("Run {} at {}, commit {}{}, {}{}.\n\n", escaped(run.id), escaped(run.time),
                     run.commit.empty() ? "unknown" : escaped(run.commit.substr(0, 12)),
                     run.dirty && !run.commit.empty() ? " with local changes" : "",
                     run.toolkit.empty() ? "" : "CUDA " + escaped(run.toolkit) + ", ",
                     escaped(device));
}

std::string markdown_item(const Finding& finding) {
  const Fact& fact = *finding.shown().fact;
  std::string text =
      fmt::format("- **{}** `{}`: {}", escaped(title(finding)), fact.metric, escaped(fact.reason));
  if (!finding.blame().empty()) {
    const BlamedLine& worst = finding.blame().front();
    text += fmt::format(" — {}:{}", escaped(worst.file), worst.line);
  }
  const std::string also = also_text(finding);
  return text + (also.empty() ? "" : fmt::format(" (also {})", escaped(also))) + "\n";
}

}  // namespace

std::string terminal_text(const Outcome& outcome, bool colour) {
  std::string text = table(outcome);
  for (const Finding& finding : outcome.findings()) {
    text +=
        '\n' + finding_text(finding, outcome.repeat(finding.shown()), outcome.options().kernels);
  }
  for (const Unmeasured& reason : outcome.unmeasured()) {
    text += fmt::format("\n{} {}\n", reason.count, files::printable(reason.reason));
  }
  if (const std::string better = better_text(outcome); !better.empty()) {
    text += fmt::format("\n{}\n", files::printable(better));
  }
  for (const std::string& left : outcome.options().left_out) {
    text += fmt::format("\n{}\n", files::printable(left));
  }
  for (const std::string& lost : outcome.lost())
    text += fmt::format("\n{}\n", files::printable(lost));
  for (const std::string& remark : outcome.options().remarks) {
    text += fmt::format("\n{}\n", files::printable(remark));
  }
  if (const auto worst = worst_unjudged_excess(outcome.values())) {
    text += fmt::format("\n{}\n", files::printable(unjudged_text(*worst)));
  }
  if (const auto copies = bulk_copies_of(outcome.values())) {
    text += fmt::format("\n{}\n", files::printable(bulk_copies_text(*copies)));
  }
  const bool good = outcome.exit_code() == kWithinBudget;
  const std::string_view on = !colour ? "" : good ? "\033[1;32m" : "\033[1;31m";
  text += fmt::format("\n{}{}{}\n", on, outcome.headline(), colour ? "\033[0m" : "");
  return text;
}

std::string markdown_text(const Outcome& outcome) {
  std::string text = fmt::format("# {}\n\n", escaped(outcome.headline()));
  if (const metrics::Run* run = shown_run(outcome)) text += run_text(*run);
  text += "| family | cases | checks |";
  const std::vector<Column> columns = columns_of(outcome);
  for (const Column& column : columns) text += fmt::format(" {} |", column.title);
  text += "\n|---|---:|---:|";
  for ([[maybe_unused]] const Column& column : columns) text += "---:|";
  text += '\n';
  for (const auto& [family, tally] : outcome.families()) {
    text += fmt::format("| {} | {} | {} |", escaped(family), tally.cases.size(), tally.checks());
    for (const Column& column : columns) text += fmt::format(" {} |", tally.count(column.verdict));
    text += '\n';
  }
  const auto list = [&](std::string_view heading, std::string_view labels) {
    bool first = true;
    for (const Finding& finding : outcome.findings()) {
      if (labels.find(label(*finding.shown().fact)) == labels.npos) continue;
      if (first) text += fmt::format("\n## {}\n\n", heading);
      first = false;
      text += markdown_item(finding);
    }
  };
  list("Failures", "ERROR FAIL");
  list("Better than budget", "BETTER");
  if (const std::string better = better_text(outcome); !better.empty()) {
    text += fmt::format("\n{}\n", escaped(better));
  }
  list("Moved: the code is that of the budget", "MOVED");
  list("Unsure: would fail if it were exact", "UNSURE");
  if (!outcome.unmeasured().empty() || !outcome.lost().empty()) text += "\n## Unmeasured\n\n";
  for (const Unmeasured& reason : outcome.unmeasured()) {
    text += fmt::format("- {} {}\n", reason.count, escaped(reason.reason));
  }
  for (const std::string& lost : outcome.lost()) text += fmt::format("- {}\n", escaped(lost));
  if (!outcome.options().left_out.empty()) text += "\n## Left out\n\n";
  for (const std::string& left : outcome.options().left_out) {
    text += fmt::format("- {}\n", escaped(left));
  }
  for (const std::string& remark : outcome.options().remarks) {
    text += fmt::format("\n{}\n", escaped(remark));
  }
  if (const auto worst = worst_unjudged_excess(outcome.values())) {
    text += fmt::format("\n{}\n", escaped(unjudged_text(*worst)));
  }
  if (const auto copies = bulk_copies_of(outcome.values())) {
    text += fmt::format("\n{}\n", escaped(bulk_copies_text(*copies)));
  }
  return text;
}

}  // namespace warpgauge::outcome
