// A line of source, and the chain of inlined calls that leads to it.
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

/// The first line of a chain (innermost first) that is not in a header of the toolkit; the
/// innermost where all are. An empty chain gives no file and line 0.
SourceLine line_to_blame(std::span<const Frame> chain);

/// The part that the chains of two instructions of one line have in common: the line itself and its
/// neighbours inward and outward, up to the first difference. Instructions of a line may come
/// through different calls.
std::vector<CallSite> common_chain(const SourceLine& a, const SourceLine& b);

/// True if the file belongs to the CUDA toolkit, the compiler or the system, which are outside of
/// every project. Code inlined from such a file is blamed on the line that calls it. `path` is as
/// the compiler wrote it, with or without dots.
bool is_toolkit_header(std::string_view path);

}  // namespace warpgauge::metrics
