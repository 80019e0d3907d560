// Runs another program to its end, with the input of this one.
#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace warpgauge::process {

/// The signals of writes that fail, beyond a limit of files or to a pipe without a reader. Our
/// programs ignore them, since their writes say so, too; programs that they run get them.
inline constexpr int kFailedWrites[] = {SIGXFSZ, SIGPIPE};

/// How a program ended.
struct Ending {
  int status = 0;  ///< its exit code
  int signal = 0;  ///< the signal that ended it, or 0

  /// The exit code as shells have it: 128 + N for signal N.
  int exit_code() const { return signal == 0 ? status : 128 + signal; }
  /// "exited with 7", "was ended by SIGSEGV (Segmentation fault)".
  std::string str() const;
};

/// The files that a program writes to, instead of where this one's text goes; empty: it goes there.
/// Both may be one file.
struct OutputFiles {
  std::filesystem::path output, messages;  ///< standard output and standard error
};

/// Runs `command`, found as the shell finds it, with `changes` to the environment. It reacts
/// to the signals that a terminal sends to both (SIGINT, SIGQUIT) and gets SIGTERM and SIGHUP of
/// this process. Throws std::runtime_error if it cannot be started.
Ending run_to_its_end(std::vector<std::string> command,
                      const std::map<std::string, std::string>& changes,
                      const OutputFiles& outputs = {});

}  // namespace warpgauge::process
