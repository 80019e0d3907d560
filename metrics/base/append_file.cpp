// Appends to files opened with O_APPEND, one write() a text.
#include "metrics/base/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace warpgauge::metrics {
namespace {

/// While it lives, writes of this thread beyond the limit of a file's size fail, without a signal.
class WithoutSignal {
 public:
  WithoutSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    sigemptyset(&beyond_);
    sigaddset(&beyond_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &beyond_, &mask_);
  }
  ~WithoutSignal() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&beyond_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  WithoutSignal(const WithoutSignal&) = delete;
  WithoutSignal& operator=(const WithoutSignal&) = delete;

 private:
  sigset_t beyond_{}, mask_{};
  bool was_pending_ = false;
};

}  // namespace

bool append_at_once(const std::filesystem::path& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  bool whole = false;
  int cause = errno;
  if (fd >= 0) {
    const WithoutSignal without_signal;
    whole = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    cause = errno;
    close(fd);
  }
  errno = cause;
  return whole;
}

}  // namespace warpgauge::metrics
