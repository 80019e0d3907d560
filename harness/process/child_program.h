// Runs another program to its end, with the input of this one.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/process/descendants.h"

namespace warpgauge::process {

/// The signals of writes that fail, beyond a limit of files or to a pipe without a reader. Our
/// programs ignore them, since their writes say so, too; programs that they run get them.
inline constexpr int kFailedWrites[] = {SIGXFSZ, SIGPIPE};

/// How a program ended.
struct Ending {
  int status = 0;          ///< its exit code
  int signal = 0;          ///< the signal that ended it, or 0
  std::string limit = {};  ///< the limit for which it was ended: "took longer than 5 s"; or empty
  /// Processes that it left behind, which were ended when the patience with them was over.
  std::vector<std::string> left = {};

  /// The exit code as shells have it: 128 + N for signal N.
  int exit_code() const { return signal == 0 ? status : 128 + signal; }
  /// "exited with 7", "was ended by SIGSEGV (Segmentation fault)", or the limit.
  std::string str() const;
};

/// The files that a program writes to, instead of where this one's text goes; empty: it goes there.
/// Both may be one file.
struct OutputFiles {
  std::filesystem::path output, messages;  ///< standard output and standard error
};

/// The way in which a program is watched with all processes that it starts.
struct Supervision {
  std::chrono::seconds time_limit{0};    ///< after which they are ended; 0: none
  std::uintmax_t most_output_bytes = 0;  ///< in a file of its output; more ends them; 0: any
  std::filesystem::path made = {};       ///< a file that it writes by itself, as of its output
  std::chrono::seconds patience{0};      ///< with those that the program leaves behind
  /// Gets the processes that live, many times a second.
  std::function<void(const std::vector<Descendant>&)> look = [](const auto&) {};
};

/// Runs `command`, found as the shell finds it, with `changes` to the environment. It reacts
/// to the signals that a terminal sends to both (SIGINT, SIGQUIT) and gets SIGTERM and SIGHUP of
/// this process. Throws std::runtime_error if it cannot be started.
Ending run_to_its_end(std::vector<std::string> command,
                      const std::map<std::string, std::string>& changes,
                      const OutputFiles& outputs = {});

/// The same with all processes that it starts: returns when the last one has ended, or was ended.
/// This process becomes the parent of those whose parent has ended.
Ending run_supervised(std::vector<std::string> command,
                      const std::map<std::string, std::string>& changes, const OutputFiles& outputs,
                      const Supervision& supervision);

}  // namespace warpgauge::process
