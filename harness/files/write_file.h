// Files that are written as a whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string_view>

namespace warpgauge::files {

/// A file that is being written has the name of its place, this, and the writer's number. One whose
/// writer was killed stays.
inline constexpr std::string_view kHalfWritten = ".half-";

/// Replaces the file by one with this content: a reader sees the old file or the new one, never a
/// part. Through a link, the file that it leads to; a pipe or device (/dev/stdout) is written to.
/// Throws std::runtime_error with path and reason, and leaves the old file as it was.
void write_file(const std::filesystem::path& path, std::string_view content);
/// The same for what `write` puts into a stream. What it throws is thrown again.
void write_file(std::filesystem::path path, const std::function<void(std::ostream&)>& write);

}  // namespace warpgauge::files
