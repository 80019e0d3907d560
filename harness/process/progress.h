// Progress of long work on stderr: one line that is rewritten on a terminal, a line every tenth of
// the work elsewhere.
#pragma once

#include <cstddef>
#include <string>

namespace warpgauge::process {

/// A line on stderr that is rewritten, and is taken away at the end; nothing where that is no
/// terminal.
class TerminalLine {
 public:
  TerminalLine();
  ~TerminalLine() { clear(); }
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  void show(const std::string& text);
  void clear();
  bool is_there() const { return terminal_; }

 private:
  const bool terminal_;
};

class Progress {
 public:
  Progress(std::string what, std::size_t count);
  void done(const std::string& item);

 private:
  void say(const std::string& text) const;

  std::string what_;
  std::size_t count_, done_ = 0;
  TerminalLine line_;
};

}  // namespace warpgauge::process
