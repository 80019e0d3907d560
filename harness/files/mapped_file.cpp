// Maps a file into memory.
#include "harness/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace warpgauge::files {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw std::system_error(error, std::generic_category(), path.string() + ": cannot be read");
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
    }
  }
  close(file);
  if (error != 0) fail(path, error);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(address_of(bytes_), bytes_.size());
}

void MappedFile::forget() const {
  if (!bytes_.empty()) madvise(address_of(bytes_), bytes_.size(), MADV_DONTNEED);
}

}  // namespace warpgauge::files
