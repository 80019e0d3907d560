#include "harness/process/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace warpgauge::process {

Progress::Progress(std::string what, std::size_t count)
    : what_(std::move(what)), count_(count), terminal_(isatty(STDERR_FILENO) == 1) {
  if (!terminal_) say(fmt::format("{} to do", count_));
}

Progress::~Progress() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
}

void Progress::done(const std::string& item) {
  ++done_;
  if (terminal_) {
    fmt::print(stderr, "\r\033[K[{}/{}] {} {}", done_, count_, what_, item);
    std::fflush(stderr);
  } else if (done_ * 10 / count_ != (done_ - 1) * 10 / count_) {
    say(fmt::format("{}/{}", done_, count_));
  }
}

void Progress::say(const std::string& text) const {
  fmt::print(stderr, "[{}] {}: {}\n", program_invocation_short_name, what_, text);
}

}  // namespace warpgauge::process
