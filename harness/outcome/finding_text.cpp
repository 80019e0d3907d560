// Writes a finding, for people.
#include "harness/outcome/finding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <string_view>

#include "harness/files/printable.h"
#include "metrics/base/demangled.h"
#include "metrics/budgets/judge.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;
using metrics::Verdict;

/// "  value    32 ways", one line; nothing for nothing.
void add_line(std::string& text, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  text += fmt::format("  {:<8} {}\n", key, files::printable(value));
}

void add_blame(std::string& text, const std::vector<BlamedLine>& blame) {
  for (const BlamedLine& line : blame) {
    const std::string share =
        line.share == 0 || blame.size() == 1 ? "" : fmt::format(" ({:.3g} %)", 100 * line.share);
    add_line(text, &line == blame.data() ? "at" : "",
             fmt::format("{}:{}{}{}{}", line.file, line.line, share, line.text.empty() ? "" : ": ",
                         line.text));
    add_line(text, "", inlined_text({line.file, line.line, line.inlined}));
  }
}

/// "my::add<float>", cut where it is long.
std::string instance_text(const std::string& kernel) {
  constexpr std::size_t kLongest = 80;
  std::string name = metrics::without_types(metrics::demangled(kernel));
  if (name.size() > kLongest) name.replace(kLongest - 3, name.npos, "...");
  return name;
}

/// How sure the comparison with the budget is, as a word.
std::string sureness(const Fact& fact) {
  const std::optional<metrics::Confidence> confidence = metrics::judged_confidence(fact);
  return confidence ? std::string(to_string(*confidence)) : fact.confidence;
}

/// Why a failure is more than a value over its budget: an expired waiver, code that changed.
std::string_view more_than_the_budget(const Fact& fact) {
  const bool plain = fact.verdict == Verdict::fail && fact.limit && !fact.limit->until &&
                     fact.limit->code.empty() &&
                     !(fact.machine && !fact.machine->disturbance.empty());
  const bool says_more = fact.verdict == Verdict::fail || fact.verdict == Verdict::moved;
  return plain || !says_more ? "" : std::string_view(fact.reason);
}

}  // namespace

std::string on_arch(const Fact& fact) { return fact.arch.empty() ? "" : " on " + fact.arch; }

std::string title(const Finding& finding) {
  const Fact& shown = *finding.shown().fact;
  std::set<std::string> archs, families, instances;
  for (const FoundValue& found : finding.values) {
    const Fact& fact = *found.judged.fact;
    if (fact.id == shown.id && fact.arch != shown.arch) archs.insert(fact.arch);
    families.insert(fact.id.family);
    instances.insert(fact.id.variant_type());
  }
  const std::string more = archs.empty() ? "" : fmt::format(" and {} more", archs.size());
  const std::string of =
      instances.size() < 2 ? "" : fmt::format(", {} instances", instances.size());
  const std::string in = families.size() < 2 ? "" : fmt::format(", in {} files", families.size());
  return files::printable(shown.id.str() + on_arch(shown) + more + of + in);
}

std::string value_text(const Fact& fact) {
  if (std::holds_alternative<std::monostate>(fact.value)) return "not measured";
  const std::string_view unit = metrics::metric(fact.metric).unit;
  std::string text = metrics::to_text(fact.value) + (unit == "bool" ? "" : " " + std::string(unit));
  return fact.leaves_out == 0 ? text : text + ", leaves out " + copies_text(fact.leaves_out);
}

std::string copies_text(std::uint64_t copies) {
  return fmt::format("{} bulk cop{}", copies, copies == 1 ? "y" : "ies");
}

std::string_view cure_text(const Fact& fact) {
  return fact.cure.empty() ? metrics::metric(fact.metric).cure : fact.cure;
}

std::string_view label(const Fact& fact) {
  switch (fact.verdict) {
    case Verdict::error:
      return "ERROR";
    case Verdict::better:
      return "BETTER";
    case Verdict::moved:
      return "MOVED";
    case Verdict::unmeasured:
      return "UNSURE";
    default:
      return "FAIL";
  }
}

std::string inlined_text(const metrics::SourceLine& line) {
  const auto own = std::ranges::find(line.inlined, metrics::CallSite{line.file, line.line});
  const auto sites = [](std::string_view how, const auto& chain, std::size_t most) {
    std::string text;
    std::size_t count = 0;
    for (const metrics::CallSite& site : chain) {
      if (++count > most) continue;
      text += fmt::format("{}{}:{}", text.empty() ? how : ", ", site.file, site.line);
    }
    return count <= most ? text : fmt::format("{} and {} more", text, count - most);
  };
  if (own == line.inlined.end()) return "";
  // Inward the function that this line calls, outward the way to the kernel.
  const std::ranges::subrange inward{std::make_reverse_iterator(own), line.inlined.rend()};
  const std::string inner = sites("inlined from ", inward, 1);
  const std::string outer =
      sites("inlined at ", std::ranges::subrange(own + 1, line.inlined.end()), 3);
  return inner + (inner.empty() || outer.empty() ? "" : "; ") + outer;
}

std::string also_text(const Finding& finding) {
  constexpr std::size_t kNamed = 6;
  const Fact& fact = *finding.shown().fact;
  const metrics::CaseId& shown = fact.id;
  const auto is_of_shown = [&](const Fact& other) {
    return other.id == shown && other.arch == fact.arch;
  };
  std::vector<JudgedValue> others = finding.others();
  std::erase_if(others, [&](const JudgedValue& other) {  // of other cases the same metric is enough
    return other.fact->metric != fact.metric && !is_of_shown(*other.fact);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, others.size()); ++i) {
    const Fact& other = *others[i].fact;
    const std::string family = other.id.family == shown.family ? "" : other.id.family;
    const std::string instance =
        other.id.variant_type() == shown.variant_type() ? "" : " " + instance_text(other.kernel);
    const std::string size = other.id.size == shown.size ? "" : "@" + other.id.size;
    const std::string value =
        other.verdict == Verdict::error ? "" : fmt::format(" ({})", metrics::to_text(other.value));
    const std::string of_place = family + instance + size + on_arch(other);
    const std::string where =
        files::printable((is_of_shown(other) ? other.metric : of_place) + value);
    text +=
        (i == 0 ? "" : ", ") + where.substr(std::min(where.size(), where.find_first_not_of(' ')));
  }
  if (others.size() > kNamed) text += fmt::format(" and {} more", others.size() - kNamed);
  return text;
}

std::string finding_text(const Finding& finding, const std::string& repeat, bool with_kernel) {
  const Fact& fact = *finding.shown().fact;
  const metrics::Metric& metric = metrics::metric(fact.metric);
  const bool error = fact.verdict == Verdict::error;
  std::string text = fmt::format("{} {}{}{}\n", label(fact), title(finding), error ? "" : ": ",
                                 error ? "" : fact.metric);
  if (error) {
    add_line(text, "reason", fact.reason);
    add_line(text, "cure", fact.cure);
  } else {
    add_line(text, "value", value_text(fact));
    if (!fact.confidence_reason.empty()) {
      add_line(text, "unsure", fmt::format("{}: {}", fact.confidence, fact.confidence_reason));
    } else if (sureness(fact) != fact.confidence) {
      add_line(text, "unsure", fmt::format("{}: that of {}", sureness(fact), fact.limit->of));
    }
    add_line(text, "budget", fact.limit ? fact.limit->text() : "");
  }
  add_blame(text, finding.blame());
  if (!error) {
    add_line(text, "why", more_than_the_budget(fact));
    if (fact.verdict == Verdict::unmeasured) {
      add_line(text, "to judge",
               metric.cls == metrics::Class::exact
                   ? fmt::format("gate_on = \"{}\" in the budget file", sureness(fact))
                   : "time it again, for longer or on an idle machine");
    }
    if (fact.verdict == Verdict::better) {
      add_line(text, "cure", "Tighten the budget.");
    } else {
      add_line(text, "means", metric.meaning);
      add_line(text, "cure", cure_text(fact));
    }
  }
  if (with_kernel) add_line(text, "kernel", metrics::shown_name(fact.kernel));
  add_line(text, "also", also_text(finding));
  add_line(text, "repeat", repeat);
  return text;
}

}  // namespace warpgauge::outcome
