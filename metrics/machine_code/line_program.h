// Runs the line programs of cubins: DWARF's tables from machine code to lines, with what NVIDIA
// adds to them for inlined functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {

/// A line table is damaged, or its form is unknown. what() says where, and what to do.
class LineTableError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The rows of one section of line programs.
struct LineProgram {
  /// The line of the instructions from `pc` up to the `pc` of the next row.
  struct Row {
    std::uint64_t pc = 0;    ///< offset into the code of the kernel
    std::uint32_t file = 0;  ///< index into `files`
    std::uint32_t line = 0;
    std::uint32_t caller = kNone;  ///< index into `rows`: the call that was inlined
  };
  /// Consecutive rows of one kernel, by rising pc. The last of several rows with one pc counts.
  struct Sequence {
    std::string_view kernel;
    std::size_t first = 0, last = 0;  ///< rows[first] up to before rows[last]
    std::uint64_t end = 0;            ///< the pc behind the last instruction
  };
  static constexpr std::uint32_t kNone = ~0u;

  std::vector<std::string> files;  ///< paths without dots; files[0] stands for no file
  std::vector<Row> rows;           ///< a caller precedes the code inlined into it
  std::vector<Sequence> sequences;
};

/// `section` holds line programs (.debug_line or .nv_debug_line_sass), and `kernels` maps
/// the offsets in it that refer to code to their kernels (Cubin::kernels_at). Both must outlive the
/// result. Throws LineTableError.
LineProgram read_line_program(std::span<const std::byte> section,
                              const std::map<std::uint64_t, std::string_view>& kernels);

}  // namespace warpgauge::metrics
