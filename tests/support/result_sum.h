// Sums over the results of a function, for the host and for the device. They compare results
// recorded on a device with the emulator's.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define WARPGAUGE_ON_BOTH __host__ __device__
#else
#define WARPGAUGE_ON_BOTH
#endif

namespace warpgauge::support {

/// The term of an argument and its result in a sum, which does not depend on the order.
WARPGAUGE_ON_BOTH inline std::uint64_t sum_term(std::uint32_t argument, std::uint32_t result) {
  std::uint64_t v = (std::uint64_t{argument} << 32 | result) * 0x9e3779b97f4a7c15;
  v ^= v >> 32;
  v *= 0xd6e8feb86659fd93;
  return v ^ v >> 32;
}
WARPGAUGE_ON_BOTH inline std::uint64_t sum_term_64(std::uint32_t argument, std::uint64_t result) {
  return sum_term(argument, static_cast<std::uint32_t>(result)) * 3 +
         sum_term(argument, static_cast<std::uint32_t>(result >> 32));
}

/// Pseudorandom bits, by a seed.
WARPGAUGE_ON_BOTH inline std::uint64_t mixed(std::uint64_t seed) {
  std::uint64_t v = (seed + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  v ^= v >> 29;
  v *= 0x94d049bb133111eb;
  return v ^ v >> 32;
}

/// A pair of floats with random signs and significands, and the exponents that `exponents` has in
/// its upper and lower byte.
struct FloatPair {
  std::uint32_t a, b;
};
inline constexpr std::uint32_t kFewPairs = 1024;  ///< pairs of values for each pair of exponents
inline constexpr std::uint32_t kManyPairs = 100'000;  ///< likewise
WARPGAUGE_ON_BOTH inline FloatPair float_pair(std::uint32_t exponents, std::uint32_t number) {
  const std::uint64_t bits = mixed(std::uint64_t{exponents} << 32 | number);
  return {(exponents >> 8) << 23 | (static_cast<std::uint32_t>(bits) & 0x807fffff),
          (exponents & 255) << 23 | (static_cast<std::uint32_t>(bits >> 32) & 0x807fffff)};
}

/// A double with the sign and exponent given (12 bits), and a random significand.
WARPGAUGE_ON_BOTH inline std::uint64_t double_with(std::uint32_t upper, std::uint32_t number) {
  return std::uint64_t{upper} << 52 | mixed(std::uint64_t{upper} << 32 | number) >> 12;
}

}  // namespace warpgauge::support
