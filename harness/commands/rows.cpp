#include "harness/commands/rows.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

#include "harness/files/source_root.h"

namespace warpgauge {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const toml::source_region& where,
                         std::string_view problem) {
  throw std::invalid_argument(
      fmt::format("{}:{}:{}: {}", path.string(), where.begin.line, where.begin.column, problem));
}

std::string text_of(const std::filesystem::path& path, const toml::node& owner,
                    const toml::node* node) {
  const auto text = node == nullptr ? std::nullopt : node->value<std::string>();
  if (!text || text->empty()) {
    refuse(path, owner.source(),
           "a row needs a title; a tool { title = \"...\", command = \"...\" }");
  }
  return *text;
}

/// A row from `id = node`: a title alone, or a table of it and what is said beside it.
Row row_of(const std::filesystem::path& path, std::string id, const toml::node& node,
           bool is_tool) {
  const toml::table* const table = node.as_table();
  const auto member = [&](const char* key) { return table == nullptr ? nullptr : table->get(key); };
  Row row{.id = std::move(id),
          .title = text_of(path, node, table == nullptr ? &node : member("title")),
          .command = "",
          .library = ""};
  if (is_tool) row.command = text_of(path, node, member("command"));
  if (member("library") != nullptr) row.library = text_of(path, node, member("library"));
  return row;
}

struct Family {
  std::set<std::string> variants;
  std::size_t cases = 0;
};

std::map<std::string, Family> families_of(const Registry& registry) {
  std::map<std::string, Family> families;
  for (const Case& one : registry.cases()) {
    Family& family = families[one.id.family];
    family.variants.insert(one.id.variant_type());
    ++family.cases;
  }
  return families;
}

}  // namespace

std::vector<Row> read_rows(const std::filesystem::path& path) {
  std::vector<Row> rows;
  toml::table file;
  try {
    file = toml::parse_file(path.string());
  } catch (const toml::parse_error& error) {
    refuse(path, error.source(), error.description());
  }
  std::vector<std::pair<toml::source_position, Row>> placed;
  for (const auto& [name, node] : file) {
    const toml::table* const table = node.as_table();
    if (table == nullptr || (name != "kernels" && name != "tools")) {
      refuse(path, node.source(), "unknown; there are the tables [kernels] and [tools]");
    }
    for (const auto& [id, row] : *table) {
      placed.emplace_back(row.source().begin,
                          row_of(path, std::string(id.str()), row, name == "tools"));
    }
  }
  std::ranges::sort(placed, {}, [](const auto& row) { return row.first.line; });
  for (auto& [where, row] : placed) rows.push_back(std::move(row));
  if (rows.empty()) throw std::invalid_argument(path.string() + ": has no rows");
  return rows;
}

RowsReport report_rows(const std::vector<Row>& rows, const Registry& registry) {
  const std::map<std::string, Family> families = families_of(registry);
  RowsReport report;
  auto out = std::back_inserter(report.table);
  std::size_t covered = 0;
  for (const Row& row : rows) {
    std::string by = row.command;
    for (const CoveredRow& claim : registry.rows()) {
      if (claim.row != row.id) continue;
      const auto found = families.find(claim.family);
      if (found == families.end()) continue;
      fmt::format_to(std::back_inserter(by), "{}{} ({} variants, {} cases)", by.empty() ? "" : ", ",
                     claim.family, found->second.variants.size(), found->second.cases);
    }
    const bool absent = by.empty() && !row.library.empty();
    fmt::format_to(out, "{:<4} {}: {}\n", row.id, row.title,
                   absent       ? "left out, for this build has no " + row.library
                   : by.empty() ? "NOT COVERED"
                                : by);
    if (by.empty() && !absent)
      report.problems.push_back(fmt::format("nothing covers row {}", row.id));
    covered += !by.empty();
  }
  for (const CoveredRow& claim : registry.rows()) {
    if (std::ranges::find(rows, claim.row, &Row::id) != rows.end()) continue;
    report.problems.push_back(fmt::format("{}:{}: there is no row {}", relative_to_root(claim.file),
                                          claim.line, claim.row));
  }
  std::size_t variants = 0;
  for (const auto& [name, family] : families) variants += family.variants.size();
  fmt::format_to(out, "{} of {} rows covered; {} families, {} variants, {} cases\n", covered,
                 rows.size(), families.size(), variants, registry.cases().size());
  return report;
}

}  // namespace warpgauge
