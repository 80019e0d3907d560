// Looks for programs in PATH, and for those of a toolkit in $CUDA_HOME/bin.
#include "harness/process/found_program.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace warpgauge::process {

namespace fs = std::filesystem;

fs::path found_program(const std::string& name) {
  const auto can_run = [](const fs::path& path) {
    return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return can_run(name) ? fs::absolute(name) : fs::path();
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / name;
    if (program.is_absolute() && can_run(program)) return program;
  }
  return {};
}

fs::path found_in_toolkit(const std::string& name) {
  const char* const toolkit = std::getenv("CUDA_HOME");
  const fs::path found = found_program(name);
  if (!found.empty() || toolkit == nullptr) return found;
  return found_program(fs::path(toolkit) / "bin" / name);
}

std::string file_argument(const fs::path& file) {
  return file.native().starts_with('-') ? "./" + file.string() : file.string();
}

}  // namespace warpgauge::process
