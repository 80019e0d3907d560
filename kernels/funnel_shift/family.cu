// Funnel shifts: 32 bits out of two words, by one instruction.
//
// Words that begin in the middle of a word need no loads of single bytes. Two words and a funnel
// shift give each of them:
//   bytes    four loads of one byte, each a request over the same sectors
//   funnel   the two aligned words around it: half the requests
// The four shifts by themselves (`left`, `right`, `left_clamped`, `right_clamped`) take the
// distance modulo 32, or as 32 at most.
#include <algorithm>
#include <cstdint>

#include "warpgauge/warpgauge.h"

namespace funnel_shift {

constexpr int kThreads = 256;

// Words that begin `offset` bytes behind the beginning of `text`, the low byte first. The size is
// their number and the offset.
struct Unaligned : warpgauge::Problem {
  const int n, offset;
  warpgauge::Input<std::uint8_t> text;  // a word more than is needed
  warpgauge::Output<std::uint32_t> words;

  explicit Unaligned(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        offset(static_cast<int>(size[1])),
        text(*this, 4 * (n + 1)),
        words(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<std::uint32_t> expected(n);
    for (int i = 0; i < 4 * n; ++i) {
      expected[i / 4] |= std::uint32_t{text.host()[offset + i]} << (8 * (i % 4));
    }
    comparison.equal(words, expected);
  }
};

__global__ void bytes(std::uint32_t* words, const std::uint8_t* text, int n, int offset) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const std::uint8_t* const from = text + offset + 4 * i;
  words[i] = from[0] | from[1] << 8 | from[2] << 16 | static_cast<std::uint32_t>(from[3]) << 24;
}

__global__ void funnel(std::uint32_t* words, const std::uint8_t* text, int n, int offset) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const auto* const aligned = reinterpret_cast<const std::uint32_t*>(text);
  words[i] = __funnelshift_r(aligned[i], aligned[i + 1], 8 * offset);
}

void launch(Unaligned& p, void (*kernel)(std::uint32_t*, const std::uint8_t*, int, int)) {
  kernel<<<(p.n + kThreads - 1) / kThreads, kThreads>>>(p.words, p.text, p.n, p.offset);
}

// A shift: `shifted` on the device, and by arithmetic of 64 bits.
struct Left {
  static __device__ std::uint32_t shifted(std::uint32_t low, std::uint32_t high, unsigned by) {
    return __funnelshift_l(low, high, by);
  }
  static std::uint64_t expected(std::uint64_t both, unsigned by) { return both << by % 32 >> 32; }
};

struct LeftClamped {
  static __device__ std::uint32_t shifted(std::uint32_t low, std::uint32_t high, unsigned by) {
    return __funnelshift_lc(low, high, by);
  }
  static std::uint64_t expected(std::uint64_t both, unsigned by) {
    return both << std::min(by, 32u) >> 32;
  }
};

struct Right {
  static __device__ std::uint32_t shifted(std::uint32_t low, std::uint32_t high, unsigned by) {
    return __funnelshift_r(low, high, by);
  }
  static std::uint64_t expected(std::uint64_t both, unsigned by) { return both >> by % 32; }
};

struct RightClamped {
  static __device__ std::uint32_t shifted(std::uint32_t low, std::uint32_t high, unsigned by) {
    return __funnelshift_rc(low, high, by);
  }
  static std::uint64_t expected(std::uint64_t both, unsigned by) {
    return both >> std::min(by, 32u);
  }
};

// Distances from 0 to 63: two words of 64 bits have no others.
std::vector<std::uint32_t> distances(int n) {
  std::vector<std::uint32_t> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 64;
  return values;
}

// Random words of 32 bits, of which the random values have 15.
std::vector<std::uint32_t> full_words(int n, std::uint32_t seed) {
  std::vector<std::uint32_t> values = warpgauge::random_values<std::uint32_t>(n, seed);
  for (std::uint32_t& value : values) value *= 2654435761u;
  return values;
}

template <typename Shift>
struct Shifted : warpgauge::Problem {
  const int n;
  warpgauge::Input<std::uint32_t> low, high, by;
  warpgauge::Output<std::uint32_t> out;

  explicit Shifted(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        low(*this, full_words(n, 1)),
        high(*this, full_words(n, 2)),
        by(*this, distances(n)),
        out(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<std::uint32_t> expected(n);
    for (int i = 0; i < n; ++i) {
      const std::uint64_t both = std::uint64_t{high.host()[i]} << 32 | low.host()[i];
      expected[i] = static_cast<std::uint32_t>(Shift::expected(both, by.host()[i]));
    }
    comparison.equal(out, expected);
  }
};

template <typename Shift>
__global__ void shift(std::uint32_t* out, const std::uint32_t* low, const std::uint32_t* high,
                      const std::uint32_t* by, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) out[i] = Shift::shifted(low[i], high[i], by[i]);
}

template <typename Shift>
void add_shift(const warpgauge::Family& family, const char* name) {
  family.problem<Shifted<Shift>>("u32", {{4096}, {1000}})
      .sizes_between({1}, {65536})
      .variant(name, [](Shifted<Shift>& p) {
        shift<Shift>
            <<<(p.n + kThreads - 1) / kThreads, kThreads>>>(p.out, p.low, p.high, p.by, p.n);
      });
}

WARPGAUGE_FAMILY(funnel_shift) {
  const auto u32 =
      family.problem<Unaligned>("u32", {{65536, 1}, {1000, 3}}).sizes_between({1, 0}, {65536, 3});
  u32.variant("bytes", [](Unaligned& p) { launch(p, bytes); });
  u32.variant("funnel", [](Unaligned& p) { launch(p, funnel); });
  add_shift<Left>(family, "left");
  add_shift<Right>(family, "right");
  add_shift<LeftClamped>(family, "left_clamped");
  add_shift<RightClamped>(family, "right_clamped");
}

}  // namespace funnel_shift
