#include "harness/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "harness/source_root.h"
#include "metrics/catalog.h"

namespace warpgauge {
namespace {

using metrics::Fact;
using metrics::Verdict;

/// What is counted beside the cases, in the order of the columns.
struct Column {
  std::string_view title;
  Verdict verdict;
};
constexpr Column kColumns[] = {{"passed", Verdict::pass},   {"failed", Verdict::fail},
                               {"errors", Verdict::error},  {"better", Verdict::better},
                               {"waived", Verdict::waived}, {"unmeasured", Verdict::unmeasured}};

int count(const Tally& tally, Verdict verdict) {
  const auto found = tally.verdicts.find(verdict);
  return found == tally.verdicts.end() ? 0 : found->second;
}

std::string plural(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string headline(const Summary& summary, const Demands& demands) {
  const Tally total = summary.total();
  const int failed = count(total, Verdict::fail), errors = count(total, Verdict::error);
  const int better = count(total, Verdict::better), missing = count(total, Verdict::unmeasured);
  switch (summary.exit_code(demands)) {
    case kFault:
      return errors > 0 ? fmt::format("ERROR: {} could not be judged", plural(errors, "case"))
                        : "ERROR: nothing was judged";
    case kOverBudget:
      return failed > 0
                 ? fmt::format("FAIL: {} over budget", plural(failed, "value"))
                 : fmt::format("FAIL: {} better than budget (--strict)", plural(better, "value"));
    case kNotMeasured:
      return fmt::format("NOT MEASURED: {} that --require asks for", plural(missing, "value"));
    case kWithinBudget: break;
  }
  return missing == 0
             ? fmt::format("PASS: {} within budget", plural(total.checks(), "value"))
             : fmt::format("PASS: {} within budget, {} unmeasured",
                           plural(total.checks() - missing, "value"), missing);
}

std::string on_arch(const Fact& fact) { return fact.arch.empty() ? "" : " on " + fact.arch; }

std::string value_text(const Fact& fact) {
  const std::string_view unit = metrics::metric(fact.metric).unit;
  return metrics::to_text(fact.value) + (unit == "bool" ? "" : " " + std::string(unit));
}

/// For Markdown tables and text: what could be markup is taken literally.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '\n': safe += ' '; break;
      case '|': case '*': case '_': case '`': case '[': case ']': case '\\': safe += '\\'; [[fallthrough]];
      default: safe += c;
    }
  }
  return safe;
}

std::string repeat_command(const Fact& fact) {
  return fmt::format("ci/gate --filter '{}'{}", fact.id.str(),
                     fact.source == "ptxas" && !fact.arch.empty() ? " --arch " + fact.arch : "");
}

}  // namespace

std::string failure_text(const Fact& fact, const std::string& repeat) {
  std::string text;
  const auto line = [&text](std::string_view key, std::string_view value) {
    if (!value.empty()) fmt::format_to(std::back_inserter(text), "  {:<8} {}\n", key, value);
  };
  const metrics::Metric& metric = metrics::metric(fact.metric);
  if (fact.verdict == Verdict::error) {
    text = fmt::format("ERROR {}{}\n", fact.id.str(), on_arch(fact));
    line("reason", fact.reason);
  } else {
    text = fmt::format("FAIL {}{}: {}\n", fact.id.str(), on_arch(fact), fact.metric);
    line("value", value_text(fact));
    line("budget", fact.budget + (fact.budget_reason.empty() ? "" : " (" + fact.budget_reason + ")"));
    line("why", fact.reason);
    line("means", metric.meaning);
    line("cure", metric.cure);
  }
  if (!fact.file.empty()) {
    line("at", fmt::format("{}:{}: {}", fact.file, fact.line, source_text(fact.file, fact.line)));
  }
  line("repeat", repeat);
  return text;
}

std::string terminal_text(const Summary& summary, const Demands& demands, bool colour) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{:<18} {:>6} {:>7}", "family", "cases", "checks");
  for (const Column& column : kColumns) fmt::format_to(out, " {:>10}", column.title);
  text += '\n';
  const auto row = [&](std::string_view name, const Tally& tally) {
    fmt::format_to(out, "{:<18} {:>6} {:>7}", name, tally.cases.size(), tally.checks());
    for (const Column& column : kColumns) {
      fmt::format_to(out, " {:>10}", count(tally, column.verdict));
    }
    text += '\n';
  };
  for (const auto& [family, tally] : summary.families()) row(family, tally);
  row("total", summary.total());

  for (const Fact* fact : summary.with({Verdict::error, Verdict::fail})) {
    text += '\n' + failure_text(*fact, repeat_command(*fact));
  }
  if (demands.strict) {
    for (const Fact* fact : summary.with({Verdict::better})) {
      fmt::format_to(out, "\nBETTER {}{}: {} = {}, budget {}: tighten it\n", fact->id.str(),
                     on_arch(*fact), fact->metric, metrics::to_text(fact->value), fact->budget);
    }
  }
  for (const auto& [reason, n] : summary.unmeasured_reasons()) {
    fmt::format_to(out, "\n{} unmeasured: {}\n", n, reason);
  }
  const bool good = summary.exit_code(demands) == kWithinBudget;
  const std::string_view on = !colour ? "" : good ? "\033[1;32m" : "\033[1;31m";
  fmt::format_to(out, "\n{}{}{}\n", on, headline(summary, demands), colour ? "\033[0m" : "");
  return text;
}

std::string markdown_text(const Summary& summary, const Demands& demands,
                          const metrics::Run& run) {
  std::string text = fmt::format("# {}\n\n", escaped(headline(summary, demands)));
  auto out = std::back_inserter(text);
  const std::string device =
      run.device ? fmt::format("{} (compute capability {}, driver {})", run.device->name,
                               run.device->compute_capability, run.device->driver)
                 : "no GPU";
  fmt::format_to(out, "Run {} at {}, commit {}{}, CUDA {}, {}.\n\n", escaped(run.id), run.time,
                 run.commit.empty() ? "unknown" : run.commit.substr(0, 12),
                 run.dirty ? " with local changes" : "", run.toolkit, escaped(device));
  text += "| family | cases | checks |";
  for (const Column& column : kColumns) fmt::format_to(out, " {} |", column.title);
  text += "\n|---|---:|---:|";
  for ([[maybe_unused]] const Column& column : kColumns) text += "---:|";
  text += '\n';
  for (const auto& [family, tally] : summary.families()) {
    fmt::format_to(out, "| {} | {} | {} |", escaped(family), tally.cases.size(), tally.checks());
    for (const Column& column : kColumns) fmt::format_to(out, " {} |", count(tally, column.verdict));
    text += '\n';
  }
  const auto failures = summary.with({Verdict::error, Verdict::fail});
  if (!failures.empty()) text += "\n## Failures\n\n";
  for (const Fact* fact : failures) {
    fmt::format_to(out, "- **{}**{} `{}`: {}", escaped(fact->id.str()), on_arch(*fact),
                   fact->metric, escaped(fact->reason));
    if (!fact->file.empty()) fmt::format_to(out, " — {}:{}", escaped(fact->file), fact->line);
    text += '\n';
  }
  const auto reasons = summary.unmeasured_reasons();
  if (!reasons.empty()) text += "\n## Unmeasured\n\n";
  for (const auto& [reason, n] : reasons) fmt::format_to(out, "- {}: {}\n", n, escaped(reason));
  return text;
}

}  // namespace warpgauge
