// When a noisy value counts as changed.
#pragma once

#include <optional>
#include <string_view>

#include "metrics/facts/fact.h"

namespace warpgauge::diff {

/// The share of its value in A by which a noisy value differs between processes anyway.
inline constexpr double kUsualNoise = 0.03;

/// The share that "3%" or "0.03" names, from 0 to 1; nullopt for anything else.
std::optional<double> share_from(std::string_view text);

/// True where the intervals of two numbers do not overlap, and the numbers differ by more than
/// `noise` of the first. An interval covers one process, and processes differ, too. Both have one.
bool is_beyond_noise(const metrics::Fact& a, const metrics::Fact& b, double noise);

}  // namespace warpgauge::diff
