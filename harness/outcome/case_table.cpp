#include "harness/outcome/case_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "harness/files/printable.h"
#include "metrics/value.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;

struct Column {
  std::string_view title, metric;
};
constexpr std::array kColumns = {
    Column{"registers", "registers"},
    Column{"spilled", "spill.store_bytes"},
    Column{"occupancy", "occupancy.theoretical"},
    Column{"conflicts", "shared.bank_conflicts"},
    Column{"wavefronts", "shared.wavefronts"},
    Column{"excess sectors", "global.excess_sectors"},
    Column{"ideal sectors", "global.sectors_ideal"},
    Column{"local sectors", "local.sectors"},
};

struct Row {
  std::string id, arch;
  std::array<std::string, kColumns.size()> cells;
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
    const auto column = std::ranges::find(kColumns, fact.metric, &Column::metric);
    if (column == kColumns.end()) continue;
    const std::string id = files::printable(fact.id.str());
    const auto [place, is_new] = places.try_emplace({id, fact.arch}, rows.size());
    if (is_new) rows.push_back({id, fact.arch, {}});
    rows[place->second].cells[static_cast<std::size_t>(column - kColumns.begin())] =
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
  auto out = std::back_inserter(text);
  for (const Column& column : kColumns) {
    fmt::format_to(out, " {:>{}}", column.title, std::max(kNarrowest, column.title.size()));
  }
  text += '\n';
  for (const Row& row : rows) {
    fmt::format_to(out, "{:<{}} {:<8}", row.id, width, row.arch);
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      fmt::format_to(out, " {:>{}}", row.cells[i].empty() ? "-" : row.cells[i],
                     std::max(kNarrowest, kColumns[i].title.size()));
    }
    text += '\n';
  }
  return text + "(no budget judges it), ! wrong, - not measured\n\n";
}

}  // namespace warpgauge::outcome
