// Reads the numbers, parents and states of processes from /proc/*/stat (proc(5)).
#include "harness/process/descendants.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "harness/files/printable.h"

namespace warpgauge::process {
namespace {

namespace fs = std::filesystem;

struct Listed {
  pid_t parent = 0;
  char state = ' ';
  unsigned threads = 0;
  Descendant process;

  /// The first thread may have ended, and others run.
  bool lives() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

/// The process of a folder of /proc; nullopt for other folders, and one that is gone.
std::optional<Listed> listed(const fs::path& folder) {
  constexpr int kThreads = 20, kStarted = 22, kEnvironment = 50;  // numbers of fields
  const std::string name = folder.filename();
  Listed out;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out.process.id);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  const std::string text = text_in_proc(folder / "stat").value_or("");
  const std::size_t behind_name = text.rfind(')');  // which may have blanks and parentheses
  if (behind_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(behind_name + 1));
  fields >> out.state >> out.parent;
  std::string field;
  for (int number = 5; number <= kEnvironment && fields >> field; ++number) {
    if (number == kThreads) out.threads = static_cast<unsigned>(std::stoul(field));
    if (number == kStarted) out.process.started = std::stoull(field);
    if (number == kEnvironment) out.process.environment = std::stoull(field);
  }
  return out;
}

}  // namespace

std::string Descendant::str() const {
  constexpr std::size_t kLongest = 100;
  std::string text = text_in_proc(folder() + "/cmdline").value_or("");
  while (text.ends_with('\0')) text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return files::printable(text) + " (process " + std::to_string(id) + ")";
}

std::vector<Descendant> descendants(const std::vector<pid_t>& others) {
  std::error_code error;
  std::map<pid_t, std::vector<Listed>> children;  // by parent
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    if (auto process = listed(entry.path())) children[process->parent].push_back(*process);
  }
  if (error || children.empty()) {
    throw std::runtime_error(
        "/proc cannot be read, and without it processes cannot be followed: mount it");
  }
  std::vector<Descendant> out;
  for (std::vector<pid_t> left = {getpid()}; !left.empty();) {
    const pid_t parent = left.back();
    left.pop_back();
    for (const Listed& child : children[parent]) {
      if (std::ranges::find(others, child.process.id) != others.end()) continue;
      left.push_back(child.process.id);
      if (child.lives()) out.push_back(child.process);
    }
  }
  return out;
}

std::optional<std::string> text_in_proc(const std::string& file) try {
  std::ifstream in(file, std::ios::binary);
  if (!in.is_open()) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(in), {}};
} catch (const std::ios_base::failure&) {  // the process has ended
  return std::nullopt;
}

void adopt_orphans() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) == 0) return;
  throw std::system_error(errno, std::generic_category(), "PR_SET_CHILD_SUBREAPER");
}

}  // namespace warpgauge::process
