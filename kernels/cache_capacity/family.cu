// Walks through tables of growing size, where each word says which one is next: the size of a case
// is the table's, in bytes.
//
// A cache shows its size in times. As long as the table fits, every step but those of the first
// round finds its word in the cache; beyond, the next slower memory answers. Over the size of the
// table the time is a stair, with a step at each capacity (the page of `warpgauge report html`
// draws it). The counts are the same for all sizes (global.load.requests).
//   constant  by the constant cache: two small levels of it, and 64 KiB in all
//   global    by loads, through L1
//   texture   by fetches, through the same L1 on today's GPUs
//   past_l1   by loads that pass by L1, so that only the capacity of L2 shows. A table of many MB
//             takes many threads: each lane walks by itself, some way behind the one before it
// The steps go once through all lines of the table in random order, so that neither a neighbour nor
// a stride is ever of use.
#include "warpgauge/warpgauge.h"

namespace cache_capacity {

constexpr int kWarp = 32;
constexpr int kLongestTable = 64 * 1024 / sizeof(int);  // all the constants that a module may have

__constant__ int constant_table[kLongestTable];

// Words `words_a_line` apart, in random order. The word at each says where the next one is, and
// that at the last where the first is.
class Round {
 public:
  Round(std::size_t bytes, int words_a_line) : order_(bytes / sizeof(int) / words_a_line) {
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int>(i) * words_a_line;
    std::uint64_t state = 1;  // of a linear congruential generator (Knuth's MMIX)
    for (std::size_t i = order_.size() - 1; i > 0; --i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      std::swap(order_[i], order_[(state >> 33) % (i + 1)]);
    }
  }
  std::size_t count() const { return order_.size(); }
  /// Where one is `steps` steps after the first word.
  int after(std::size_t steps) const { return order_[steps % order_.size()]; }
  /// Words between those of the round stay 0, and are never read.
  std::vector<int> table(std::size_t words) const {
    std::vector<int> next(words, 0);
    for (std::size_t i = 0; i < order_.size(); ++i) next[after(i)] = after(i + 1);
    return next;
  }

 private:
  std::vector<int> order_;
};

// `threads` walk `kSteps` steps each. Lanes of a warp begin in different places of the round, and
// as all go at one pace they stay apart.
template <int kThreads, int kStepsEach, int kWordsALine>
struct Walk : warpgauge::Problem {
  static constexpr int kSteps = kStepsEach;
  const Round round;
  warpgauge::Input<int> table, starts;
  warpgauge::Output<int> ends;

  explicit Walk(const warpgauge::Size& size)
      : round(size[0], kWordsALine),
        table(*this, round.table(size[0] / sizeof(int))),
        starts(*this, places(0)),
        ends(*this, kThreads) {}
  /// The bytes that the steps read.
  double bytes() const override { return double(sizeof(int)) * kThreads * kSteps; }
  // CPU reference.
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(ends, places(kSteps));
  }

 private:
  std::vector<int> places(std::size_t steps) const {
    std::vector<int> found(kThreads);
    for (std::size_t t = 0; t < found.size(); ++t) {
      const std::size_t lane = t % kWarp, warp = t / kWarp, warps = (kThreads + kWarp - 1) / kWarp;
      const std::size_t start = round.count() * (lane * warps + warp) / kThreads;
      found[t] = round.after(start + steps);
    }
    return found;
  }
};

// One thread: each step waits for the one before it. 64 rounds at least of tables of up to 128
// KiB.
constexpr int kLine = 128 / sizeof(int);  // words
constexpr int kConstantLine = 64 / sizeof(int);
constexpr int kSteps = 65536;
using WalkAlone = Walk<1, kSteps, kLine>;

struct WalkInConstants : Walk<1, kSteps, kConstantLine> {
  using Walk::Walk;
  void prepare() override {
    const std::vector<int>& words = table.host();
    WARPGAUGE_CUDA(cudaMemcpyToSymbol(constant_table, words.data(), words.size() * sizeof(int)));
  }
};

class Texture {
 public:
  Texture() = default;
  ~Texture() {
    if (object_ != 0) cudaDestroyTextureObject(object_);
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  void over(const int* data, std::size_t count) {
    if (object_ != 0) return;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<int*>(data);
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = count * sizeof(int);
    cudaTextureDesc reading = {};
    reading.readMode = cudaReadModeElementType;
    WARPGAUGE_CUDA(cudaCreateTextureObject(&object_, &resource, &reading, nullptr));
  }
  operator cudaTextureObject_t() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

struct WalkInTexture : WalkAlone {
  Texture texture;
  using WalkAlone::WalkAlone;
  void prepare() override { texture.over(table, table.count()); }
};

// 2^23 steps in all: 4 rounds of 256 MiB.
constexpr int kWarps = 256;
constexpr int kStepsOfMany = 1024;
using WalkOfMany = Walk<kWarps * kWarp, kStepsOfMany, kLine>;

__global__ void constant(int* ends, const int* starts, int steps) {
  int at = starts[0];
  for (int i = 0; i < steps; ++i) at = constant_table[at];
  ends[0] = at;
}

__global__ void global(int* ends, const int* starts, const int* table, int steps) {
  int at = starts[0];
  for (int i = 0; i < steps; ++i) at = table[at];
  ends[0] = at;
}

__global__ void texture(int* ends, const int* starts, cudaTextureObject_t table, int steps) {
  int at = starts[0];
  for (int i = 0; i < steps; ++i) at = tex1Dfetch<int>(table, at);
  ends[0] = at;
}

__global__ void past_l1(int* ends, const int* starts, const int* table, int steps) {
  const int t = blockIdx.x * kWarp + threadIdx.x;
  int at = starts[t];
  for (int i = 0; i < steps; ++i) at = __ldcg(table + at);
  ends[t] = at;
}

// Powers of two and what is in the middle between them, so that a step is seen at its place.
std::vector<warpgauge::Size> sizes(std::int64_t first, std::int64_t last, std::int64_t large_from) {
  std::vector<warpgauge::Size> found;
  const auto add = [&](std::int64_t bytes) {
    const warpgauge::Size size = {bytes};
    if (bytes <= last) found.push_back(bytes >= large_from ? warpgauge::large(size) : size);
  };
  for (std::int64_t bytes = first; bytes <= last; bytes *= 2) {
    add(bytes);
    add(bytes / 2 * 3);
  }
  return found;
}

constexpr std::int64_t kKib = 1024, kMib = 1024 * kKib;

WARPGAUGE_FAMILY(cache_capacity) {
  family.problem<WalkInConstants>("i32", sizes(kKib / 2, 64 * kKib, kMib))
      .sizes_between({64}, {64 * kKib}, {64})
      .variant("constant", [](auto& p) { constant<<<1, 1>>>(p.ends, p.starts, p.kSteps); });
  // The first round, all of them misses, is a part of 1/8 of the steps at most.
  const std::vector<warpgauge::Size> about_l1 = sizes(4 * kKib, kMib, 2 * kMib);
  family.problem<WalkAlone>("i32", about_l1)
      .sizes_between({128}, {kMib}, {128})
      .variant("global", [](auto& p) { global<<<1, 1>>>(p.ends, p.starts, p.table, p.kSteps); });
  family.problem<WalkInTexture>("i32", about_l1)
      .sizes_between({128}, {kMib}, {128})
      .variant("texture",
               [](auto& p) { texture<<<1, 1>>>(p.ends, p.starts, p.texture, p.kSteps); });
  family.problem<WalkOfMany>("i32", sizes(kMib, 256 * kMib, 2 * kMib))
      .sizes_between({kMib}, {256 * kMib}, {128})  // a line for each thread
      .variant("past_l1",
               [](auto& p) { past_l1<<<kWarps, kWarp>>>(p.ends, p.starts, p.table, p.kSteps); });
}

}  // namespace cache_capacity
