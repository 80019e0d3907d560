#include "harness/provenance.h"

#include <cuda_runtime_api.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "harness/build_info.h"

extern char** environ;

namespace warpgauge {
namespace {

/// What `git ARGUMENTS` prints in the source tree, without its last newline; nullopt on failure.
std::optional<std::string> git(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"git", "-C", std::string(kBuildInfo.source_root)});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "git", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  std::string output;
  char buffer[4096];
  for (ssize_t n; failed == 0 && (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    output.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  while (output.ends_with('\n')) output.pop_back();
  return output;
}

}  // namespace

metrics::Run start_run() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::random_device random;
  metrics::Run run;
  run.id = fmt::format("{:%Y%m%dT%H%M%SZ}-{:08x}", now, random());
  run.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", now);
  run.toolkit = fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  run.flags = kBuildInfo.cuda_flags;
  run.commit = git({"rev-parse", "HEAD"}).value_or("");
  // What git does not vouch for is not clean.
  run.dirty = !git({"status", "--porcelain"}).value_or("unknown").empty();
  return run;
}

}  // namespace warpgauge
