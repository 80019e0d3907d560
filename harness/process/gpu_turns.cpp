// Lets processes take turns on a GPU, by a lock that ends with its process.
#include "harness/process/gpu_turns.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "metrics/base/available_cores.h"

namespace warpgauge::process {
namespace {

/// Record locks are of a process, unlike those of flock(), which the forked share.
bool set_lock(int file, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return fcntl(file, F_SETLK, &lock) == 0;
}

}  // namespace

GpuTurns::GpuTurns() : lock_(memfd_create("turns", MFD_CLOEXEC)) {
  if (lock_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
}

GpuTurns::~GpuTurns() { close(lock_); }

GpuTurn::GpuTurn(const GpuTurns& turns, std::chrono::milliseconds patience) : lock_(turns.lock_) {
  constexpr std::chrono::microseconds kPause{100};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!set_lock(lock_, F_WRLCK) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPause);
  }
}

GpuTurn::~GpuTurn() { set_lock(lock_, F_UNLCK); }

std::size_t processes_on_gpu(std::size_t cases, bool is_exclusive) {
  constexpr std::size_t kMost = 6;
  constexpr std::size_t kWorthIt = 50;  // cases that take as long as the start of CUDA and CUPTI
  if (is_exclusive) return 1;
  return std::min(
      {kMost, 1 + cases / kWorthIt, static_cast<std::size_t>(metrics::available_cores())});
}

}  // namespace warpgauge::process
