// Ends a program that waits for the GPU without end.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace warpgauge::attach {

/// The environment variable with the limit, in seconds.
inline constexpr const char* kWaitLimit = "WARPGAUGE_ATTACH_WAIT_LIMIT";

/// The ending of a process's file with the kernel that did not end.
inline constexpr const char* kEndlessEnding = ".endless";

/// The calls of this process that wait for the GPU. When one takes longer than the limit, the
/// kernel that was launched last is written to a file in `folder`, and the process is killed: no
/// call can end a kernel.
class WaitLimit {
 public:
  /// Starts the thread that watches. Throws std::system_error.
  WaitLimit(std::chrono::seconds limit, std::filesystem::path folder);

  void launches(const char* kernel);
  void begins();  ///< this thread waits, or one of its calls begins that may
  void ends();

 private:
  struct Wait {
    int calls = 0;  ///< of which the outermost one counts
    std::chrono::steady_clock::time_point since;
  };
  void watch();
  bool is_exceeded();

  const std::chrono::seconds limit_;
  const std::filesystem::path folder_;
  std::mutex mutex_;  ///< protects the members below
  std::map<std::thread::id, Wait> waits_;
  std::string kernel_;  ///< launched last
};

}  // namespace warpgauge::attach
