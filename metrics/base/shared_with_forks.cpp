// Maps anonymous shared memory.
#include "metrics/base/shared_with_forks.h"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

namespace warpgauge::metrics {

std::shared_ptr<void> bytes_shared_with_forks(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return {memory, [bytes](void* whole) { munmap(whole, bytes); }};
}

}  // namespace warpgauge::metrics
