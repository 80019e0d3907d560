// Writes the table of all cases with their key metrics.
#include "harness/outcome/case_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "harness/files/printable.h"
#include "metrics/base/value.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;

struct MetricColumn {
  std::string_view title, metric;
};
constexpr std::array kMetricColumns = {
    MetricColumn{"registers", "registers"},
    MetricColumn{"spilled", "spill.store_bytes"},
    MetricColumn{"occupancy", "occupancy.theoretical"},
    MetricColumn{"conflicts", "shared.bank_conflicts"},
    MetricColumn{"wavefronts", "shared.wavefronts"},
    MetricColumn{"excess sectors", "global.excess_sectors"},
    MetricColumn{"ideal sectors", "global.sectors_ideal"},
    MetricColumn{"local sectors", "local.sectors"},
};

struct Row {
  std::string id, arch;
  std::array<std::string, kMetricColumns.size()> cells;
};

std::string cell_of(const Fact& fact, const Requirements& requirements) {
  const double* number = std::get_if<double>(&fact.value);
  if (number == nullptr) return "-";
  const std::string text = metrics::exact_text(*number);
  if (fact.verdict == metrics::Verdict::unbudgeted) return '(' + text + ')';
  return requirements.is_wrong(fact) ? text + '!' : text;
}

std::vector<Row> rows_of(const Outcome& outcome) {
  std::vector<Row> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const JudgedValue& value : outcome.values()) {
    const Fact& fact = *value.fact;
    const auto column = std::ranges::find(kMetricColumns, fact.metric, &MetricColumn::metric);
    if (column == kMetricColumns.end()) continue;
    const std::string id = files::printable(fact.id.str());
    const auto [place, is_new] = places.try_emplace({id, fact.arch}, rows.size());
    if (is_new) rows.push_back({id, fact.arch, {}});
    rows[place->second].cells[static_cast<std::size_t>(column - kMetricColumns.begin())] =
        cell_of(fact, outcome.options().requirements);
  }
  return rows;
}

}  // namespace

std::string case_table(const Outcome& outcome) {
  constexpr std::size_t kNarrowest = 9;
  const std::vector<Row> rows = rows_of(outcome);
  std::size_t width = 4;
  for (const Row& row : rows) width = std::max(width, row.id.size());
  std::string text = fmt::format("{:<{}} {:<8}", "case", width, "arch");
  for (const MetricColumn& column : kMetricColumns) {
    text += fmt::format(" {:>{}}", column.title, std::max(kNarrowest, column.title.size()));
  }
  text += '\n';
  for (const Row& row : rows) {
    text += fmt::format("{:<{}} {:<8}", row.id, width, row.arch);
    for (std::size_t i = 0; i < kMetricColumns.size(); ++i) {
      text += fmt::format(" {:>{}}", row.cells[i].empty() ? "-" : row.cells[i],
                          std::max(kNarrowest, kMetricColumns[i].title.size()));
    }
    text += '\n';
  }
  return text + "(no budget judges it), ! wrong, - not measured\n\n";
}

}  // namespace warpgauge::outcome
