// Appends to files opened with O_APPEND, one write() a text.
#include "metrics/base/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace warpgauge::metrics {

bool append_at_once(const std::filesystem::path& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool whole =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int cause = errno;
  if (fd >= 0) close(fd);
  errno = cause;
  return whole;
}

}  // namespace warpgauge::metrics
