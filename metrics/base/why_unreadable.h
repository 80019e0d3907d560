// Files that are to be read whole.
#pragma once

#include <filesystem>
#include <string>

namespace warpgauge::metrics {

/// The reason why a path cannot be read as a file, as a sentence; empty if it can be. Opens
/// nothing: a pipe waits for its writer, and a device may have no end.
std::string why_unreadable(const std::filesystem::path& path);

}  // namespace warpgauge::metrics
