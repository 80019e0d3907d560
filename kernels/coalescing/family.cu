// Copies that differ in nothing but the addresses they read: with an offset, with a stride, with
// idle lanes, and of words that are not aligned.
//
// A request touches sectors of 32 bytes, and what counts is how many of them its
// lanes reach, not which lane reaches which (global.load.sectors_per_request). An `offset` that is
// no multiple of a sector costs one more. A stride (`strided`) multiplies the sectors, until each
// word has one of its own. Idle lanes (`half_warps`, `every_second_lane`) waste no sector but make
// more requests (global.load.requests). A word of 8 or 16 bytes that is not aligned cannot be read
// at once; read in `pieces`, each piece is a strided request of its own. `staged` is the cure: the
// block reads the same floats side by side into shared memory and takes its words from there.
#include "warpgauge/warpgauge.h"

namespace coalescing {

constexpr int kWarp = 32, kHalfWarp = 16;
constexpr int kThreads = 256;
constexpr int kWords = 8192;  // copied in each case: whole blocks, 256 requests of full warps
constexpr int kBlocks = kWords / kThreads;

// Words are made of 1, 2 or 4 floats. All buffers hold floats, which can be compared.
template <typename Word>
constexpr int kFloats = sizeof(Word) / sizeof(float);

// CPU reference: word i of the result are `width` floats of a, from float first + i * step on.
std::vector<float> words(const std::vector<float>& a, int first, int step, int width) {
  std::vector<float> b(kWords * width);
  for (int i = 0; i < kWords; ++i) {
    for (int j = 0; j < width; ++j) b[i * width + j] = a[first + i * step + j];
  }
  return b;
}

// A copy of words; the problems below say what is copied.
template <typename Word>
struct Copy : warpgauge::Problem {
  const int first, step;  // in floats, as of `words`
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;

  Copy(int first, int step)
      : first(first),
        step(step),
        a(*this, first + (kWords - 1) * step + kFloats<Word>),
        b(*this, kWords * kFloats<Word>) {}
  const Word* from() const { return reinterpret_cast<const Word*>(static_cast<const float*>(a)); }
  Word* to() { return reinterpret_cast<Word*>(static_cast<float*>(b)); }
  /// The least traffic: the words, without the gaps between them.
  double bytes() const override { return 2.0 * kWords * sizeof(Word); }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(b, words(a.host(), first, step, kFloats<Word>));
  }
};

// b[i] = a[i + k] for words: the size is k.
template <typename Word>
struct Offset : Copy<Word> {
  const int k;
  explicit Offset(const warpgauge::Size& size)
      : Copy<Word>(kFloats<Word> * static_cast<int>(size[0]), kFloats<Word>),
        k(static_cast<int>(size[0])) {}
};

// b[i] = a[i * s] for words: the size is s.
template <typename Word>
struct Strided : Copy<Word> {
  const int s;
  explicit Strided(const warpgauge::Size& size)
      : Copy<Word>(0, kFloats<Word> * static_cast<int>(size[0])), s(static_cast<int>(size[0])) {}
};

// Word i of b is made of the floats a[k + i * kFloats<Word>] and following: the size is k, less
// than a word, so that no word is aligned unless k is 0.
template <typename Word>
struct Misaligned : Copy<Word> {
  const int k;
  explicit Misaligned(const warpgauge::Size& size)
      : Copy<Word>(static_cast<int>(size[0]), kFloats<Word>), k(static_cast<int>(size[0])) {}
};

// b[i] = a[i] for floats: the size is their number.
struct Lanes : Copy<float> {
  explicit Lanes(const warpgauge::Size&) : Copy<float>(0, 1) {}
};

template <typename Word>
__global__ void offset(Word* b, const Word* a, int k) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  b[i] = a[i + k];
}

template <typename Word>
__global__ void strided(Word* b, const Word* a, int s) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  b[i] = a[i * s];
}

// All lanes work: what the two kernels that follow are to be compared with.
__global__ void whole_warps(float* b, const float* a) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  b[i] = a[i];
}

// The lower half of each warp copies 16 floats. A request is what its active lanes ask for: half
// the sectors, but twice as many warps.
__global__ void half_warps(float* b, const float* a) {
  const int t = blockIdx.x * kThreads + threadIdx.x;
  const int warp = t / kWarp, lane = t % kWarp;
  if (lane >= kHalfWarp) return;
  const int i = warp * kHalfWarp + lane;
  b[i] = a[i];
}

// Spreads the working lanes over the warp: nothing changes.
__global__ void every_second_lane(float* b, const float* a) {
  const int t = blockIdx.x * kThreads + threadIdx.x;
  if (t % 2 != 0) return;
  const int i = t / 2;
  b[i] = a[i];
}

// Float by float: the lanes of each request are a word apart, so a request touches all sectors of
// all words of the warp, and the next one touches them again.
template <typename Word>
__global__ void pieces(Word* b, const float* a, int k) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  Word word;
#pragma unroll
  for (int j = 0; j < kFloats<Word>; ++j) {
    reinterpret_cast<float*>(&word)[j] = a[k + i * kFloats<Word> + j];
  }
  b[i] = word;
}

// The floats of the block are read as a vector with an offset, one sector more than ideal, and lie
// aligned in shared memory.
template <typename Word>
__global__ void staged(Word* b, const float* a, int k) {
  __shared__ Word s[kThreads];
  const int t = threadIdx.x, first = blockIdx.x * kThreads;
#pragma unroll
  for (int j = t; j < kThreads * kFloats<Word>; j += kThreads) {
    reinterpret_cast<float*>(s)[j] = a[k + first * kFloats<Word> + j];
  }
  __syncthreads();
  b[first + t] = s[t];
}

// Offsets and strides in words, and the misalignment of wide words in floats.
template <typename Word>
void add_aligned(const warpgauge::Family& family, const char* type) {
  family.problem<Offset<Word>>(type, {{0}, {1}, {2}, {4}, {8}})
      .sizes_between({0}, {33})
      .variant("offset",
               [](auto& p) { offset<Word><<<kBlocks, kThreads>>>(p.to(), p.from(), p.k); });
  family.problem<Strided<Word>>(type, {{1}, {2}, {3}, {4}, {8}, {32}})
      .sizes_between({1}, {33})
      .variant("strided",
               [](auto& p) { strided<Word><<<kBlocks, kThreads>>>(p.to(), p.from(), p.s); });
}

template <typename Word>
void add_misaligned(const warpgauge::Family& family, const char* type) {
  std::vector<warpgauge::Size> offsets;
  for (int k = 0; k < kFloats<Word>; ++k) offsets.push_back({k});
  const auto words =
      family.problem<Misaligned<Word>>(type, offsets).sizes_between({0}, {kFloats<Word> - 1});
  words.variant("pieces", [](auto& p) { pieces<Word><<<kBlocks, kThreads>>>(p.to(), p.a, p.k); });
  words.variant("staged", [](auto& p) { staged<Word><<<kBlocks, kThreads>>>(p.to(), p.a, p.k); });
}

WARPGAUGE_FAMILY(coalescing) {
  add_aligned<float>(family, "f32");
  add_aligned<float2>(family, "f32x2");
  add_aligned<float4>(family, "f32x4");
  add_misaligned<float2>(family, "f32x2");
  add_misaligned<float4>(family, "f32x4");
  const auto lanes = family.problem<Lanes>("f32", {{kWords}});
  lanes.variant("whole_warps", [](Lanes& p) { whole_warps<<<kBlocks, kThreads>>>(p.b, p.a); });
  lanes.variant("half_warps", [](Lanes& p) { half_warps<<<2 * kBlocks, kThreads>>>(p.b, p.a); });
  lanes.variant("every_second_lane",
                [](Lanes& p) { every_second_lane<<<2 * kBlocks, kThreads>>>(p.b, p.a); });
}

}  // namespace coalescing
