// The rows of the catalogue: what its families have to cover, written down in rows.toml beside
// their folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/registry.h"

namespace warpgauge {

/// A row: covered by families that name it, or by a command of the tool.
struct Row {
  std::string id, title;
  std::string command;  ///< of a tool; empty: families must cover it
  std::string library;  ///< that these families need: a build without it lacks them
};

/// Reads a file of the tables [kernels] (id = "title" or { title, library }) and [tools] (id = {
/// title, command }). Throws std::invalid_argument with file, line and column for anything else.
std::vector<Row> read_rows(const std::filesystem::path& path);

/// The table of `rows` with what covers each, and below it what is wrong: rows that nothing covers,
/// and rows that a family names and `rows` lacks.
struct RowsReport {
  std::string table;
  std::vector<std::string> problems;
};
RowsReport report_rows(const std::vector<Row>& rows, const Registry& registry);

}  // namespace warpgauge
