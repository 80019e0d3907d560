// Asks git and the build for the provenance of a run.
#include "harness/measuring/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/build_info.h"
#include "harness/files/source_root.h"
#include "harness/process/output_of.h"

namespace warpgauge {
namespace {

/// The output of `git ARGUMENTS` in a folder; nullopt on failure.
std::optional<std::string> git(const std::string& folder, std::vector<std::string> arguments) {
  // No program that the configuration of a foreign folder names.
  arguments.insert(arguments.begin(), {"git", "-C", folder, "-c", "core.fsmonitor=false"});
  return process::output_of(std::move(arguments));
}

/// True if HEAD, which is this commit, has all sources that the program was built from.
bool is_built_from_head(std::string_view commit) {
  if (kBuildInfo.built_from.empty()) return false;
  if (kBuildInfo.built_from == commit) return true;
  std::vector<std::string> words = {"diff", "--quiet", "--no-ext-diff"};
  words.insert(words.end(), {std::string(kBuildInfo.built_from), "HEAD", "--"});
  words.insert(words.end(), kBuildInfo.sources.begin(), kBuildInfo.sources.end());
  return git(std::string(kBuildInfo.source_root), std::move(words)).has_value();
}

/// A run that starts now.
metrics::Run start_run_now(std::string command, metrics::RunRequest asked) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::random_device random;
  metrics::Run run;
  run.id = fmt::format("{:%Y%m%dT%H%M%SZ}-{:08x}", now, random());
  run.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", now);
  run.source_root = files::checkout_around(std::filesystem::current_path());
  run.command = std::move(command);
  run.asked = std::move(asked);
  return run;
}

}  // namespace

metrics::Run start_run(std::string command, metrics::RunRequest asked) {
  metrics::Run run =
      start_run_of_other(std::string(kBuildInfo.source_root), std::move(command), std::move(asked));
  run.dirty = run.dirty || !is_built_from_head(run.commit);
  run.source_root = kBuildInfo.source_root;
  run.budgets = files::relative_to_root(std::string(kBuildInfo.budgets_folder));
  run.version = kBuildInfo.version;
  run.toolkit = kBuildInfo.toolkit;
  run.flags = kBuildInfo.cuda_flags;
  return run;
}

metrics::Run start_run_of_other(const std::string& folder, std::string command,
                                metrics::RunRequest asked) {
  metrics::Run run = start_run_now(std::move(command), std::move(asked));
  run.commit = git(folder, {"rev-parse", "HEAD"}).value_or("");
  run.branch = git(folder, {"rev-parse", "--abbrev-ref", "HEAD"}).value_or("");
  if (run.branch == "HEAD") run.branch.clear();  // a detached head
  // Where git fails, the sources do not count as clean.
  run.dirty = !git(folder, {"status", "--porcelain"}).value_or("unknown").empty();
  return run;
}

metrics::Run start_run_of_compiled(std::string command, metrics::RunRequest asked,
                                   const Compilation& compilation) {
  metrics::Run run = start_run_now(std::move(command), std::move(asked));
  run.toolkit = compilation.toolkit;
  run.flags = compilation.flags;
  return run;
}

std::vector<std::string> unless_empty(const std::string& word) {
  return word.empty() ? std::vector<std::string>() : std::vector{word};
}

}  // namespace warpgauge
