#include "harness/outcome/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "harness/build_info.h"
#include "harness/files/demangled.h"
#include "harness/files/printable.h"
#include "harness/files/source_root.h"
#include "harness/registry.h"
#include "harness/runtime.h"
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
constexpr Column kColumns[] = {{"passed", Verdict::pass},          {"failed", Verdict::fail},
                               {"errors", Verdict::error},         {"better", Verdict::better},
                               {"waived", Verdict::waived},        {"moved", Verdict::environment},
                               {"unmeasured", Verdict::unmeasured}};

int count(const Tally& tally, Verdict verdict) {
  const auto found = tally.verdicts.find(verdict);
  return found == tally.verdicts.end() ? 0 : found->second;
}

/// Times that the machine has moved are rare enough to have a column only when there are some.
std::vector<Column> columns_of(const Summary& summary) {
  const Tally total = summary.total();
  std::vector<Column> columns(std::begin(kColumns), std::end(kColumns));
  std::erase_if(columns, [&](const Column& column) {
    return column.verdict == Verdict::environment && count(total, column.verdict) == 0;
  });
  return columns;
}

std::string plural(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string headline(const Summary& summary, const Requirements& requirements) {
  const Tally total = summary.total();
  const int failed = count(total, Verdict::fail);
  const int better = count(total, Verdict::better), missing = count(total, Verdict::unmeasured);
  switch (summary.exit_code(requirements)) {
    case kFault: {
      std::set<std::string> cases;
      for (const Fact* fact : summary.with({Verdict::error})) cases.insert(fact->id.str());
      return cases.empty()
                 ? "ERROR: nothing was judged"
                 : fmt::format("ERROR: {} could not be judged", plural(cases.size(), "case"));
    }
    case kOverBudget:
      return failed > 0
                 ? fmt::format("FAIL: {} over budget", plural(failed, "value"))
                 : fmt::format("FAIL: {} better than budget (--strict)", plural(better, "value"));
    case kNotMeasured:
      if (summary.lost().size() == 1) return "NOT MEASURED: " + printable(summary.lost()[0]);
      if (!summary.lost().empty()) {
        return fmt::format("NOT MEASURED: {} things, see above", summary.lost().size());
      }
      return fmt::format("NOT MEASURED: {} that --require or --device asks for",
                         plural(summary.missing(requirements).size(), "value"));
    case kWithinBudget:
      break;
  }
  const int moved = count(total, Verdict::environment);
  return fmt::format("PASS: {} within budget", plural(total.judged() - moved, "value")) +
         (moved == 0 ? "" : fmt::format(", {} moved by the machine", moved)) +
         (missing == 0 ? "" : fmt::format(", {} unmeasured", missing));
}

std::string on_arch(const Fact& fact) {
  return fact.arch.empty() ? "" : " on " + printable(fact.arch);
}

std::string value_text(const Fact& fact) {
  const std::string_view unit = metrics::metric(fact.metric).unit;
  return metrics::to_text(fact.value) + (unit == "bool" ? "" : " " + std::string(unit));
}

/// For Markdown tables and text: what could be markup is taken literally.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
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

/// The rows of the families, as wide as what stands in them; 80 columns for names of usual length.
std::string table(const Summary& summary) {
  constexpr std::size_t kWidest = 24;
  std::size_t width = 8;
  for (const auto& [family, tally] : summary.families()) width = std::max(width, family.size());
  width = std::min(width, kWidest);
  std::string text = fmt::format("{:<{}} {:>6} {:>7}", "family", width, "cases", "checks");
  auto out = std::back_inserter(text);
  const std::vector<Column> columns = columns_of(summary);
  for (const Column& column : columns) fmt::format_to(out, " {}", column.title);
  text += '\n';
  const auto row = [&](std::string_view name, const Tally& tally) {
    fmt::format_to(out, "{:<{}} {:>6} {:>7}", name, width, tally.cases.size(), tally.checks());
    for (const Column& column : columns) {
      fmt::format_to(out, " {:>{}}", count(tally, column.verdict), column.title.size());
    }
    text += '\n';
  };
  for (const auto& [family, tally] : summary.families()) row(family, tally);
  row("total", summary.total());
  return text;
}

/// Failures that have one cause: the same metric of one variant, over sizes and architectures.
struct Group {
  const Fact* shown;
  std::vector<const Fact*> others;
};

std::vector<Group> groups(const std::vector<const Fact*>& facts) {
  std::vector<Group> groups;
  for (const Fact* fact : facts) {
    const auto same = [&](const Group& group) {
      const Fact& shown = *group.shown;
      return shown.verdict == fact->verdict && shown.metric == fact->metric &&
             shown.id.family == fact->id.family &&
             shown.id.variant_type() == fact->id.variant_type() &&
             (fact->verdict != Verdict::error || shown.reason == fact->reason);
    };
    const auto found = std::ranges::find_if(groups, same);
    if (found == groups.end()) {
      groups.push_back({fact, {}});
    } else {
      found->others.push_back(fact);
    }
  }
  return groups;
}

/// "  also     on sm_80 (28), @1000x700 on sm_90 (36) and 5 more", or nothing.
std::string also(const Group& group) {
  constexpr std::size_t kNamed = 6;
  if (group.others.empty()) return "";
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, group.others.size()); ++i) {
    const Fact& other = *group.others[i];
    const std::string size = other.id.size == group.shown->id.size ? "" : "@" + other.id.size;
    const std::string value =
        other.verdict == Verdict::error ? "" : fmt::format(" ({})", metrics::to_text(other.value));
    const std::string where = printable(size + on_arch(other) + value);
    text += (i == 0 ? "" : ", ") + where.substr(where.find_first_not_of(' '));
  }
  if (group.others.size() > kNamed) {
    text += fmt::format(" and {} more", group.others.size() - kNamed);
  }
  return fmt::format("  {:<8} {}\n", "also", text);
}

/// What gives this very verdict again: what was emulated is emulated again, as the same
/// architecture, even where there is a GPU.
std::string repeat_command(const Fact& fact) {
  const std::vector<Case>& cases = Registry::instance().cases();
  const auto one = std::ranges::find(cases, fact.id, &Case::id);
  const bool emulated = fact.source == "emulator" || (fact.source == "harness" && is_emulated());
  const bool of_arch = (emulated || fact.source == "ptxas") && !fact.arch.empty();
  return fmt::format("{}{}{} --filter '{}'{}", kBuildInfo.gate_command,
                     emulated ? " --device=emulated" : "", of_arch ? " --arch " + fact.arch : "",
                     fact.id.str(), one != cases.end() && one->large ? " --large" : "");
}

}  // namespace

std::string failure_text(const Fact& fact, const std::string& repeat, bool with_kernel) {
  std::string text;
  const auto line = [&text](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    fmt::format_to(std::back_inserter(text), "  {:<8} {}\n", key, printable(value));
  };
  const metrics::Metric& metric = metrics::metric(fact.metric);
  if (fact.verdict == Verdict::error) {
    text = fmt::format("ERROR {}{}\n", fact.id.str(), on_arch(fact));
    line("reason", fact.reason);
  } else {
    const bool judged = fact.verdict != Verdict::unmeasured;
    const std::string_view title = !judged                                ? "UNSURE"
                                   : fact.verdict == Verdict::environment ? "MOVED"
                                                                          : "FAIL";
    text = fmt::format("{} {}{}: {}\n", title, fact.id.str(), on_arch(fact), fact.metric);
    line("value", value_text(fact));
    if (!fact.confidence_reason.empty()) {
      line("unsure", fmt::format("{}: {}", fact.confidence, fact.confidence_reason));
    }
    line("budget",
         fact.budget + (fact.budget_reason.empty() ? "" : " (" + fact.budget_reason + ")"));
    // Mostly just what is above in a sentence; an expired waiver says more.
    if (judged && !fact.reason.ends_with("budget " + fact.budget)) line("why", fact.reason);
    if (!judged) {
      line("to judge", metric.cls == metrics::Class::exact
                           ? fmt::format("gate_on = \"{}\" in the budget file", fact.confidence)
                           : "time it again, longer or more quietly");
    }
    line("means", metric.meaning);
    line("cure", metric.cure);
  }
  if (with_kernel) line("kernel", demangled(fact.kernel));
  if (!fact.file.empty()) {
    line("at", fmt::format("{}:{}: {}", fact.file, fact.line, source_text(fact.file, fact.line)));
  }
  line("repeat", repeat);
  return text;
}

std::string terminal_text(const Summary& summary, const Requirements& requirements, bool colour,
                          const Told& told) {
  std::string text = table(summary);
  auto out = std::back_inserter(text);
  const auto full = [&](const Group& group) {
    const Fact& fact = *group.shown;
    const std::string repeat = told.repeat ? told.repeat(fact) : repeat_command(fact);
    return '\n' + failure_text(fact, repeat, told.kernels) + also(group);
  };
  for (const Group& group : groups(summary.with({Verdict::error, Verdict::fail}))) {
    text += full(group);
  }
  if (requirements.strict) {
    for (const Group& group : groups(summary.with({Verdict::better}))) {
      const Fact& fact = *group.shown;
      fmt::format_to(out, "\nBETTER {}{}: {} = {}, budget {}: tighten it\n{}", fact.id.str(),
                     on_arch(fact), fact.metric, printable(metrics::to_text(fact.value)),
                     printable(fact.budget), also(group));
    }
  }
  for (const Group& group : groups(summary.with({Verdict::environment}))) {
    text += full(group);
  }
  for (const Group& group : groups(summary.unsure_failures())) {
    text += full(group);
  }
  for (const auto& [reason, n] : summary.unmeasured_reasons()) {
    fmt::format_to(out, "\n{} {}\n", n, printable(reason));
  }
  for (const std::string& lost : summary.lost()) fmt::format_to(out, "\n{}\n", printable(lost));
  const bool good = summary.exit_code(requirements) == kWithinBudget;
  const std::string_view on = !colour ? "" : good ? "\033[1;32m" : "\033[1;31m";
  fmt::format_to(out, "\n{}{}{}\n", on, headline(summary, requirements), colour ? "\033[0m" : "");
  return text;
}

std::string markdown_text(const Summary& summary, const Requirements& requirements,
                          const metrics::Run& run) {
  std::string text = fmt::format("# {}\n\n", escaped(headline(summary, requirements)));
  auto out = std::back_inserter(text);
  const std::string device =
      run.device ? fmt::format("{} (compute capability {}, driver {})", run.device->name,
                               run.device->compute_capability, run.device->driver)
                 : "no GPU";
  fmt::format_to(out, "Run {} at {}, commit {}{}, {}{}.\n\n", escaped(run.id), escaped(run.time),
                 run.commit.empty() ? "unknown" : escaped(run.commit.substr(0, 12)),
                 run.dirty && !run.commit.empty() ? " with local changes" : "",
                 run.toolkit.empty() ? "" : "CUDA " + escaped(run.toolkit) + ", ", escaped(device));
  text += "| family | cases | checks |";
  const std::vector<Column> columns = columns_of(summary);
  for (const Column& column : columns) fmt::format_to(out, " {} |", column.title);
  text += "\n|---|---:|---:|";
  for ([[maybe_unused]] const Column& column : columns) text += "---:|";
  text += '\n';
  for (const auto& [family, tally] : summary.families()) {
    fmt::format_to(out, "| {} | {} | {} |", escaped(family), tally.cases.size(), tally.checks());
    for (const Column& column : columns) fmt::format_to(out, " {} |", count(tally, column.verdict));
    text += '\n';
  }
  const auto list = [&](std::string_view title, const std::vector<const Fact*>& facts) {
    if (!facts.empty()) fmt::format_to(out, "\n## {}\n\n", title);
    for (const Fact* fact : facts) {
      fmt::format_to(out, "- **{}**{} `{}`: {}", escaped(fact->id.str()), escaped(on_arch(*fact)),
                     fact->metric, escaped(fact->reason));
      if (!fact->file.empty()) fmt::format_to(out, " — {}:{}", escaped(fact->file), fact->line);
      text += '\n';
    }
  };
  list("Failures", summary.with({Verdict::error, Verdict::fail}));
  if (requirements.strict) list("Better than budget", summary.with({Verdict::better}));
  list("Moved by the machine: the code is that of the budget",
       summary.with({Verdict::environment}));
  list("Unsure: would fail if it were exact", summary.unsure_failures());
  const auto reasons = summary.unmeasured_reasons();
  if (!reasons.empty() || !summary.lost().empty()) text += "\n## Unmeasured\n\n";
  for (const auto& [reason, n] : reasons) fmt::format_to(out, "- {} {}\n", n, escaped(reason));
  for (const std::string& lost : summary.lost()) fmt::format_to(out, "- {}\n", escaped(lost));
  return text;
}

}  // namespace warpgauge
