// Writes an outcome as JSON.
#include "harness/outcome/results_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>
#include <utility>

#include "harness/files/json_document.h"
#include "harness/outcome/bulk_copies.h"
#include "harness/outcome/finding_text.h"
#include "harness/outcome/unjudged_excess.h"
#include "metrics/base/demangled.h"
#include "metrics/base/hash.h"
#include "metrics/base/json_members.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/counter_row.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;
using metrics::number_json;
using metrics::set;
using metrics::Verdict;
using nlohmann::ordered_json;

constexpr std::string_view kSchema = "warpgauge.results/1";
constexpr Verdict kVerdicts[] = {Verdict::error,      Verdict::fail,      Verdict::moved,
                                 Verdict::waived,     Verdict::better,    Verdict::pass,
                                 Verdict::unbudgeted, Verdict::unmeasured};

/// The value with its unit, as they stand in results.json.
std::string whole_text(const Fact& fact) {
  const double* number = std::get_if<double>(&fact.value);
  if (number == nullptr) return value_text(fact);
  return metrics::exact_text(*number) + ' ' + std::string(metrics::metric(fact.metric).unit);
}

ordered_json counts_json(const Tally& tally) {
  ordered_json counts = ordered_json::object();
  for (const Verdict verdict : kVerdicts) {
    if (const int n = tally.count(verdict)) counts[std::string(to_string(verdict))] = n;
  }
  return counts;
}

/// Names a value by the text of its line instead of its number: edits elsewhere leave it alone.
std::string fingerprint(const FoundValue& found) {
  const Fact& fact = *found.judged.fact;
  std::string text = fact.metric + '\0' + fact.id.str() + '\0' + fact.rule;
  if (found.blame.size() > 1 && !fact.rule.empty()) text += '\0' + found.blame[1].text;
  if (!found.blame.empty()) {
    const BlamedLine& line = found.blame.front();
    text += line.file + '\0' + line.text;
  }
  return metrics::hash_text(text);
}

ordered_json blame_json(const std::vector<BlamedLine>& blame) {
  ordered_json lines = ordered_json::array();
  for (const BlamedLine& line : blame) {
    ordered_json place = {{"file", line.file}, {"line", line.line}};
    if (line.value > 0) place["value"] = number_json(line.value);
    if (line.share > 0) place["share"] = line.share;
    set(place, "text", line.text);
    for (const metrics::CallSite& site : line.inlined) {
      place["inlined"].push_back({{"file", site.file}, {"line", site.line}});
    }
    lines.push_back(std::move(place));
  }
  return lines;
}

ordered_json found_value_json(const FoundValue& found, const Finding& finding,
                              const Outcome& outcome) {
  const Fact& fact = *found.judged.fact;
  const metrics::Metric& metric = metrics::metric(fact.metric);
  ordered_json object = {{"group", finding.group},
                         {"verdict", to_string(fact.verdict)},
                         {"wrong", finding.wrong},
                         {"case", fact.id.str()}};
  set(object, "arch", fact.arch);
  object["metric"] = fact.metric;
  set(object, "kernel", fact.kernel.empty() ? "" : metrics::demangled(fact.kernel));
  set(object, "value", fact.value);
  object["unit"] = metric.unit;
  object["value_text"] = value_text(fact);
  if (fact.limit) {
    object["limit"] = metrics::limit_json(*fact.limit);
    object["budget"] = fact.limit->text();
  }
  if (fact.would) object["would"] = to_string(*fact.would);
  set(object, "cause", fact.cause);
  set(object, "confidence", fact.confidence);
  set(object, "confidence_reason", fact.confidence_reason);
  if (fact.leaves_out != 0) object["leaves_out"] = fact.leaves_out;
  set(object, "reason", fact.reason);
  if (fact.verdict != Verdict::error) {
    object["meaning"] = metric.meaning;
    object["cure"] = cure_text(fact);
  }
  object["blame"] = blame_json(found.blame);
  object["fingerprint"] = fingerprint(found);
  const std::string repeat = outcome.repeat(found.judged);
  object["repeat"] = repeat;
  const Finding alone = {.group = finding.group, .wrong = finding.wrong, .values = {found}};
  object["text"] = finding_text(alone, repeat, outcome.options().kernels);
  return object;
}

/// Calls `add` with every value of every finding, the worst first: a part of them can be drawn,
/// too.
void visit_findings(const Outcome& outcome, const files::JsonDocument::Element& add) {
  std::vector<std::pair<const FoundValue*, const Finding*>> found;
  for (const Finding& finding : outcome.findings()) {
    for (const FoundValue& value : finding.values) found.emplace_back(&value, &finding);
  }
  std::ranges::stable_sort(found, [&](const auto& a, const auto& b) {
    return is_worse(*a.first->judged.fact, *b.first->judged.fact, outcome.options().requirements);
  });
  for (const auto& [value, finding] : found) add(found_value_json(*value, *finding, outcome));
}

bool is_listed(const Fact& fact, const Requirements& requirements) {
  return fact.limit || fact.verdict == Verdict::error || requirements.is_wrong(fact) ||
         metrics::metric(fact.metric).source == metrics::Source::timer ||
         metrics::is_counter(metrics::metric(fact.metric));
}

ordered_json judged_value_json(const Fact& fact, const Requirements& requirements) {
  ordered_json object = {{"metric", fact.metric}};
  set(object, "value", fact.value);
  if (const std::string text = value_text(fact); text != whole_text(fact)) {
    object["value_text"] = text;
  }
  set(object, "source", fact.source);
  object["verdict"] = to_string(fact.verdict);
  if (requirements.is_wrong(fact)) object["wrong"] = true;
  if (fact.would) object["would"] = to_string(*fact.would);
  if (fact.limit) object["budget"] = fact.limit->str();
  if (fact.interval) {
    object["interval"] = {number_json(fact.interval->low), number_json(fact.interval->high)};
  }
  if (fact.confidence != "exact") set(object, "confidence", fact.confidence);
  if (fact.leaves_out != 0) object["leaves_out"] = fact.leaves_out;
  set(object, "reason", fact.reason);
  if (fact.file != fact.context->file || fact.line != fact.context->line) {
    set(object, "file", fact.file);
    if (fact.line != 0) object["line"] = fact.line;
  }
  return object;
}

/// The cases by architecture, that of the worst value first.
void visit_cases(const Outcome& outcome, bool every_value,
                 const files::JsonDocument::Element& add) {
  struct OfCase {
    std::vector<JudgedValue> values;
  };
  const Requirements& requirements = outcome.options().requirements;
  std::vector<OfCase> cases;
  std::map<std::tuple<const metrics::CaseId&, const std::string&>, std::size_t> places;
  for (const JudgedValue& value : outcome.values()) {
    const auto [place, is_new] =
        places.try_emplace({value.fact->id, value.fact->arch}, cases.size());
    if (is_new) cases.emplace_back();
    cases[place->second].values.push_back(value);
  }
  const auto worse = [&](const JudgedValue& a, const JudgedValue& b) {
    return is_worse(*a.fact, *b.fact, requirements);
  };
  for (OfCase& of_case : cases) std::ranges::stable_sort(of_case.values, worse);
  std::ranges::stable_sort(cases, [&](const OfCase& a, const OfCase& b) {
    return worse(a.values.front(), b.values.front());
  });
  for (const OfCase& of_case : cases) {
    const Fact& worst = *of_case.values.front().fact;
    ordered_json object = {{"case", worst.id.str()},
                           {"family", worst.id.family},
                           {"variant", worst.id.variant},
                           {"type", worst.id.type},
                           {"size", worst.id.size}};
    object["kind"] = to_string(worst.context->kind);
    set(object, "arch", worst.arch);
    for (const JudgedValue& value : of_case.values) {
      if (value.fact->context->device.empty()) continue;
      object["device"] = value.fact->context->device;
      break;
    }
    set(object, "file", worst.context->file);
    if (worst.context->line != 0) object["line"] = worst.context->line;
    object["run"] = of_case.values.front().run->id;
    object["verdict"] = to_string(worst.verdict);
    object["wrong"] = requirements.is_wrong(worst);
    if (worst.verdict != Verdict::pass) object["repeat"] = outcome.repeat(of_case.values.front());
    object["values"] = ordered_json::array();
    for (const JudgedValue& value : of_case.values) {
      if (!every_value && !is_listed(*value.fact, requirements)) continue;
      object["values"].push_back(judged_value_json(*value.fact, requirements));
    }
    add(object);
  }
}

}  // namespace

void write_results_json(std::ostream& out, const Outcome& outcome, bool every_value) {
  constexpr std::string_view kStatus[] = {"pass", "fail", "error", "not measured"};
  files::JsonDocument document(out, 1);
  document.add("schema", kSchema);
  document.add("status", kStatus[outcome.exit_code()]);
  document.add("exit_code", static_cast<int>(outcome.exit_code()));
  document.add("headline", outcome.headline());
  document.add("cases_total", outcome.total().cases.size());
  document.add("checks", outcome.total().checks());
  document.add("counts", counts_json(outcome.total()));
  ordered_json runs = ordered_json::array();
  for (const metrics::StoredRun& run : outcome.runs()) {
    ordered_json of_run = metrics::run_json(run.run);
    of_run.erase("record");
    of_run.erase("schema");
    runs.push_back(std::move(of_run));
  }
  document.add("runs", runs);
  ordered_json families = ordered_json::array();
  for (const auto& [family, tally] : outcome.families()) {
    families.push_back({{"family", family},
                        {"cases", tally.cases.size()},
                        {"checks", tally.checks()},
                        {"counts", counts_json(tally)}});
  }
  document.add("families", families);
  document.add_list("findings", [&](const auto& add) { visit_findings(outcome, add); });
  ordered_json unmeasured = ordered_json::array();
  for (const Unmeasured& missing : outcome.unmeasured()) {
    unmeasured.push_back(
        {{"reason", missing.reason}, {"count", missing.count}, {"required", missing.required}});
  }
  document.add("unmeasured", unmeasured);
  document.add("lost", outcome.lost());
  document.add("left_out", outcome.options().left_out);
  if (const auto& remarks = outcome.options().remarks; !remarks.empty()) {
    document.add("remarks", remarks);
  }
  if (const auto worst = worst_unjudged_excess(outcome.values())) {
    document.add("unjudged_excess", {{"case", worst->fact->id.str()},
                                     {"arch", worst->fact->arch},
                                     {"metric", worst->fact->metric},
                                     {"value", number_json(worst->excess())},
                                     {"ideal", number_json(worst->ideal)},
                                     {"text", unjudged_text(*worst)}});
  }
  if (const auto copies = bulk_copies_of(outcome.values())) {
    document.add("bulk_copies", {{"case", copies->most->id.str()},
                                 {"arch", copies->most->arch},
                                 {"copies", copies->most->leaves_out},
                                 {"cases", copies->cases},
                                 {"text", bulk_copies_text(*copies)}});
  }
  ordered_json units = ordered_json::object();
  for (const metrics::Metric& metric : metrics::catalog())
    units[std::string(metric.id)] = metric.unit;
  for (const JudgedValue& value : outcome.values()) {
    units[value.fact->metric] = metrics::metric(value.fact->metric).unit;
  }
  document.add("units", units);
  document.add_list("cases", [&](const auto& add) { visit_cases(outcome, every_value, add); });
  document.end();
}

}  // namespace warpgauge::outcome
