// Asks a child process for a text, so that a crash, a hang or a broken driver ends the child alone.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace warpgauge::process {

/// Calls `make` in a child process (worker_pool.h has the conditions) and returns its text, cut off
/// after 64 KiB. Meanwhile it calls `meanwhile` in this one. Throws std::runtime_error with the
/// message of an exception of `make`, or with how the child died; std::system_error if no child can
/// be made.
std::string isolated_text(const std::function<std::string()>& make, std::chrono::seconds time_limit,
                          const std::function<void()>& meanwhile = nullptr);

}  // namespace warpgauge::process
