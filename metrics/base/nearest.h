// Suggests the name that was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// The candidate with the smallest edit distance to `name`; if none is close (more than a third of
/// the name would have to change), the first that begins with it; empty if there is none.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// ", did you mean 'x'?" or nothing, ready to be put behind an error message.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace warpgauge::metrics
