// Work that needs different parts of the machine at once: copies beside kernels, kernels beside
// kernels.
//
// Work in one stream runs in order; work in several streams may overlap.
// The work is the same, and so are the counts: only the time differs (time.relative_to).
//   whole              copy in, kernel, copy out: two engines always wait for the third
//   chunks_in_streams  four chunks, each in a stream of its own: while one is computed, the next
//                      comes in and the last goes out. Needs pinned memory.
//   one_after_other    16 kernels of one block each: all multiprocessors but one are idle
//   side_by_side       the same in 16 streams: they run at the same time on as many multiprocessors
// The streams are blocking ones: they begin after what is before them in the default stream, and it
// goes on after them.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "warpgauge/warpgauge.h"

namespace overlap {

constexpr int kThreads = 256;
constexpr std::uint32_t kFactor = 1664525, kAdd = 1013904223;

// Streams that are made by the first reset(); in a dry run all are the default stream.
class Streams {
 public:
  Streams() = default;
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    // An error here is an earlier one of the context, which has been reported where it arose.
    for (const cudaStream_t stream : streams_) static_cast<void>(cudaStreamDestroy(stream));
  }
  void make(int count) {
    while (static_cast<int>(streams_.size()) < count) {
      cudaStream_t stream = nullptr;
      WARPGAUGE_CUDA(cudaStreamCreate(&stream));
      streams_.push_back(stream);
    }
  }
  cudaStream_t operator[](int i) const { return streams_.empty() ? nullptr : streams_[i]; }

 private:
  std::vector<cudaStream_t> streams_;
};

// Words in pinned memory of the host. There are none before the first fill().
class PinnedWords {
 public:
  PinnedWords() = default;
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;
  ~PinnedWords() {
    if (memory_ != nullptr) static_cast<void>(cudaFreeHost(memory_));
  }
  void fill(const std::vector<std::uint32_t>& values) {
    const std::size_t bytes = values.size() * sizeof(std::uint32_t);
    if (memory_ == nullptr) WARPGAUGE_CUDA(cudaMallocHost(&memory_, bytes));
    std::memcpy(memory_, values.data(), bytes);
  }
  std::uint32_t* at(int i) const {
    return memory_ == nullptr ? nullptr : static_cast<std::uint32_t*>(memory_) + i;
  }

 private:
  void* memory_ = nullptr;
};

// Each element goes some steps along a sequence of pseudo-random numbers.
__global__ void advance(std::uint32_t* x, int n, int steps) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  std::uint32_t value = x[i];
  for (int step = 0; step < steps; ++step) value = kFactor * value + kAdd;
  x[i] = value;
}

void launch(std::uint32_t* x, int n, int steps, cudaStream_t stream) {
  advance<<<(n + kThreads - 1) / kThreads, kThreads, 0, stream>>>(x, n, steps);
}

// CPU reference: steps of a linear sequence are together one linear step.
std::vector<std::uint32_t> advanced(std::vector<std::uint32_t> values, int steps) {
  std::uint32_t factor = 1, add = 0;
  for (int step = 0; step < steps; ++step) {
    factor *= kFactor;
    add = kFactor * add + kAdd;
  }
  for (std::uint32_t& value : values) value = factor * value + add;
  return values;
}

// From host memory through a kernel to host memory.
struct RoundTrip : warpgauge::Problem {
  static constexpr int kChunks = 4, kSteps = 256;
  const int n;
  const std::vector<std::uint32_t> values;
  warpgauge::Output<std::uint32_t> x;
  PinnedWords in, out;
  Streams streams;

  explicit RoundTrip(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        values(warpgauge::random_values<std::uint32_t>(n, 1)),
        x(*this, n) {}
  void prepare() override {
    in.fill(values);
    out.fill(std::vector<std::uint32_t>(n));
    streams.make(kChunks);
  }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(std::vector<std::uint32_t>(out.at(0), out.at(n)), advanced(values, kSteps));
  }
  // Copies in, computes and copies out `count` elements from `first` on.
  void go(int first, int count, cudaStream_t stream) {
    const std::size_t bytes = count * sizeof(std::uint32_t);
    std::uint32_t* const part = x + first;
    WARPGAUGE_CUDA(cudaMemcpyAsync(part, in.at(first), bytes, cudaMemcpyHostToDevice, stream));
    launch(part, count, kSteps, stream);
    WARPGAUGE_CUDA(cudaMemcpyAsync(out.at(first), part, bytes, cudaMemcpyDeviceToHost, stream));
  }
};

void chunks_in_streams(RoundTrip& p) {
  // Whole blocks, so that each chunk but the last has full ones.
  const int blocks = (p.n + kThreads - 1) / kThreads;
  const int chunk = (blocks + RoundTrip::kChunks - 1) / RoundTrip::kChunks * kThreads;
  for (int i = 0; i * chunk < p.n; ++i) {
    p.go(i * chunk, std::min(chunk, p.n - i * chunk), p.streams[i]);
  }
}

// Rows of one block each. The size is the number of rows.
struct Rows : warpgauge::Problem {
  static constexpr int kSteps = 4096;
  const int rows;
  warpgauge::InOut<std::uint32_t> x;
  Streams streams;

  explicit Rows(const warpgauge::Size& size)
      : rows(static_cast<int>(size[0])), x(*this, rows * kThreads) {}
  void prepare() override { streams.make(rows); }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(x, advanced(x.initial(), kSteps));
  }
  void go(int row, cudaStream_t stream) { launch(x + row * kThreads, kThreads, kSteps, stream); }
};

WARPGAUGE_FAMILY(overlap) {
  const auto trips =
      family.problem<RoundTrip>("u32", {{65536}, {100003}, warpgauge::large({16777216})})
          .sizes_between({1}, {16777216})
          .relative_to("whole");
  trips.variant("whole", [](RoundTrip& p) { p.go(0, p.n, nullptr); });
  trips.variant("chunks_in_streams", chunks_in_streams);
  const auto rows =
      family.problem<Rows>("u32", {{16}}).sizes_between({1}, {64}).relative_to("one_after_other");
  rows.variant("one_after_other", [](Rows& p) {
    for (int row = 0; row < p.rows; ++row) p.go(row, nullptr);
  });
  rows.variant("side_by_side", [](Rows& p) {
    for (int row = 0; row < p.rows; ++row) p.go(row, p.streams[row]);
  });
}

}  // namespace overlap
