// Lays out the lanes of an access in rows of banks or sectors, with captions and notes.
#include "harness/explain/access_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "harness/explain/access_caption.h"
#include "metrics/counting/lanes_by_wavefront.h"
#include "metrics/counting/line_access.h"
#include "metrics/counting/swizzle_name.h"

namespace warpgauge::explain {
namespace {

using metrics::WarpAccess;
using Row = AccessPicture::Row;

constexpr std::uint32_t kWordsOfSector = 8;

std::vector<Row> rows_of(const metrics::Wavefronts& wavefronts) {
  std::vector<Row> rows;
  for (const metrics::Wavefront& wavefront : wavefronts.list) {
    rows.push_back({wavefronts.lanes_known ? fmt::format("{}", rows.size() + 1) : "",
                    wavefront.group, wavefront.lanes});
  }
  return rows;
}

/// The 128 bytes each that are touched, in the order of their addresses.
std::vector<Row> lines_of(const WarpAccess& access) {
  std::map<std::uint64_t, Row> lines;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint64_t first = access.addresses[lane] / 4;
    const auto words = static_cast<std::uint64_t>(std::max(1, access.width / 4));
    for (std::uint64_t word = first; word < first + words; ++word) {
      lines[word / AccessPicture::kColumns].lanes[word % AccessPicture::kColumns] |= 1u << lane;
    }
  }
  std::vector<Row> rows;
  for (auto& [address, row] : lines) {
    row.label = fmt::format("{}", rows.size() + 1);
    row.group = access.mask;
    rows.push_back(row);
  }
  return rows;
}

AccessPicture::Tile tile_of(const WarpAccess& access, const metrics::CopiedTile& copied) {
  using Tile = AccessPicture::Tile;
  constexpr std::uint32_t kChunkBytes = metrics::kSwizzleLine / Tile::kChunks;
  std::map<std::uint32_t, Tile::Line> lines;  // by number
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const auto at = static_cast<std::uint32_t>(access.addresses[lane]);
    lines[at / metrics::kSwizzleLine].at(at / kChunkBytes % Tile::kChunks).lanes |= 1u << lane;
  }
  Tile tile;
  tile.title = fmt::format(
      "The tile as a tensor copy wrote it: {} rows of {} bytes, {}. Cells are row.chunk of 16 "
      "bytes, and the lanes that read it.",
      copied.rows, copied.row_bytes, metrics::name_of(copied.swizzle));
  for (auto& [number, line] : lines) {
    for (std::uint32_t n = 0; n < Tile::kChunks; ++n) {
      const std::uint32_t at = number * metrics::kSwizzleLine + n * kChunkBytes;
      const bool is_inside = copied.has(at);
      const auto place = is_inside ? copied.place_of(at) : metrics::CopiedTile::Place{};
      line[n].row = place.row;
      line[n].number = place.column / kChunkBytes;
      line[n].is_gap = !is_inside || place.column >= copied.row_bytes;
    }
    tile.lines.push_back(line);
  }
  return tile;
}

/// "wavefronts 1-16: lanes 0-15; ..." of accesses that are served in several groups.
std::string groups_text(const AccessPicture& picture) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < picture.rows.size(); begin = end) {
    const std::uint32_t group = picture.rows[begin].group;
    while (end < picture.rows.size() && picture.rows[end].group == group) ++end;
    if (begin == 0 && end == picture.rows.size()) return "";
    const bool single = end == begin + 1;
    text += fmt::format("{}wavefront{} {}{}: lanes {}", text.empty() ? "" : "; ", single ? "" : "s",
                        begin + 1, single ? "" : fmt::format("-{}", end), lanes_text(group));
  }
  return text;
}

}  // namespace

bool AccessPicture::is_moved(const Row& row, std::size_t column) const {
  if (!sectors) return true;
  const auto first =
      row.lanes.begin() + static_cast<std::ptrdiff_t>(column / kWordsOfSector * kWordsOfSector);
  return std::any_of(first, first + kWordsOfSector, [](auto lanes) { return lanes != 0; });
}

bool AccessPicture::conflicts(std::size_t row, std::size_t column) const {
  if (sectors || rows[row].lanes[column] == 0) return false;
  return std::ranges::count_if(rows, [&](const Row& other) {
           return other.group == rows[row].group && other.lanes[column] != 0;
         }) > 1;
}

AccessPicture picture_of(const metrics::LineAccess& line, std::string id, std::string arch,
                         std::string source) {
  const WarpAccess& access = line.access;
  AccessPicture picture{.id = std::move(id),
                        .arch = std::move(arch),
                        .file = line.file,
                        .line = line.line,
                        .source = std::move(source),
                        .what = what_text(access),
                        .sectors = !access.is_shared()};
  metrics::Wavefronts wavefronts;
  if (picture.sectors) {
    picture.rows = lines_of(access);
  } else {
    wavefronts = metrics::wavefronts_of(access);
    picture.rows = rows_of(wavefronts);
  }
  if (access.tile) picture.tile = tile_of(access, *access.tile);
  picture.caption = caption_of(picture, access);
  const auto note = [&](std::string text) { picture.notes.push_back(std::move(text)); };
  if (wavefronts.executions > 1) {
    note(fmt::format("Each of these wavefronts is counted {} times: compare, and swap.",
                     wavefronts.executions));
  }
  if (!wavefronts.lanes_known) {
    note(
        "The counting rule of this instruction says how many wavefronts there are, not which "
        "lanes share one: the rows only stack the words that lanes want of each bank.");
  } else if (const std::string groups = groups_text(picture); !groups.empty()) {
    note(fmt::format("Of {} bytes a lane only a part of the warp is served at a time ({}).",
                     access.width, groups));
  }
  if (!line.cure.empty()) {
    note(line.cure);
  } else if (const auto distance = metrics::lane_distance(access)) {
    note(*distance == 0 ? std::string("Neighbouring lanes have the same address.")
                        : fmt::format("Neighbouring lanes are {} byte{} apart.", *distance,
                                      *distance == 1 ? "" : "s"));
  }
  if (line.trust.confidence != metrics::Confidence::exact) {
    note(fmt::format("Not exact ({}): {}.", metrics::to_string(line.trust.confidence),
                     line.trust.reason));
  }
  return picture;
}

std::string lanes_text(std::uint32_t lanes) {
  std::vector<int> numbers;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    numbers.push_back(std::countr_zero(rest));
  }
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    const int step = begin + 1 < numbers.size() ? numbers[begin + 1] - numbers[begin] : 0;
    end = begin + 1;
    while (end < numbers.size() && numbers[end] - numbers[end - 1] == step) ++end;
    const std::size_t least = step == 1 ? 3 : 4;  // shorter runs are listed
    if (end - begin < least) end = begin + 1;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}", numbers[begin]);
    if (end == begin + 1) continue;
    text += step == 1 ? fmt::format("-{}", numbers[end - 1])
                      : fmt::format(", {} .. {}", numbers[begin + 1], numbers[end - 1]);
  }
  return text;
}

namespace {

std::string shared_cells(const AccessPicture& picture, const Row& row) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < row.lanes.size(); begin = end) {
    const std::uint32_t lanes = row.lanes[begin];
    end = begin + 1;
    if (std::popcount(lanes) < 2) continue;
    while (end < row.lanes.size() && row.lanes[end] == lanes) ++end;
    const bool single = end == begin + 1;
    text += fmt::format("{}{}{} {}{} lanes {}", text.empty() ? "" : "; ", picture.column_name(),
                        single ? "" : "s", begin, single ? "" : fmt::format("-{}", end - 1),
                        lanes_text(lanes));
  }
  return text;
}

}  // namespace

std::vector<std::string> shared_cells(const AccessPicture& picture) {
  std::vector<std::string> texts;
  for (const Row& row : picture.rows) {
    const std::string text = shared_cells(picture, row);
    if (text.empty()) continue;
    const std::string name =
        row.label.empty() ? "" : fmt::format("{} {}: ", picture.row_name(), row.label);
    texts.push_back(name + text);
  }
  return texts;
}

}  // namespace warpgauge::explain
