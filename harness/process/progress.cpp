// Shows how far long work has come, on stderr.
#include "harness/process/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace warpgauge::process {

TerminalLine::TerminalLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

void TerminalLine::show(const std::string& text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

void TerminalLine::clear() { show(""); }

Progress::Progress(std::string what, std::size_t count) : what_(std::move(what)), count_(count) {
  if (!line_.is_there()) say(fmt::format("{} to do", count_));
}

void Progress::done(const std::string& item) {
  ++done_;
  if (line_.is_there()) {
    line_.show(fmt::format("[{}/{}] {} {}", done_, count_, what_, item));
  } else if (done_ * 10 / count_ != (done_ - 1) * 10 / count_) {
    say(fmt::format("{}/{}", done_, count_));
  }
}

void Progress::say(const std::string& text) const {
  fmt::print(stderr, "[{}] {}: {}\n", program_invocation_short_name, what_, text);
}

}  // namespace warpgauge::process
