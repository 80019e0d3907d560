// Draws the picture of an access as SVG.
#include "harness/explain/access_picture_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/files/printable.h"
#include "harness/files/text_lines.h"
#include "metrics/base/utf8.h"

namespace warpgauge::explain {
namespace {

// Pixels.
constexpr int kCell = 27, kRow = 20, kLeft = 92, kMargin = 16, kLine = 17;
constexpr int kWidth = kLeft + 32 * kCell + kMargin;
constexpr std::size_t kLetters = 120;  ///< letters of running text in that width

// Okabe and Ito.
constexpr const char* kServed = "#56b4e9";    // sky blue
constexpr const char* kShared = "#009e73";    // bluish green
constexpr const char* kConflict = "#e69f00";  // orange

/// The length of the UTF-8 character that `text` begins with; 0 if XML does not allow it.
std::size_t character_length(std::string_view text) {
  const auto [value, bytes] = metrics::utf8_character(text);
  return value == 0xfffe || value == 0xffff ? 0 : bytes;
}

class Drawing {
 public:
  explicit Drawing(const AccessPicture& picture) : picture_(picture) {}

  std::string svg() {
    head();
    columns();
    for (std::size_t row = 0; row < picture_.rows.size(); ++row) draw_row(row);
    for (std::size_t row = 0; row < picture_.rows.size(); ++row) draw_lanes(row);
    y_ = top_ + static_cast<int>(picture_.rows.size()) * kRow;
    for (int edge = 0; picture_.sectors && edge <= 32; edge += 8) {
      line(kLeft + edge * kCell, top_ - 16, kLeft + edge * kCell, y_);
    }
    y_ += 10;
    legend();
    for (const std::string& cells : shared_cells(picture_)) paragraph(cells, "note");
    for (const std::string& note : picture_.notes) paragraph(note, "note");
    if (picture_.tile) draw_tile(*picture_.tile);
    return frame();
  }

 private:
  std::string frame() const {
    return fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">
<title>{2}</title>
<desc>{3}</desc>
<style>
text {{ font-family: "DejaVu Sans", Helvetica, Arial, sans-serif; font-size: 13px; fill: #000 }}
.id {{ font-size: 17px; font-weight: bold }}
.code, .cell {{ font-family: "DejaVu Sans Mono", Consolas, monospace }}
.code {{ font-size: 12px; white-space: pre }}
.caption {{ font-size: 14px; font-weight: bold }}
.note {{ font-size: 12px }}
.cell {{ font-size: 11px }}
.head, .cell {{ text-anchor: middle }}
.head {{ font-size: 11px }}
.label {{ font-size: 11px; text-anchor: end }}
rect {{ stroke: #999; stroke-width: 0.5 }}
.paper {{ fill: #fff; stroke: none }}
.idle {{ fill: #fff }}
.served {{ fill: {4} }}
.shared {{ fill: {5} }}
.conflict {{ fill: {6}; stroke: #000; stroke-width: 1.5 }}
line {{ stroke: #000; stroke-width: 1.5 }}
@media screen and (prefers-color-scheme: dark) {{
text {{ fill: #e8e8e8 }}
.cell {{ fill: #000 }}
.paper, .idle {{ fill: #14161a }}
.conflict, line {{ stroke: #e8e8e8 }}
}}
</style>
<rect class="paper" width="{0}" height="{1}"/>
{7}</svg>
)",
        kWidth, y_ + kMargin, xml_text(picture_.id), xml_text(picture_.caption), kServed, kShared,
        kConflict, body_);
  }

  void text(int x, int y, std::string_view style, std::string_view content) {
    body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", style, x, y,
                         xml_text(content));
  }

  void line(int x1, int y1, int x2, int y2) {
    body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", x1, y1, x2, y2);
  }

  /// Running text, in as many lines as it needs.
  void paragraph(std::string_view content, std::string_view style) {
    for (const std::string& line : files::wrapped(content, kLetters)) {
      y_ += kLine;
      text(kMargin, y_, style, line);
    }
  }

  void head() {
    const std::string where = picture_.file.empty()
                                  ? "(no line information)"
                                  : fmt::format("{}:{}", picture_.file, picture_.line);
    text(kMargin, 26, "id", fmt::format("{}, emulated as {}", picture_.id, picture_.arch));
    text(kMargin, 46, "code",
         files::shortened(fmt::format("{}: {}", where, picture_.source), kLetters));
    y_ = 64 - kLine;
    paragraph(picture_.what, "note");
    paragraph(picture_.caption, "caption");
    top_ = y_ + (picture_.sectors ? 42 : 28);
  }

  void columns() {
    if (picture_.sectors) {
      for (int sector = 0; sector < 4; ++sector) {
        text(kLeft + (8 * sector + 4) * kCell, top_ - 20, "head", fmt::format("sector {}", sector));
      }
    }
    text(kLeft - 8, top_ - 6, "label", picture_.column_name());
    for (int column = 0; column < static_cast<int>(AccessPicture::kColumns); ++column) {
      text(kLeft + column * kCell + kCell / 2, top_ - 6, "head", fmt::format("{}", column));
    }
  }

  int top_of(std::size_t row) const { return top_ + static_cast<int>(row) * kRow; }

  /// Draws all of a row but the cells with lanes, whose borders are drawn above it.
  void draw_row(std::size_t number) {
    const AccessPicture::Row& row = picture_.rows[number];
    const int y = top_of(number);
    if (!row.label.empty()) {
      text(kLeft - 8, y + 14, "label", fmt::format("{} {}", picture_.row_name(), row.label));
    }
    for (std::size_t column = 0; column < row.lanes.size(); ++column) {
      if (row.lanes[column] == 0 && picture_.is_moved(row, column)) cell(column, y, "idle");
    }
    if (number > 0 && row.group != picture_.rows[number - 1].group) {
      line(kMargin, y, kLeft + 32 * kCell, y);
    }
  }

  void draw_lanes(std::size_t number) {
    const AccessPicture::Row& row = picture_.rows[number];
    for (std::size_t column = 0; column < row.lanes.size(); ++column) {
      const std::uint32_t lanes = row.lanes[column];
      if (lanes == 0) continue;
      const int x = cell(column, top_of(number),
                         picture_.conflicts(number, column) ? "conflict"
                         : std::popcount(lanes) > 1         ? "shared"
                                                            : "served");
      constexpr std::size_t kFits = 4;
      std::string name = lanes_text(lanes);
      if (name.size() > kFits) name = fmt::format("{}+", std::countr_zero(lanes));
      text(x + kCell / 2, top_of(number) + 14, "cell", name);
    }
  }

  /// Returns its left edge.
  int cell(std::size_t column, int y, std::string_view style) {
    const int x = kLeft + static_cast<int>(column) * kCell;
    body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                         style, x, y, kCell, kRow);
    return x;
  }

  /// Below the columns of the banks that the chunks lie in.
  void draw_tile(const AccessPicture::Tile& tile) {
    constexpr int kBanks = AccessPicture::kColumns / AccessPicture::Tile::kChunks;
    paragraph(tile.title, "note");
    y_ += kLine + 10;
    text(kLeft - 8, y_ - 6, "label", "banks");
    for (int chunk = 0; chunk < static_cast<int>(AccessPicture::Tile::kChunks); ++chunk) {
      text(kLeft + (2 * chunk + 1) * kBanks * kCell / 2, y_ - 6, "head",
           fmt::format("{}-{}", chunk * kBanks, (chunk + 1) * kBanks - 1));
    }
    for (const auto& line : tile.lines) {
      int x = kLeft;
      for (const AccessPicture::Tile::Chunk& chunk : line) {
        if (!chunk.is_gap) draw_chunk(x, kBanks * kCell, chunk);
        x += kBanks * kCell;
      }
      y_ += kRow;
    }
  }

  void draw_chunk(int x, int width, const AccessPicture::Tile::Chunk& chunk) {
    constexpr std::size_t kFits = 8;
    const int lanes = std::popcount(chunk.lanes);
    body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                         lanes == 0   ? "idle"
                         : lanes == 1 ? "served"
                                      : "shared",
                         x, y_, width, kRow);
    std::string name = lanes == 0 ? "" : ": " + lanes_text(chunk.lanes);
    if (name.size() > kFits) name = fmt::format(": {}+", std::countr_zero(chunk.lanes));
    text(x + width / 2, y_ + 14, lanes == 0 ? "head" : "cell",
         fmt::format("{}.{}{}", chunk.row, chunk.number, name));
  }

  void swatch(int& x, std::string_view style, std::string_view meaning) {
    body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"14\" height=\"12\"/>\n",
                         style, x, y_ - 10, 14, 12);
    text(x + 20, y_, "note", meaning);
    x += 40 + 7 * static_cast<int>(meaning.size());
  }

  void legend() {
    y_ += kLine;
    int x = kMargin;
    swatch(x, "served", "one lane");
    swatch(x, "shared", "several lanes, one word");
    if (picture_.sectors) return swatch(x, "idle", "a word moved but not wanted");
    swatch(x, "conflict", "a bank that is wanted more than once");
  }

  const AccessPicture& picture_;
  std::string body_;
  int y_ = 0;
  int top_ = 0;  ///< where the cells begin
};

}  // namespace

std::string xml_text(std::string_view text) {
  const std::string safe = files::printable(text);
  std::string result;
  for (std::string_view rest = safe; !rest.empty();) {
    const std::size_t length = character_length(rest);
    const std::string_view character = rest.substr(0, std::max<std::size_t>(length, 1));
    rest.remove_prefix(character.size());
    if (length == 0) {
      result += "\xef\xbf\xbd";
    } else if (character == "&") {
      result += "&amp;";
    } else if (character == "<") {
      result += "&lt;";
    } else if (character == ">") {
      result += "&gt;";
    } else if (character == "\"") {
      result += "&quot;";
    } else if (character == "'") {
      result += "&apos;";
    } else {
      result += character;
    }
  }
  return result;
}

std::string picture_svg(const AccessPicture& picture) { return Drawing(picture).svg(); }

}  // namespace warpgauge::explain
