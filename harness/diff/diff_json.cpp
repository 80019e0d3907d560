// Writes a diff as JSON.
#include "harness/diff/diff_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "harness/diff/agreement_text.h"
#include "metrics/base/demangled.h"
#include "metrics/base/json_members.h"

namespace warpgauge::diff {
namespace {

using metrics::Confidence;
using metrics::set;
using nlohmann::ordered_json;

constexpr std::string_view kSchema = "warpgauge.diff/1";
constexpr ChangeKind kCausedKinds[] = {ChangeKind::worse, ChangeKind::moved, ChangeKind::changed,
                                       ChangeKind::better};

void set(ordered_json& object, const char* key, std::optional<double> number) {
  if (number) object[key] = metrics::number_json(*number);
}

void set_place(ordered_json& object, const std::string& file, int line, const std::string& kernel) {
  set(object, "file", file);
  if (line != 0) object["line"] = line;
  set(object, "kernel", kernel);
}

ordered_json line_json(const LineChange& line) {
  ordered_json object = ordered_json::object();
  set_place(object, line.place.file, line.place.line, line.place.kernel);
  object["mark"] = to_string(line.kind);
  set(object, "a", line.a);
  set(object, "b", line.b);
  return object;
}

ordered_json change_json(const Change& change, const KernelsOfCases& kernels) {
  ordered_json object = {{"id", change.id.str()}};
  set(object, "arch", change.arch.str());
  if (const auto kernel = kernels.find({change.id, change.arch}); kernel != kernels.end()) {
    const auto& [a, b] = kernel->second;
    object["kernel"] = metrics::demangled(b);
    if (a != b) object["kernel_before"] = metrics::demangled(a);
  }
  set(object, "gpu", change.gpu.str());
  object["metric"] = change.metric->id;
  object["unit"] = change.metric->unit;
  object["class"] = to_string(change.metric->cls);
  object["mark"] = to_string(change.kind);
  set(object, "a", change.a);
  set(object, "b", change.b);
  set(object, "relative", change.relative);
  if (change.cause) object["cause"] = to_string(*change.cause);
  if (!change.details.empty()) object["details"] = change.details;
  set(object, "reason", change.reason.str());
  ordered_json lines = ordered_json::array();
  for (const LineChange& line : change.lines) {
    if (line.kind != ChangeKind::same) lines.push_back(line_json(line));
  }
  if (!lines.empty()) object["lines"] = std::move(lines);
  return object;
}

ordered_json fact_json(const FactChange& fact, const KernelsOfCases& names) {
  ordered_json object = {{"topic", fact.topic}, {"values", fact.values}, {"told", fact.told}};
  const ordered_json change = change_json(*fact.gravest, names);
  for (const auto& [key, value] : change.items()) {
    if (key != "lines") object[key] = value;
  }
  if (const LineKey* place = fact.gravest->moved_line()) {
    set_place(object, place->file, place->line, "");
  }
  return object;
}

ordered_json kernel_json(const KernelChanges& kernel, const KernelsOfCases& names) {
  ordered_json facts = ordered_json::array();
  for (const FactChange& fact : kernel.facts) facts.push_back(fact_json(fact, names));
  return {{"name", kernel.name},
          {"mark", to_string(kernel.kind)},
          {"cases", kernel.cases.size()},
          {"facts", std::move(facts)}};
}

ordered_json marks_json(const KindCounts& counts) {
  ordered_json marks = ordered_json::object();
  for (std::size_t i = 0; i < kChangeKinds; ++i) {
    marks[std::string(to_string(static_cast<ChangeKind>(i)))] = counts[i];
  }
  return marks;
}

ordered_json agreement_json(const Agreement& agreement) {
  ordered_json json = {{"compared", agreement.total()}};
  for (const Confidence confidence :
       {Confidence::exact, Confidence::predicted, Confidence::estimate}) {
    const auto i = static_cast<std::size_t>(confidence);
    json[std::string(to_string(confidence))] = {{"equal", agreement.equal[i]},
                                                {"different", agreement.different[i]}};
  }
  return json;
}

ordered_json family_json(const FamilyAgreement& family) {
  return {{"cases", family.cases},
          {"lines", agreement_json(family.lines)},
          {"whole_cases", agreement_json(family.whole_cases)}};
}

ordered_json difference_json(const CountDifference& difference) {
  const CountedLine& place = difference.place;
  ordered_json object = {{"id", place.id.str()}};
  set(object, "arch", place.arch);
  set_place(object, place.file, place.line, place.kernel);
  object["metric"] = difference.metric;
  object["a"] = metrics::number_json(difference.a);
  object["b"] = metrics::number_json(difference.b);
  object["confidence"] = to_string(difference.trust.confidence);
  set(object, "confidence_reason", difference.trust.reason);
  return object;
}

ordered_json side_json(const SideName& side) {
  return {{"file", side.file.string()},
          {"origin", side.origin},
          {"runs", side.runs},
          {"commits", side.commits}};
}

}  // namespace

void add_changes(files::JsonDocument& json, const std::vector<Change>& changes,
                 const std::vector<KernelChanges>& kernels, const KernelsOfCases& names) {
  ordered_json causes = ordered_json::array();
  for (const auto& [cause, of_cause] : count_causes(kernels)) {
    ordered_json row = ordered_json::object();
    if (cause) row["cause"] = to_string(*cause);
    for (const ChangeKind kind : kCausedKinds) {
      row[std::string(to_string(kind))] = of_cause[static_cast<std::size_t>(kind)];
    }
    causes.push_back(std::move(row));
  }
  json.add("kind", "values");
  json.add("headline", headline(kernels));
  json.add("marks", marks_json(count_kinds(kernels)));
  json.add("causes", causes);
  json.add_list("kernels", [&](const auto& add) {
    for (const KernelChanges& kernel : kernels) {
      if (!kernel.facts.empty()) add(kernel_json(kernel, names));
    }
  });
  json.add("values", marks_json(count_kinds(changes)));
  json.add_list("changes", [&](const auto& add) {
    for (const Change& change : changes) {
      if (change.kind != ChangeKind::same) add(change_json(change, names));
    }
  });
}

void add_comparison(files::JsonDocument& json, const CountComparison& comparison) {
  ordered_json families = ordered_json::object();
  for (const auto& [name, family] : comparison.families) families[name] = family_json(family);
  json.add("kind", "counts");
  json.add("headline", headline(comparison));
  json.add("total", family_json(comparison.total()));
  json.add("families", families);
  json.add("left_out", {{"only_in_a", comparison.only_in_a},
                        {"only_in_b", comparison.only_in_b},
                        {"other_code", comparison.other_code},
                        {"without_lines", comparison.without_lines}});
  json.add_list("differences", [&](const auto& add) {
    for (const CountDifference& difference : comparison.differences) {
      add(difference_json(difference));
    }
  });
}

void write_diff_json(std::ostream& out, const SideName& a, const SideName& b, int exit_code,
                     const std::function<void(files::JsonDocument&)>& add_result) {
  constexpr int kIndent = 2;
  files::JsonDocument json(out, kIndent);
  json.add("schema", kSchema);
  json.add("exit_code", exit_code);
  json.add("a", side_json(a));
  json.add("b", side_json(b));
  add_result(json);
  json.end();
}

}  // namespace warpgauge::diff
