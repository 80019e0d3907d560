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

/// A line table that is damaged or of an unknown form. what() says where, and what to do.
class LineTableError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The rows of one section of line programs.
struct LineProgram {
  /// Holds for the instructions from `pc` up to the next row's.
  struct Row {
    std::uint64_t pc = 0;    ///< offset into the code of the kernel
    std::uint32_t file = 0;  ///< index into `files`
    std::uint32_t line = 0;
    std::uint32_t caller = kNone;  ///< index into `rows`: where the function of this row is inlined
  };
  /// Consecutive rows for one kernel, by rising pc; of several for one pc the last one counts.
  struct Sequence {
    std::string_view kernel;
    std::size_t first = 0, last = 0;  ///< rows[first] up to before rows[last]
    std::uint64_t end = 0;            ///< the pc behind the last instruction
  };
  static constexpr std::uint32_t kNone = ~0u;

  std::vector<std::string> files;  ///< paths without dots; files[0] is none
  std::vector<Row> rows;           ///< a caller precedes the code inlined into it
  std::vector<Sequence> sequences;
};

/// `section` holds line programs (.debug_line or .nv_debug_line_sass), and `kernels` maps
/// the offsets in it that refer to code to their kernels (Cubin::kernels_at). Both must outlive the
/// result. Throws LineTableError.
LineProgram read_line_program(std::span<const std::byte> section,
                              const std::map<std::uint64_t, std::string_view>& kernels);

}  // namespace warpgauge::metrics
