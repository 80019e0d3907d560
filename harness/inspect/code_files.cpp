// Lists the files to inspect, and gives each a name of its own.
#include "harness/inspect/code_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "metrics/base/why_unreadable.h"

namespace warpgauge::inspect {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    std::error_code unreadable;  // a link that leads nowhere
    if (entry.is_regular_file(unreadable)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string in_one_word(const fs::path& path) {
  std::string name = path.generic_string();
  std::ranges::replace(name, '/', '_');
  return name;
}

class Files {
 public:
  void add(const fs::path& path, std::string name, bool in_folder) {
    if (!seen_.insert(fs::canonical(path)).second) return;
    if (!names_.insert(name).second) {
      name = in_one_word(fs::absolute(path).lexically_normal().relative_path());
    }
    files.push_back(
        {.path = path, .name = std::move(name), .shown = path.string(), .in_folder = in_folder});
  }

  std::vector<NamedFile> files;

 private:
  std::set<fs::path> seen_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<NamedFile> files_of(const std::vector<fs::path>& things) {
  Files all;
  for (const fs::path& thing : things) {
    if (fs::is_directory(thing)) {
      for (const fs::path& file : files_in(thing)) {
        all.add(file, in_one_word(file.lexically_relative(thing)), true);
      }
    } else if (fs::is_regular_file(thing)) {
      all.add(thing, thing.filename().string(), false);
    } else {
      throw std::runtime_error(
          fmt::format("{}: {}; name a file with machine code, or a folder of them", thing.string(),
                      fs::exists(thing) ? metrics::why_unreadable(thing) : "not there"));
    }
  }
  return std::move(all.files);
}

}  // namespace warpgauge::inspect
