// A thread that waits for what it watches, and ends the process when the time is over.
#include "harness/process/watchdog.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "harness/outcome/exit_code.h"
#include "harness/process/exit_guard.h"

namespace warpgauge::process {

Watchdog::Watchdog(std::chrono::seconds limit, std::string what)
    : thread_([this, limit, what = std::move(what)] { watch(limit, what); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

void Watchdog::watch(std::chrono::seconds limit, const std::string& what) {
  std::unique_lock lock(mutex_);
  if (over_.wait_for(lock, limit, [&] { return is_over_; })) return;
  const std::string text = fmt::format("{}: time limit of {} s exceeded\n", what, limit.count());
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  declare_exit_code(outcome::kFault);
  _exit(outcome::kFault);
}

}  // namespace warpgauge::process
