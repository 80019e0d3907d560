// Keeps what code of the user prints away from results on stdout.
#pragma once

namespace warpgauge::process {

/// While it is there, what this process writes to stdout goes to stderr.
class PrintsToStderr {
 public:
  PrintsToStderr();  ///< throws std::system_error
  ~PrintsToStderr();
  PrintsToStderr(const PrintsToStderr&) = delete;
  PrintsToStderr& operator=(const PrintsToStderr&) = delete;

 private:
  int stdout_;  // a copy of the descriptor
};

}  // namespace warpgauge::process
