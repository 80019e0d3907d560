// Counts launches in a file that is mapped into memory.
#include "harness/attach/launch_count.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace warpgauge::attach {

using Number = std::atomic<std::uint64_t>;
static_assert(Number::is_always_lock_free && sizeof(Number) == sizeof(std::uint64_t));

LaunchCount::LaunchCount(const std::filesystem::path& path) {
  // Written, so that a full disk shows here and not when the program counts.
  constexpr std::uint64_t kNone = 0;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  void* memory = MAP_FAILED;
  if (file >= 0 && write(file, &kNone, sizeof kNone) == sizeof kNone) {
    memory = mmap(nullptr, sizeof(Number), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  const int why = errno;
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) throw std::system_error(why, std::generic_category(), path.string());
  count_ = static_cast<Number*>(memory);
}

LaunchCount::~LaunchCount() { munmap(count_, sizeof(Number)); }

std::optional<std::uint64_t> LaunchCount::of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t count = 0;
  file.read(reinterpret_cast<char*>(&count), sizeof count);
  if (!file) return std::nullopt;
  return count;
}

}  // namespace warpgauge::attach
