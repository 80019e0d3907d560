// Tells files from what cannot be read whole.
#include "metrics/base/why_unreadable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace warpgauge::metrics {
namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

}  // namespace

std::string why_unreadable(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return text_of(errno);
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
      return access(path.c_str(), R_OK) == 0 ? "" : text_of(errno);
    case S_IFDIR:
      return text_of(EISDIR);
    case S_IFIFO:
      return "it is a pipe; write it to a file first";
    case S_IFSOCK:
      return "it is a socket; write it to a file first";
    default:
      return "it is a device; write it to a file first";
  }
}

}  // namespace warpgauge::metrics
