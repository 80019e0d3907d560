// Ends this process if what it does takes too long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace warpgauge::process {

/// Unless it is destroyed within the limit, the process ends with kFault (outcome/exit_code.h), and
/// says on stderr that `what` took longer.
class Watchdog {
 public:
  Watchdog(std::chrono::seconds limit, std::string what);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(std::chrono::seconds limit, const std::string& what);

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;  ///< the last member: it uses the others
};

}  // namespace warpgauge::process
