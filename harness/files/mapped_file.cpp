// Maps a file into memory.
#include "harness/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>

namespace warpgauge::files {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw std::system_error(error, std::generic_category(), path.string() + ": cannot be read");
}

/// A mapping of now; there may be more than have a place. A file that becomes shorter while it is
/// read ends in SIGBUS.
struct Mapping {
  std::atomic<const std::byte*> begin = nullptr;
  std::atomic<std::size_t> size = 0;
};
constinit std::array<Mapping, 64> mappings;

/// Calls only what a signal handler may.
void handle_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  const auto* const address = static_cast<const std::byte*>(info->si_addr);
  for (const Mapping& mapping : mappings) {
    const std::byte* const begin = mapping.begin;
    if (begin == nullptr || address < begin || address >= begin + mapping.size) continue;
    constexpr std::string_view kMessage =
        "a file became shorter while it was read; run it again when nothing writes to it\n";
    static_cast<void>(!write(STDERR_FILENO, kMessage.data(), kMessage.size()));
    constexpr int kFault = 2;  // the exit code of outcome, a folder above this one
    for (;;) syscall(SYS_exit_group, kFault);
  }
  std::signal(signal, SIG_DFL);  // the access is made again, and ends the process
}

void watch(std::span<const std::byte> bytes) {
  static const bool is_handled = [] {
    struct sigaction handler = {};
    handler.sa_sigaction = handle_bus_error;
    handler.sa_flags = SA_SIGINFO;
    return sigaction(SIGBUS, &handler, nullptr) == 0;
  }();
  for (Mapping& mapping : mappings) {
    const std::byte* none = nullptr;
    if (!is_handled || !mapping.begin.compare_exchange_strong(none, bytes.data())) continue;
    mapping.size = bytes.size();
    return;
  }
}

void watch_no_longer(std::span<const std::byte> bytes) {
  for (Mapping& mapping : mappings) {
    if (mapping.begin != bytes.data()) continue;
    mapping.size = 0;
    mapping.begin = nullptr;
    return;
  }
}

void* address_of(std::span<const std::byte> bytes) {
  return const_cast<std::byte*>(bytes.data());  // the functions of mappings know no const
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // no wait for a writer
  if (file < 0) fail(path, errno);
  struct stat status {};
  int error = fstat(file, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (error == 0 && size > 0) {  // nothing cannot be mapped
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) {
      error = errno;
    } else {
      bytes_ = {static_cast<const std::byte*>(memory), size};
      watch(bytes_);
    }
  }
  close(file);
  if (error != 0) fail(path, error);
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  watch_no_longer(bytes_);
  munmap(address_of(bytes_), bytes_.size());
}

void MappedFile::forget() const {
  if (!bytes_.empty()) madvise(address_of(bytes_), bytes_.size(), MADV_DONTNEED);
}

}  // namespace warpgauge::files
