// Reads the results of all processes of an attached program from their folder.
#include "harness/attach/attached_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

#include "harness/attach/launch_count.h"
#include "harness/attach/wait_limit.h"
#include "harness/files/printable.h"
#include "metrics/base/demangled.h"

namespace warpgauge::attach {
namespace {

namespace fs = std::filesystem;

/// Adds a warning for launches since the result of a process was written.
void add_launches_at_the_end(AttachedProcess& process, std::uint64_t launches) {
  std::uint64_t taken = 0;
  for (const AttachedKernel& kernel : process.kernels) taken += kernel.launches;
  taken -= std::min(taken, process.waiting);
  if (kill(static_cast<pid_t>(process.pid), 0) == 0) {
    process.warnings.push_back(
        "what it launches now: it still runs, and the program did not wait for it");
  } else if (launches > taken) {
    process.warnings.push_back(
        fmt::format("{} launches, whose counts were not taken before it ended (by _exit, exec, an "
                    "error or a signal that cannot be caught)",
                    launches - taken));
  }
}

}  // namespace

std::vector<AttachedProcess> results_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == kLaunchesEnding) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<AttachedProcess> processes;
  for (const fs::path& file : files) {
    const fs::path result = fs::path(file).replace_extension(kProcessEnding);
    std::ifstream stream(result, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    processes.push_back(parse_attached(text, result.string()));
    add_launches_at_the_end(processes.back(), LaunchCount::of(file).value_or(0));
  }
  return processes;
}

std::vector<std::string> endless_kernels_in(const fs::path& folder) {
  std::vector<std::string> kernels;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != kEndlessEnding) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string name{std::istreambuf_iterator<char>(stream), {}};
    kernels.push_back(files::printable(metrics::demangled(name)));
  }
  std::ranges::sort(kernels);
  return kernels;
}

}  // namespace warpgauge::attach
