// Text that several processes append to one file.
#pragma once

#include <filesystem>
#include <string_view>

namespace warpgauge::metrics {

/// Appends the text with one write, so that processes that end together do not mix their lines.
/// Makes the file if there is none. False if it failed; errno has the cause.
[[nodiscard]] bool append_at_once(const std::filesystem::path& path, std::string_view text);

}  // namespace warpgauge::metrics
