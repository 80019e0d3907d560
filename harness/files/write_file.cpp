// Writes a file beside its place, and renames it.
#include "harness/files/write_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace warpgauge::files {

namespace fs = std::filesystem;

void write_file(const fs::path& path, std::string_view content) {
  write_file(path, [&](std::ostream& stream) {
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

void write_file(fs::path path, const std::function<void(std::ostream&)>& write) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", path.string(), why));
  };
  std::error_code error;
  if (fs::exists(path, error)) path = fs::canonical(path);
  if (fs::is_directory(path, error)) refuse("it is a folder");
  const bool in_place = fs::exists(path, error) && !fs::is_regular_file(path, error);
  const fs::path half =
      in_place ? path : fs::path(fmt::format("{}{}{}", path.string(), kHalfWritten, getpid()));
  const auto give_up = [&] {
    if (!in_place) fs::remove(half, error);
  };
  try {
    std::ofstream stream;
    stream.exceptions(std::ios::failbit | std::ios::badbit);  // at once, with errno of its cause
    errno = 0;
    stream.open(half, std::ios::binary);
    write(stream);
    stream.close();
  } catch (const std::ios::failure&) {
    const int why = errno;
    give_up();
    refuse(std::generic_category().message(why));
  } catch (...) {
    give_up();
    throw;
  }
  if (in_place) return;
  fs::rename(half, path, error);
  if (!error) return;
  const std::string message = error.message();
  fs::remove(half, error);
  refuse(message);
}

}  // namespace warpgauge::files
