// Which of the programs that a program starts have the library that keeps its environment
// (harness/environment/), and so are counted.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/process/descendants.h"

namespace warpgauge::programs {

/// What is seen in /proc while they run, and which of those that the library has noted it cannot be
/// loaded into.
class ProgramWatch {
 public:
  /// `variables` are to be in the environment of all programs; in LD_PRELOAD are the libraries that
  /// are to be in them, too. `folder` is for what the library notes.
  ProgramWatch(const std::filesystem::path& folder, std::map<std::string, std::string> variables);

  /// Those variables, with the ones for the library.
  const std::map<std::string, std::string>& variables() const { return variables_; }

  /// Looks at the processes that live.
  void look(const std::vector<process::Descendant>& processes);

  /// When all have ended: a sentence for each program without the library that can use CUDA, or
  /// that could not be looked at.
  std::vector<std::string> uncounted() const;

 private:
  void look(const process::Descendant& process);

  const std::filesystem::path notes_;
  std::map<std::string, std::string> variables_;
  std::vector<std::string> libraries_;      ///< all of those, as the maps of a process name them
  std::set<process::Descendant> done_;      ///< those that have the library, or are named
  std::map<std::string, std::string> why_;  ///< by program: the sentence
};

}  // namespace warpgauge::programs
