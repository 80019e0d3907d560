// A line of source, and whose it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {

/// One line of a chain of inlined calls: the innermost holds the code, each other one a call.
struct CallSite {
  std::string file;
  int line = 0;

  auto operator<=>(const CallSite&) const = default;
};

/// The line of source to blame for an instruction.
struct SourceLine {
  std::string file;
  int line = 0;
  /// The chain that the instruction was inlined through, innermost first, with this line in it.
  /// Empty where nothing was inlined.
  std::vector<CallSite> inlined = {};

  bool operator==(const SourceLine&) const = default;
};

/// One line of a chain, as a line table has it.
struct Frame {
  std::string_view file;
  int line = 0;
  bool in_toolkit = false;  ///< is_toolkit_header(file), which is slow
};

/// Of a chain, innermost first, the first line that is not in a header of the toolkit; the
/// innermost where all are. No file and line 0 for an empty chain.
SourceLine line_to_blame(std::span<const Frame> chain);

/// The part of two chains of one line that is the same in both: its neighbours inward and outward,
/// up to the first difference. Instructions of a line may come through different calls.
std::vector<CallSite> common_chain(const SourceLine& a, const SourceLine& b);

/// True if the file belongs to the CUDA toolkit, the compiler or the system, which are outside
/// of every project: what is inlined from it is blamed on the line that calls it. `path` is as the
/// compiler wrote it, with or without dots.
bool is_toolkit_header(std::string_view path);

}  // namespace warpgauge::metrics
