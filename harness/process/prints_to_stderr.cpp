// Redirects standard output to standard error for a while.
#include "harness/process/prints_to_stderr.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

namespace warpgauge::process {
namespace {

void flush() {
  std::cout.flush();
  std::fflush(stdout);
}

}  // namespace

PrintsToStderr::PrintsToStderr() {
  flush();
  stdout_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (stdout_ < 0) throw std::system_error(errno, std::generic_category(), "a copy of stdout");
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

PrintsToStderr::~PrintsToStderr() {
  flush();
  dup2(stdout_, STDOUT_FILENO);
  close(stdout_);
}

}  // namespace warpgauge::process
