// Draws the picture of an access in characters.
#include "harness/explain/access_picture_text.h"

#include <fmt/format.h>

#include <bit>

#include "harness/files/printable.h"
#include "harness/files/text_lines.h"

namespace warpgauge::explain {
namespace {

constexpr std::size_t kColumns = 100;
constexpr const char* kBold = "\033[1m";
constexpr const char* kConflictColour = "\033[33m";
constexpr const char* kPlain = "\033[0m";

/// Lines after the first are indented.
std::string paragraph(const std::string& text) {
  std::string result;
  for (const std::string& line : files::wrapped(files::printable(text), kColumns - 2)) {
    result += (result.empty() ? "" : "  ") + line + '\n';
  }
  return result;
}

std::string cell_text(const AccessPicture& picture, const AccessPicture::Row& row,
                      std::size_t column) {
  const std::uint32_t lanes = row.lanes[column];
  const char* const edge = picture.sectors && column % 8 == 0 ? "|" : " ";
  if (!picture.is_moved(row, column)) return std::string(edge) + "  ";
  if (lanes == 0) return std::string(edge) + " .";
  return fmt::format("{}{:02}", std::popcount(lanes) > 1 ? "+" : edge, std::countr_zero(lanes));
}

std::string row_text(const AccessPicture& picture, std::size_t number, bool colour) {
  const AccessPicture::Row& row = picture.rows[number];
  std::string text = fmt::format("{:>4}", row.label);
  for (std::size_t column = 0; column < row.lanes.size(); ++column) {
    const std::string cell = cell_text(picture, row, column);
    const bool marked = colour && picture.conflicts(number, column);
    text += marked ? kConflictColour + cell + kPlain : cell;
  }
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

/// A line of the tile, in cells of 11 columns.
std::string line_text(const AccessPicture::Tile::Line& line) {
  std::string text = "    ";
  for (const AccessPicture::Tile::Chunk& chunk : line) {
    const int lanes = std::popcount(chunk.lanes);
    const std::string reader =
        lanes == 0 ? " ." : fmt::format("{:02}", std::countr_zero(chunk.lanes));
    text += chunk.is_gap ? fmt::format("{:11}", "")
                         : fmt::format("{:>8}{}{}", fmt::format("{}.{}", chunk.row, chunk.number),
                                       lanes > 1 ? '+' : ' ', reader);
  }
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

std::string tile_text(const AccessPicture::Tile& tile) {
  std::string text = paragraph(tile.title) + "bank";
  for (std::size_t chunk = 0; chunk < AccessPicture::Tile::kChunks; ++chunk) {
    text += fmt::format("{:>11}", fmt::format("{}-{}", 4 * chunk, 4 * chunk + 3));
  }
  text += '\n';
  for (const auto& line : tile.lines) text += line_text(line) + '\n';
  return text;
}

}  // namespace

std::string picture_text(const AccessPicture& picture, bool colour) {
  std::string text;
  const auto where = picture.file.empty() ? "(no line information)"
                                          : fmt::format("{}:{}", picture.file, picture.line);
  const std::string title = fmt::format("{}, emulated as {}", files::printable(picture.id),
                                        files::printable(picture.arch));
  text += fmt::format(
      "{}{}{}\n{}\n", colour ? kBold : "", title, colour ? kPlain : "",
      files::shortened(files::printable(fmt::format("{}: {}", where, picture.source)), kColumns));
  text += paragraph(picture.what) + paragraph(picture.caption) + '\n';
  if (picture.sectors) {
    text += fmt::format("    |{:<23}|{:<23}|{:<23}|{}\n", "sector 0", "sector 1", "sector 2",
                        "sector 3");
  }
  text += fmt::format("{}", picture.column_name());
  for (std::size_t column = 0; column < AccessPicture::kColumns; ++column) {
    text += fmt::format(" {:02}", column);
  }
  text += '\n';
  for (std::size_t row = 0; row < picture.rows.size(); ++row) {
    if (row > 0 && picture.rows[row].group != picture.rows[row - 1].group) text += '\n';
    text += row_text(picture, row, colour) + '\n';
  }
  text += '\n' +
          (picture.sectors
               ? std::string("rows: 128-byte lines; cells: lanes; . a word moved but not wanted\n")
               : fmt::format("rows: {}; cells: lanes; . a bank without a lane\n",
                             picture.rows.front().label.empty() ? "words by bank" : "wavefronts"));
  const std::vector<std::string> shared = shared_cells(picture);
  if (!shared.empty()) text += "+ several lanes want the word:\n";
  for (const std::string& cells : shared) text += paragraph(cells);
  for (const std::string& note : picture.notes) text += paragraph(note);
  if (picture.tile) text += '\n' + tile_text(*picture.tile);
  return text;
}

}  // namespace warpgauge::explain
