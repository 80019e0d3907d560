// Appends facts to a file, safe against crashes, other writers and full disks.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "metrics/base/shared_with_forks.h"
#include "metrics/facts/fact.h"

namespace warpgauge::metrics {
namespace {

[[noreturn]] void fail_to_write(const std::filesystem::path& path, const char* what, int error) {
  throw FactError(path.string() + ": " + what + ": " + std::strerror(error));
}

/// Holds the lock of a file. Where there are no locks (pipes, some network mounts) O_APPEND alone
/// keeps lines apart.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

/// Bytes of the file up to and including its last newline.
off_t whole_lines(int fd, off_t size) {
  std::array<char, 4096> part;
  while (size > 0) {
    const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(part.size()));
    const ssize_t got = pread(fd, part.data(), static_cast<std::size_t>(size - begin), begin);
    if (got <= 0) return size;  // unreadable: cut nothing
    const std::string_view text(part.data(), static_cast<std::size_t>(got));
    if (const auto end = text.rfind('\n'); end != text.npos) {
      return begin + static_cast<off_t>(end) + 1;
    }
    size = begin;
  }
  return 0;
}

/// Cuts off a last line without newline: the next fact would otherwise be glued to it.
/// Returns false if there is one that stays.
bool cut_torn_line(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return true;
  const off_t end = whole_lines(fd, status.st_size);
  return end == status.st_size || ftruncate(fd, end) == 0;
}

/// Bytes in the file; 0 where it has no size, such as a pipe.
off_t size_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : 0;
}

std::string line_of(const nlohmann::ordered_json& record) {
  return record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

std::string lines_of(const std::vector<nlohmann::ordered_json>& records) {
  std::string lines;
  for (const nlohmann::ordered_json& record : records) lines += line_of(record);
  return lines;
}

/// The leading facts that belong to the case of the first.
std::span<const Fact> of_first_case(std::span<const Fact> facts) {
  const Fact& first = facts.front();
  const auto end = std::ranges::find_if_not(facts, [&](const Fact& fact) {
    return fact.context == first.context && fact.arch == first.arch && fact.id == first.id;
  });
  return {facts.begin(), end};
}

}  // namespace

FactWriter::FactWriter(const std::filesystem::path& path, Run run)
    : end_(shared_with_forks<std::int64_t>()), path_(path), run_(std::move(run)) {
  *end_ = -1;  // before the beginning
  open_file();
}

FactWriter::~FactWriter() { close(fd_); }

void FactWriter::open_file() {
  fd_ = open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) fail_to_write(path_, "cannot be opened for facts", errno);
  const FileLock lock(fd_);
  if (!cut_torn_line(fd_)) {
    const int error = errno;
    close(fd_);
    fail_to_write(path_, "its torn last line cannot be cut off", error);
  }
}

void FactWriter::reopen() {
  close(fd_);
  open_file();
}

void FactWriter::add_device(const Device& device) {
  if (std::ranges::find(run_.devices, device.name, &Device::name) != run_.devices.end()) return;
  run_.devices.push_back(device);
  knows_devices_ = false;
}

void FactWriter::write(const std::vector<Fact>& facts) {
  std::vector<nlohmann::ordered_json> records;
  for (std::span<const Fact> rest(facts); !rest.empty();) {
    const std::span<const Fact> of_case = of_first_case(rest);
    nlohmann::ordered_json described = case_json(of_case.front());
    const auto name = described["case"].get<std::string>();
    if (written_.insert(name).second) records.push_back(std::move(described));
    for (nlohmann::ordered_json& values : values_json(of_case, name)) {
      nlohmann::ordered_json shared = take_shared(values);
      const bool is_new = !shared.is_null() &&
                          written_.insert("shared " + shared["shared"].get<std::string>()).second;
      if (is_new) records.push_back(std::move(shared));
      records.push_back(std::move(values));
    }
    rest = rest.subspan(of_case.size());
  }
  if (!records.empty()) append(lines_of(records));
}

void FactWriter::write_end(const RunEnd& end) {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (const auto& [verdict, n] : end.counts) counts[std::string(to_string(verdict))] = n;
  nlohmann::ordered_json object = {
      {"record", "end"}, {"run", run_.id}, {"counts", counts}, {"exit_code", end.exit_code}};
  if (!end.left_out.empty()) object["left_out"] = end.left_out;
  append(line_of(object));
}

void FactWriter::append(std::string lines) {
  const FileLock lock(fd_);  // others wait for it
  const bool is_ours = size_of(fd_) == *end_;
  if (!is_ours) cut_torn_line(fd_);  // the torn line of a fork that has died
  if (!is_ours || !knows_devices_) lines.insert(0, line_of(run_json(run_)));
  for (std::string_view rest = lines; !rest.empty();) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {  // less than all of it: the next one says why
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (const int error = errno; error != EINTR) {
      cut_torn_line(fd_);
      fail_to_write(path_, "facts could not be written", error);
    }
  }
  *end_ = size_of(fd_);
  knows_devices_ = true;
}

}  // namespace warpgauge::metrics
