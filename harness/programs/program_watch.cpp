// Reads from /proc which libraries a process has: its maps, and the environment and the file of its
// program.
#include "harness/programs/program_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <ranges>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "harness/build_info.h"
#include "harness/environment/kept_variables.h"
#include "harness/files/printable.h"
#include "harness/programs/linkage.h"

namespace warpgauge::programs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPreload = "LD_PRELOAD";

fs::path library_of_this_build() {
  if (!fs::exists(kBuildInfo.environment)) {
    throw std::runtime_error(std::string(kBuildInfo.environment) +
                             ": not there; build the target warpgauge_environment");
  }
  return fs::canonical(kBuildInfo.environment);
}

/// Whether the loader puts preloaded libraries into the program of this file.
bool can_be_preloaded(const fs::path& file, const Linkage& linkage) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return false;
  return linkage.loads_libraries && (status.st_mode & (S_ISUID | S_ISGID)) == 0;
}

/// The library of CUDA that the maps of a process have beside `own` ones.
std::string cuda_in(const std::string& maps, const std::vector<std::string>& own) {
  static const std::regex kCuda(R"(/libcuda(rt)?(\.so|-)[^/]*$)");
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const std::string path = line.substr(std::min(line.find('/'), line.size()));
    if (std::ranges::find(own, path) != own.end()) continue;
    if (std::regex_search(path, kCuda)) return path;
  }
  return "";
}

}  // namespace

ProgramWatch::ProgramWatch(const fs::path& folder, std::map<std::string, std::string> variables)
    : notes_(folder / "started_programs"), variables_(std::move(variables)) {
  std::string preloads = library_of_this_build().string();
  if (const auto others = variables_.extract(kPreload)) preloads += ":" + others.mapped();
  std::istringstream words(preloads);
  for (std::string library; std::getline(words, library, ':');) {
    libraries_.push_back(fs::canonical(library).string());
  }
  const std::string names = fmt::format("{}", fmt::join(std::views::keys(variables_), " "));
  variables_[environment::kKeptVariables] = names;
  variables_[environment::kKeptLibraries] = preloads;
  variables_[environment::kStartedPrograms] = notes_.string();
  const char* const before = std::getenv(kPreload);
  const bool is_set = before != nullptr && *before != '\0';
  variables_[kPreload] = preloads + (is_set ? fmt::format(":{}", before) : "");
}

void ProgramWatch::look(const std::vector<process::Descendant>& processes) {
  for (const process::Descendant& process : processes) {
    if (!done_.contains(process)) look(process);
  }
}

void ProgramWatch::look(const process::Descendant& process) {
  const fs::path folder = process.folder(), program = folder / "exe";
  const std::optional<std::string> maps = process::text_in_proc(folder / "maps");
  const auto has = [&](const std::string& library) {
    return maps->find(library) != std::string::npos;
  };
  if (maps && std::ranges::all_of(libraries_, has)) {
    done_.insert(process);
    return;
  }
  std::error_code gone;
  const std::string name = fs::read_symlink(program, gone).string();
  if (gone == std::errc::no_such_file_or_directory || gone == std::errc::no_such_process) return;
  const bool is_begun = !process::text_in_proc(folder / "cmdline").value_or("").empty();
  if (!gone && maps && !is_begun) return;  // in the middle of exec(): it has no environment yet
  std::string why;
  if (gone || !maps) {
    why = "belongs to another user, so that it cannot be looked at";
  } else if (const std::string library = cuda_in(*maps, libraries_); !library.empty()) {
    why = "has loaded " + files::printable(library);
  } else {
    const Linkage linkage = linkage_of(program.string());
    const std::string variables = process::text_in_proc(folder / "environ").value_or("");
    const bool will_be_loaded =
        variables.find(variables_.at(environment::kKeptLibraries)) != std::string::npos &&
        can_be_preloaded(program, linkage);
    if (!has_cuda(linkage) || will_be_loaded) return;
    why = "is linked with CUDA";
  }
  done_.insert(process);
  why_.try_emplace(
      name.empty() ? process.str() : name,
      fmt::format("{} ran without the library that counts, and {}", process.str(), why));
}

std::vector<std::string> ProgramWatch::uncounted() const {
  std::map<std::string, std::string> all = why_;
  std::ifstream notes(notes_);
  std::set<std::string> seen;
  for (std::string program; std::getline(notes, program);) {
    if (!seen.insert(program).second) continue;
    const Linkage linkage = linkage_of(program);
    if (!has_cuda(linkage) || can_be_preloaded(program, linkage)) continue;
    std::error_code gone;
    const fs::path resolved = fs::canonical(program, gone);  // as /proc names it
    all[gone ? program : resolved.string()] = fmt::format(
        "{} is linked with CUDA, and no library can be preloaded into it, for it is "
        "static or has another user's rights",
        files::printable(program));
  }
  std::vector<std::string> out;
  for (const std::string& sentence : std::views::values(all)) {
    out.push_back(sentence +
                  ": its kernels are not counted; let it inherit the environment, or "
                  "run it by itself");
  }
  return out;
}

}  // namespace warpgauge::programs
