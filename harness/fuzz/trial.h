// A trial: a run of a case at another size, with other random values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/registry.h"
#include "warpgauge/problem.h"

namespace warpgauge::fuzz {

struct Trial {
  Size size;
  std::uint32_t seed;  ///< as of RunSeed

  std::string str() const;  ///< "33x65,7": size, seed
};

/// The trial that `text` names, as str() writes it; nullopt for other text.
std::optional<Trial> parse_trial(std::string_view text);

/// The first `count` trials of a case, always the same: the smallest size that its problem allows,
/// then by turns sizes at the edges of warps and of usual tiles, and random ones. Most have few
/// elements, one in four up to twice as many as the case itself. A size comes again only where
/// there are no others. Trial i has the seed i + 1. A problem that allows no other sizes keeps its
/// own.
std::vector<Trial> trials_of(const Case& tried, std::size_t count);

/// Why the problem of the case does not allow the size of the trial; empty if it does.
std::string why_not_allowed(const Case& tried, const Trial& trial);

}  // namespace warpgauge::fuzz
