#include "harness/diff/agreement_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/files/printable.h"
#include "metrics/base/value.h"

namespace warpgauge::diff {
namespace {

using metrics::Confidence;

constexpr Confidence kConfidences[] = {Confidence::exact, Confidence::predicted,
                                       Confidence::estimate};

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

struct Row {
  std::string name;
  Agreement agreement;
};

/// The families; on one display those that differ first, and the last ones together.
std::vector<Row> rows_of(const CountComparison& comparison, Agreement FamilyAgreement::*kind,
                         const DisplayOptions& display) {
  std::vector<Row> rows;
  for (const auto& [name, family] : comparison.families) rows.push_back({name, family.*kind});
  if (display.everything || rows.size() <= kShownCases) return rows;
  std::ranges::stable_sort(rows, std::greater(),
                           [](const Row& row) { return row.agreement.different; });
  Row others{fmt::format("{} others", rows.size() - kShownCases), {}};
  for (std::size_t i = kShownCases; i < rows.size(); ++i) others.agreement += rows[i].agreement;
  rows.resize(kShownCases);
  rows.push_back(others);
  return rows;
}

/// One kind of place by family, with the share of all that each column has.
std::string table(const CountComparison& comparison, std::string_view title,
                  Agreement FamilyAgreement::*kind, const DisplayOptions& display) {
  std::vector<Row> rows = rows_of(comparison, kind, display);
  const Agreement all = comparison.total().*kind;
  rows.push_back({"total", all});
  std::size_t width = title.size();
  for (const Row& row : rows) width = std::max(width, row.name.size());
  std::string text = fmt::format("{:{}} {:>8}", "", width, "");
  for (const Confidence confidence : kConfidences) {
    text += fmt::format("  {:>14}", to_string(confidence));
  }
  text += fmt::format("\n{:<{}} {:>8}", title, width, "compared");
  for (std::size_t i = 0; i < std::size(kConfidences); ++i) text += "    equal differ";
  text += '\n';
  for (const auto& [name, agreement] : rows) {
    text += fmt::format("{:<{}} {:>8}", files::printable(name), width, agreement.total());
    for (std::size_t i = 0; i < agreement.equal.size(); ++i) {
      text += fmt::format("  {:>7} {:>6}", agreement.equal[i], agreement.different[i]);
    }
    text += '\n';
  }
  text += fmt::format("{:{}} {:>8}", "", width, "");
  for (std::size_t i = 0; i < all.equal.size(); ++i) {
    text += fmt::format("  {:>6.1f}% {:>5.1f}%", percent(all.equal[i], all.total()),
                        percent(all.different[i], all.total()));
  }
  return text + '\n';
}

std::string difference_text(const CountDifference& difference) {
  const CountedLine& place = difference.place;
  const std::string where = place.is_whole_case() ? "the whole case"
                            : place.file.empty()  ? "code without line information"
                                                  : fmt::format("{}:{}", place.file, place.line);
  const std::string text = fmt::format(
      "{:<9} {}{}, {}: {} is {} in A and {} in B{}", to_string(difference.trust.confidence),
      place.id.str(), place.arch.empty() ? "" : " on " + place.arch, where, difference.metric,
      metrics::exact_text(difference.a), metrics::exact_text(difference.b),
      difference.trust.reason.empty() ? "" : " (" + difference.trust.reason + ")");
  return files::printable(text) + '\n';
}

/// The worst difference of each case, on a line rather than of the whole case.
std::vector<const CountDifference*> worst_of_cases(const CountComparison& comparison) {
  std::map<std::pair<metrics::CaseId, std::string>, std::size_t> places;
  std::vector<const CountDifference*> worst;
  for (const CountDifference& one : comparison.differences) {
    const auto [place, is_new] = places.try_emplace({one.place.id, one.place.arch}, worst.size());
    if (is_new) {
      worst.push_back(&one);
      continue;
    }
    const CountDifference*& known = worst[place->second];
    const bool explains = known->place.is_whole_case() && known->metric == one.metric &&
                          known->trust.confidence == one.trust.confidence;
    if (explains) known = &one;
  }
  return worst;
}

/// The counts that differ; on one display one of each case.
std::string differences_text(const CountComparison& comparison, const DisplayOptions& display) {
  std::vector<Entry> rows;
  if (display.everything) {
    for (const CountDifference& one : comparison.differences)
      rows.push_back({difference_text(one)});
  } else {
    for (const CountDifference* one : worst_of_cases(comparison)) {
      rows.push_back({difference_text(*one)});
    }
  }
  return first_of(rows, kShownCases, "cases", display);
}

/// A line for each case that was not compared ("id on arch"); on one display for all architectures
/// of an id.
void add_left_out(std::vector<Entry>& rows, const std::vector<std::string>& cases,
                  std::string_view why, const DisplayOptions& display) {
  const auto id_of = [](std::string_view one) { return one.substr(0, one.rfind(" on ")); };
  for (std::size_t begin = 0, end = 0; begin < cases.size(); begin = end) {
    for (end = begin + 1; !display.everything && end < cases.size(); ++end) {
      if (id_of(cases[end]) != id_of(cases[begin])) break;
    }
    const std::size_t others = end - begin - 1;
    const std::string more = others > 0 ? fmt::format(" and {} more", others) : "";
    rows.push_back(
        {fmt::format("not compared: {}{}, {}\n", files::printable(cases[begin]), more, why),
         others + 1});
  }
}

}  // namespace

std::string headline(const CountComparison& comparison) {
  constexpr auto kExact = static_cast<std::size_t>(Confidence::exact);
  const auto& [cases, lines, whole_cases] = comparison.total();
  std::string text =
      comparison.is_refuted()
          ? fmt::format(
                "DIFFERENT: {} of {} source lines and {} of {} whole cases differ in counts "
                "that both call exact",
                lines.different[kExact], lines.total(), whole_cases.different[kExact],
                whole_cases.total())
          : fmt::format(
                "EQUAL: no count differs that both call exact; {} of {} source lines "
                "({:.1f}%) and {} of {} whole cases are exact and equal",
                lines.equal[kExact], lines.total(), percent(lines.equal[kExact], lines.total()),
                whole_cases.equal[kExact], whole_cases.total());
  if (const std::size_t left_out = comparison.left_out(); left_out > 0) {
    text += fmt::format("; cases not compared: {}", left_out);
  }
  return text;
}

std::string comparison_text(const CountComparison& comparison, const DisplayOptions& display) {
  std::string text = table(comparison, "source lines", &FamilyAgreement::lines, display);
  if (display.everything) {
    text += '\n' + table(comparison, "whole cases", &FamilyAgreement::whole_cases, display);
  }
  std::vector<Entry> left_out;
  add_left_out(left_out, comparison.only_in_a, "counted in A only", display);
  add_left_out(left_out, comparison.only_in_b, "counted in B only", display);
  add_left_out(left_out, comparison.other_code, "other machine code", display);
  add_left_out(left_out, comparison.without_lines, "source lines: counted on one side only",
               display);
  for (const std::string& list : {differences_text(comparison, display),
                                  first_of(left_out, kShownLost, "cases not compared", display)}) {
    if (!list.empty()) text += '\n' + list;
  }
  return text + '\n' + headline(comparison) + '\n';
}

}  // namespace warpgauge::diff
