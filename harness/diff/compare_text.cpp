#include "harness/diff/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/files/printable.h"
#include "metrics/value.h"

namespace warpgauge::diff {
namespace {

using metrics::Confidence;
using nlohmann::ordered_json;

constexpr Confidence kConfidences[] = {Confidence::exact, Confidence::predicted,
                                       Confidence::estimate};

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// One kind of place by family, with what share of all each column has.
std::string table(const FactComparison& comparison, std::string_view title,
                  Agreement FamilyAgreement::*kind) {
  std::size_t width = title.size();
  for (const auto& [name, family] : comparison.families) width = std::max(width, name.size());
  std::string text = fmt::format("{:{}} {:>8}", "", width, "");
  auto out = std::back_inserter(text);
  for (const Confidence confidence : kConfidences) {
    fmt::format_to(out, "  {:>14}", to_string(confidence));
  }
  fmt::format_to(out, "\n{:<{}} {:>8}", title, width, "compared");
  for (std::size_t i = 0; i < std::size(kConfidences); ++i) text += "    equal differ";
  text += '\n';
  const auto row = [&](std::string_view name, const Agreement& agreement) {
    fmt::format_to(out, "{:<{}} {:>8}", files::printable(name), width, agreement.total());
    for (std::size_t i = 0; i < agreement.equal.size(); ++i) {
      fmt::format_to(out, "  {:>7} {:>6}", agreement.equal[i], agreement.different[i]);
    }
    text += '\n';
  };
  for (const auto& [name, family] : comparison.families) row(name, family.*kind);
  const FamilyAgreement total = comparison.total();
  const Agreement& all = total.*kind;
  row("total", all);
  fmt::format_to(out, "{:{}} {:>8}", "", width, "");
  for (std::size_t i = 0; i < all.equal.size(); ++i) {
    fmt::format_to(out, "  {:>6.1f}% {:>5.1f}%", percent(all.equal[i], all.total()),
                   percent(all.different[i], all.total()));
  }
  return text + '\n';
}

std::string difference_text(const Difference& difference) {
  const Place& place = difference.place;
  const std::string where = place.is_whole_case() ? "the whole case"
                            : place.file.empty()  ? "code without line information"
                                                  : fmt::format("{}:{}", place.file, place.line);
  return files::printable(fmt::format(
      "{:<9} {}{}, {}: {} is {} in A and {} in B{}", to_string(difference.trust.confidence),
      place.id.str(), place.arch.empty() ? "" : " on " + place.arch, where, difference.metric,
      metrics::exact_text(difference.a), metrics::exact_text(difference.b),
      difference.trust.reason.empty() ? "" : " (" + difference.trust.reason + ")"));
}

/// What was not compared, in words; nothing if all was.
std::string left_out_text(const std::vector<std::string>& cases, std::string_view why) {
  constexpr std::size_t kNamed = 3;
  if (cases.empty()) return "";
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, cases.size()); ++i) {
    names += (i == 0 ? "" : ", ") + files::printable(cases[i]);
  }
  if (cases.size() > kNamed) names += fmt::format(" and {} more", cases.size() - kNamed);
  return fmt::format("\n{} not compared, {}: {}\n", cases.size(), why, names);
}

std::string headline(const FactComparison& comparison) {
  constexpr auto kExact = static_cast<std::size_t>(Confidence::exact);
  const auto& [cases, lines, whole_cases] = comparison.total();
  if (comparison.is_refuted()) {
    return fmt::format(
        "DIFFERENT: {} of {} source lines and {} of {} whole cases differ in counts that both call "
        "exact",
        lines.different[kExact], lines.total(), whole_cases.different[kExact], whole_cases.total());
  }
  return fmt::format(
      "EQUAL: no count differs that both call exact; {} of {} source lines ({:.1f}%) are exact and "
      "equal",
      lines.equal[kExact], lines.total(), percent(lines.equal[kExact], lines.total()));
}

ordered_json agreement_json(const Agreement& agreement) {
  ordered_json json = {{"compared", agreement.total()}};
  for (const Confidence confidence : kConfidences) {
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

/// `text`, or null for none.
ordered_json text_json(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json difference_json(const Difference& difference) {
  const Place& place = difference.place;
  return {{"id", place.id.str()},
          {"arch", text_json(place.arch)},
          {"kernel", text_json(place.kernel)},
          {"file", text_json(place.file)},
          {"line", place.line == 0 ? ordered_json() : ordered_json(place.line)},
          {"metric", difference.metric},
          {"a", difference.a},
          {"b", difference.b},
          {"confidence", to_string(difference.trust.confidence)},
          {"confidence_reason", text_json(difference.trust.reason)}};
}

}  // namespace

std::string comparison_text(const FactComparison& comparison) {
  std::string text = '\n' + table(comparison, "source lines", &FamilyAgreement::lines) + '\n' +
                     table(comparison, "whole cases", &FamilyAgreement::whole_cases);
  text += left_out_text(comparison.only_in_a, "counted in A only");
  text += left_out_text(comparison.only_in_b, "counted in B only");
  text += left_out_text(comparison.other_code, "their machine code is not the same");
  if (!comparison.differences.empty()) text += '\n';
  for (const Difference& difference : comparison.differences) {
    text += difference_text(difference) + '\n';
  }
  text += '\n' + headline(comparison);
  if (const std::size_t left_out = comparison.left_out(); left_out > 0) {
    text += fmt::format("; cases not compared: {}", left_out);
  }
  return text + '\n';
}

std::string comparison_json(const FactComparison& comparison) {
  ordered_json families = ordered_json::object(), differences = ordered_json::array();
  for (const auto& [name, family] : comparison.families) families[name] = family_json(family);
  for (const Difference& difference : comparison.differences) {
    differences.push_back(difference_json(difference));
  }
  const ordered_json json = {{"total", family_json(comparison.total())},
                             {"families", std::move(families)},
                             {"left_out",
                              {{"only_in_a", comparison.only_in_a},
                               {"only_in_b", comparison.only_in_b},
                               {"other_code", comparison.other_code}}},
                             {"differences", std::move(differences)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace warpgauge::diff
