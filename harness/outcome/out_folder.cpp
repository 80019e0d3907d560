// Makes and locks the folder for the results of a run, and removes old results.
#include "harness/outcome/out_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/files/printable.h"
#include "harness/files/write_file.h"
#include "metrics/counting/order_file.h"

namespace warpgauge::outcome {

namespace fs = std::filesystem;

namespace {
constexpr char kLock[] = ".lock";
}  // namespace

OutFolder::OutFolder(fs::path path, const fs::path& kept) : path_(std::move(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error || path_.empty()) {
    throw std::runtime_error(fmt::format("--out '{}': cannot create the folder: {}", path_.string(),
                                         path_.empty() ? "no name" : error.message()));
  }
  const fs::path lock = path_ / kLock;
  if (fs::exists(lock) && !fs::is_regular_file(lock)) {
    throw std::runtime_error(lock.string() + ": is not a file; remove it, or see --out");
  }
  lock_ = open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (lock_ < 0) throw std::runtime_error(path_.string() + ": cannot be written; see --out");
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    close(lock_);
    throw std::runtime_error(path_.string() +
                             ": another run is writing to it; wait, or choose another --out");
  }
  remove_parts(kept);
  for (const fs::path& file : written()) fs::remove(file);
}

std::vector<fs::path> OutFolder::written() const { return {results(), summary(), facts()}; }

/// Removes the files that a run that was killed was about to rename or remove, and orders.
void OutFolder::remove_parts(const fs::path& kept) const {
  std::vector<fs::path> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename();
    const auto half = [&](const fs::path& file) {
      return name.starts_with(file.filename().string().append(files::kHalfWritten));
    };
    std::error_code no_file;
    const bool is_order = name.starts_with(metrics::kOrderFiles) && name.ends_with(".json") &&
                          !fs::equivalent(entry.path(), kept, no_file);
    if (std::ranges::any_of(written(), half) || name.starts_with(kFolderOfOneRun) || is_order) {
      parts.push_back(entry.path());
    }
  }
  for (const fs::path& part : parts) fs::remove_all(part);
}

OutFolder::~OutFolder() { close(lock_); }

bool OutFolder::has(const fs::path& file) const {
  std::error_code missing;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!fs::equivalent(folder, path_, missing)) return false;
  const auto is_it = [&](const fs::path& own) { return own.filename() == file.filename(); };
  return file.filename() == kLock || std::ranges::any_of(written(), is_it);
}

std::string OutFolder::files_text() const {
  return fmt::format("facts: {}\nresults: {}\nsummary: {}\n", files::printable(facts().string()),
                     files::printable(results().string()), files::printable(summary().string()));
}

void OutFolder::write_summary(const std::string& text) const { files::write_file(summary(), text); }

}  // namespace warpgauge::outcome
