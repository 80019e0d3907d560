// The thread in which work goes on while the program does.
#include "harness/emulator/runtime/background.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "harness/emulator/process_id.h"
#include "metrics/base/own_thread.h"

namespace warpgauge::emulator::runtime {
namespace {

thread_local bool is_background = false;

}  // namespace

void Background::add(cudaStream_t stream, std::function<void()> item) {
  const bool is_idle = !is_busy();
  if (is_idle) items_.clear();  // those of the process that this one was forked from
  items_.push_back({stream, std::move(item)});
  if (!is_idle) return;
  process_ = process_id();
  std::thread([this] { work(); }).detach();
}

bool Background::is_busy() const { return !items_.empty() && process_ == process_id(); }

bool Background::is_busy(cudaStream_t stream,
                         const std::function<bool(cudaStream_t)>& waits_for) const {
  return is_busy() && std::ranges::any_of(items_, [&](const Item& item) {
           return item.stream == stream || waits_for(item.stream);
         });
}

void Background::wait_until(const std::function<bool()>& done) {
  if (is_background) return;
  ++waiting_;
  item_done_.wait(mutex_, [&] { return !is_busy() || done(); });
  --waiting_;
}

bool Background::program_goes_on() const {
  const int launches = unlocked_ ? 0 : 1;  // the thread that made the launch waits for it
  return metrics::threads_of_program() > waiting_ + launches;
}

void Background::unlocked(const std::function<void()>& use) {
  mutex_.unlock();
  unlocked_ = true;
  use();
  unlocked_ = false;
  mutex_.lock();
}

void Background::work() {
  metrics::begin_own_thread();
  is_background = true;
  const std::lock_guard lock(mutex_);
  while (!items_.empty()) {
    items_.front().run();
    items_.pop_front();
    item_done_.notify_all();
  }
}

}  // namespace warpgauge::emulator::runtime
