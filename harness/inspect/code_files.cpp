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

class Files {
 public:
  /// Adds the files in a folder and below it, also behind links to folders.
  void add_folder(const fs::path& folder, const fs::path& thing) {
    if (!seen_.insert(fs::canonical(folder)).second) return;
    std::vector<fs::path> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      entries.push_back(entry.path());
    }
    std::ranges::sort(entries);
    for (const fs::path& path : entries) {
      std::error_code unreadable;  // a link that leads nowhere, or back to itself
      const fs::file_status status = fs::status(path, unreadable);
      const std::string name = in_one_word(path.lexically_relative(thing));
      if (fs::is_directory(status)) {
        add_folder(path, thing);
      } else if (fs::is_regular_file(status)) {
        add(path, name, true);
      } else {
        files.push_back({.path = path,
                         .name = name,
                         .shown = path.string(),
                         .in_folder = true,
                         .problem = fs::exists(status) ? "neither a file nor a folder"
                                                       : "a link that leads nowhere"});
      }
    }
  }

  void add(const fs::path& path, std::string name, bool in_folder) {
    if (!seen_.insert(fs::canonical(path)).second) return;
    if (!names_.insert(name).second) {
      name = in_one_word(fs::absolute(path).lexically_normal().relative_path());
    }
    files.push_back({.path = path,
                     .name = std::move(name),
                     .shown = path.string(),
                     .in_folder = in_folder,
                     .problem = ""});
  }

  std::vector<NamedFile> files;

 private:
  std::set<fs::path> seen_;
  std::set<std::string> names_;
};

}  // namespace

std::string in_one_word(const fs::path& path) {
  std::string name = path.generic_string();
  std::ranges::replace(name, '/', '_');
  return name;
}

std::vector<NamedFile> files_of(const std::vector<fs::path>& paths) {
  Files all;
  for (const fs::path& path : paths) {
    if (fs::is_directory(path)) {
      all.add_folder(path, path);
    } else if (fs::is_regular_file(path)) {
      all.add(path, path.filename().string(), false);
    } else {
      throw std::runtime_error(
          fmt::format("{}: {}; name a file with machine code, or a folder of them", path.string(),
                      fs::exists(path) ? metrics::why_unreadable(path) : "not there"));
    }
  }
  return std::move(all.files);
}

}  // namespace warpgauge::inspect
