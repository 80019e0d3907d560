// A thread that looks at the calls that wait.
#include "harness/attach/wait_limit.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <utility>

#include "harness/files/write_file.h"
#include "metrics/base/own_thread.h"

namespace warpgauge::attach {

using std::chrono::steady_clock;

WaitLimit::WaitLimit(std::chrono::seconds limit, std::filesystem::path folder)
    : limit_(limit), folder_(std::move(folder)) {
  sigset_t all, before;  // the program's signals must not reach the thread
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { watch(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void WaitLimit::launches(const char* kernel) {
  const std::lock_guard lock(mutex_);
  kernel_ = kernel;
}

void WaitLimit::begins() {
  const std::lock_guard lock(mutex_);
  Wait& wait = waits_[std::this_thread::get_id()];
  if (wait.calls++ == 0) wait.since = steady_clock::now();
}

void WaitLimit::ends() {
  const std::lock_guard lock(mutex_);
  const auto wait = waits_.find(std::this_thread::get_id());
  if (wait != waits_.end() && --wait->second.calls == 0) waits_.erase(wait);
}

void WaitLimit::watch() {
  metrics::begin_own_thread();
  constexpr std::chrono::milliseconds kPause(200);
  while (!is_exceeded()) std::this_thread::sleep_for(kPause);
  try {
    const std::lock_guard lock(mutex_);
    files::write_file(folder_ / (std::to_string(getpid()) + kEndlessEnding), kernel_);
  } catch (const std::exception&) {  // that it is killed is a fault as well
  }
  kill(getpid(), SIGKILL);
}

bool WaitLimit::is_exceeded() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      waits_, [&](const auto& wait) { return steady_clock::now() - wait.second.since > limit_; });
}

}  // namespace warpgauge::attach
