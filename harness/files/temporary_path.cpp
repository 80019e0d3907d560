// Makes a temporary file or folder, and removes it.
#include "harness/files/temporary_path.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace warpgauge::files {

namespace fs = std::filesystem;

TemporaryPath TemporaryPath::file() {
  std::string name = fs::temp_directory_path() / "warpgauge-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) throw std::system_error(errno, std::generic_category(), name);
  close(file);
  return TemporaryPath(name);
}

TemporaryPath TemporaryPath::folder_in(const fs::path& folder, const std::string& beginning) {
  std::string name = fs::absolute(folder / (beginning + "XXXXXX"));
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), name);
  }
  return TemporaryPath(name);
}

TemporaryPath::~TemporaryPath() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace warpgauge::files
