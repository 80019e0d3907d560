// The content of a picture of one access of a warp: lanes against the banks of shared memory, or
// against the sectors of global memory. access_picture_text.h and access_picture_svg.h draw it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {
struct LineAccess;
}

namespace warpgauge::explain {

struct AccessPicture {
  static constexpr std::size_t kColumns = 32;

  /// Shared memory: a wavefront; by bank the lanes that it serves. Global memory: 128 bytes that
  /// are touched; by word the lanes that want it.
  struct Row {
    std::string label;        ///< empty where rows have no number
    std::uint32_t group = 0;  ///< the lanes of a group; a line is drawn between groups
    std::array<std::uint32_t, kColumns> lanes{};
  };

  /// A tile that a tensor copy wrote: its lines of 128 bytes, all banks once, that lanes read.
  struct Tile {
    static constexpr std::size_t kChunks = 8;  ///< in a line, of 16 bytes, 4 banks each
    struct Chunk {
      std::uint32_t row = 0, number = 0;  ///< where the chunk is in the box, whatever the swizzle
      std::uint32_t lanes = 0;            ///< the lanes that read it
      bool is_gap = false;                ///< behind a row that is shorter than the swizzle's span
    };
    using Line = std::array<Chunk, kChunks>;
    std::string title;
    std::vector<Line> lines;
  };

  std::string id, arch;  ///< the case, and what it was run as
  std::string file;      ///< empty where the code has no line information
  int line = 0;
  std::string source;   ///< the line's text
  std::string what;     ///< "shared load of 4 bytes a lane; lanes 0-31 of warp 0, block (0, 0, 0)"
  std::string caption;  ///< "32 lanes want 32 words of bank 0: 32 wavefronts; ideal 1"
  std::vector<std::string> notes;  ///< further sentences
  bool sectors = false;            ///< global memory: 8 words each are a sector
  std::vector<Row> rows;
  std::optional<Tile> tile;  ///< the tile that the lanes read

  std::string_view row_name() const { return sectors ? "line" : "wavefront"; }
  std::string_view column_name() const { return sectors ? "word" : "bank"; }
  /// False for the words of a sector that no lane wants.
  bool is_moved(const Row& row, std::size_t column) const;
  /// True if the cell's bank makes wavefronts beyond the first of its group.
  bool conflicts(std::size_t row, std::size_t column) const;
};

/// `id`, `arch` and `source` are only shown.
AccessPicture picture_of(const metrics::LineAccess& line, std::string id, std::string arch,
                         std::string source);

/// "0-15, 20, 24 .. 31": runs of neighbours, and of equal steps.
std::string lanes_text(std::uint32_t lanes);

/// The lanes of the cells that more than one lane wants: "wavefront 1: bank 0 lanes 0-31", a text
/// for each row that has any.
std::vector<std::string> shared_cells(const AccessPicture& picture);

}  // namespace warpgauge::explain
