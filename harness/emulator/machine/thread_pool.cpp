// Threads that wait for work.
#include "harness/emulator/machine/thread_pool.h"

#include "metrics/base/own_thread.h"

namespace warpgauge::emulator::machine {

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(int count, const std::function<void(int)>& work) {
  work_ = &work;  // the others look at it once they are recruited
  recruit(count);
  work(0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return unfinished_ == 0; });
}

void ThreadPool::recruit(int count) {
  if (count <= 1) return;
  const std::lock_guard lock(mutex_);
  while (static_cast<int>(threads_.size()) < count - 1) {
    const int number = static_cast<int>(threads_.size()) + 1;
    threads_.emplace_back([this, number] { serve(number); });
  }
  count_ = count;
  unfinished_ = count - 1;
  ++call_;
  begin_.notify_all();
}

void ThreadPool::serve(int number) {
  metrics::begin_own_thread();
  unsigned served = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return closing_ || (call_ != served && unfinished_ != 0); });
    if (closing_) return;
    served = call_;
    if (number >= count_) continue;
    lock.unlock();
    (*work_)(number);
    lock.lock();
    if (--unfinished_ == 0) end_.notify_one();
  }
}

}  // namespace warpgauge::emulator::machine
