// Counts the threads of a program of others.
#include "metrics/base/own_thread.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace warpgauge::metrics {

int threads_of_program() {
  int threads = 0;
  std::error_code ended;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ended)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    threads += !name.empty() && name != kOwnThread ? 1 : 0;
  }
  return threads;
}

}  // namespace warpgauge::metrics
