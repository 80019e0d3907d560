// A line of source, and the chain of inlined calls that leads to it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {

/// A line of a chain of inlined calls. The innermost one has the code, the others have the calls.
struct CallSite {
  std::string file;
  int line = 0;

  auto operator<=>(const CallSite&) const = default;
};

/// The line that "f.cu:12" names; nothing for another text.
std::optional<CallSite> line_called(std::string_view text);

/// The line of source to blame for an instruction.
struct SourceLine {
  std::string file;
  int line = 0;
  /// The chain of calls that the instruction was inlined through, the innermost first. It contains
  /// this line. Empty where nothing was inlined.
  std::vector<CallSite> inlined = {};

  bool operator==(const SourceLine&) const = default;
};

/// A line of a chain, as a line table has it: line_to_blame() makes a CallSite of it.
struct Frame {
  std::string_view file;
  int line = 0;
  bool in_toolkit = false;  ///< is_toolkit_header(file), which is slow: ask it once for each file
};

/// The first line of a chain (the innermost first) that is not in a header of the toolkit; if all
/// are, the innermost. An empty chain gives no file and line 0.
SourceLine line_to_blame(std::span<const Frame> chain);

/// The common part of the chains of two instructions of one line, which can come through different
/// calls: the line itself and its neighbours inward and outward, up to the first difference.
std::vector<CallSite> common_chain(const SourceLine& a, const SourceLine& b);

/// True if the file belongs to the CUDA toolkit, the compiler or the system, not to a project. Code
/// inlined from such a file is blamed on the line that calls it. `path` is as the compiler wrote
/// it, with or without dots.
bool is_toolkit_header(std::string_view path);

}  // namespace warpgauge::metrics
