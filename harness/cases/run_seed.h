// Other random values than the usual ones.
#pragma once

#include <cstdint>

namespace warpgauge {

/// While it lives, random_values() are those of `seed`: other values for each seed, the usual ones
/// for 0. Problems make their values when they are needed, so it outlives those that are to have
/// them. There is one at a time.
class RunSeed {
 public:
  explicit RunSeed(std::uint32_t seed);
  ~RunSeed();
  RunSeed(const RunSeed&) = delete;
  RunSeed& operator=(const RunSeed&) = delete;
};

}  // namespace warpgauge
