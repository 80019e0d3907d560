// Sums of the segments of a vector, of which one is much longer than the others: blocks of unequal
// work, and the same work in equal pieces.
//
// A block keeps its place on a multiprocessor until its last thread ends, and a grid ends with its
// last block. No count shows that some wait, only time does (time.relative_to).
//   thread_a_segment  a segment a thread: the lanes of a warp stay until the longest is through,
//                     and the warps of its block hold their place. Besides, lanes are a segment
//                     apart (global.excess_sectors)
//   longest_last      a segment a block, the longest in the last one: when all others have ended,
//                     one multiprocessor works and the others have nothing to do
//   longest_first     the same blocks in the other order: short ones run beside the long one
//   even_pieces       a piece a block, of equal size at most: a long segment is many pieces, and
//                     atomics add up their sums
// The last three run the same kernel over different lists, and load every word once.
#include "warpgauge/warpgauge.h"

namespace uneven_load {

constexpr int kThreads = 128;
constexpr int kWarp = 32;
constexpr int kShort = 96;   // words of a short segment: whole sectors, 3 warps
constexpr int kPiece = 256;  // words of a piece at most

// Words [begin, end) belong to `segment`, for each block of a launch.
struct List {
  std::vector<int> begin, end, segment;
  void add(int from, int to, int of) {
    begin.push_back(from);
    end.push_back(to);
    segment.push_back(of);
  }
  int count() const { return static_cast<int>(begin.size()); }
};

// All segments as they lie: short ones, and then the long one.
List segments(int count, int words_of_long) {
  List list;
  for (int i = 0; i < count - 1; ++i) list.add(i * kShort, (i + 1) * kShort, i);
  const int first = (count - 1) * kShort;
  list.add(first, first + words_of_long, count - 1);
  return list;
}

List reversed(const List& list) {
  List turned;
  for (int i = list.count() - 1; i >= 0; --i) {
    turned.add(list.begin[i], list.end[i], list.segment[i]);
  }
  return turned;
}

List pieces(const List& list) {
  List cut;
  for (int i = 0; i < list.count(); ++i) {
    for (int from = list.begin[i]; from < list.end[i]; from += kPiece) {
      const int to = list.end[i] - from < kPiece ? list.end[i] : from + kPiece;
      cut.add(from, to, list.segment[i]);
    }
  }
  return cut;
}

// The size is segments x words of the long one.
struct SegmentSums : warpgauge::Problem {
  const List list;  // what a block or a thread takes
  warpgauge::Input<int> words;
  warpgauge::Input<int> begin, end, segment;
  warpgauge::InOut<int> sums;

  SegmentSums(const warpgauge::Size& size, const List& list)
      : list(list),
        words(*this, (size[0] - 1) * kShort + size[1]),
        begin(*this, list.begin),
        end(*this, list.end),
        segment(*this, list.segment),
        sums(*this, std::vector<int>(size[0], 0)) {}
  /// The words and the sums; how the work is divided is the solution's own affair.
  double bytes() const override { return sizeof(int) * double(words.count() + sums.count()); }
  // CPU reference. In unsigned arithmetic, which wraps around like the GPU's.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<int> expected(sums.count(), 0);
    for (std::size_t i = 0; i < words.count(); ++i) {
      const std::size_t of = i / kShort < sums.count() ? i / kShort : sums.count() - 1;
      expected[of] = static_cast<int>(static_cast<unsigned>(expected[of]) +
                                      static_cast<unsigned>(words.host()[i]));
    }
    comparison.equal(sums, expected);
  }
};

List segments(const warpgauge::Size& size) {
  return segments(static_cast<int>(size[0]), static_cast<int>(size[1]));
}

struct LongestLast : SegmentSums {
  explicit LongestLast(const warpgauge::Size& size) : SegmentSums(size, segments(size)) {}
};
struct LongestFirst : SegmentSums {
  explicit LongestFirst(const warpgauge::Size& size)
      : SegmentSums(size, reversed(segments(size))) {}
};
struct EvenPieces : SegmentSums {
  explicit EvenPieces(const warpgauge::Size& size) : SegmentSums(size, pieces(segments(size))) {}
};

__global__ void thread_a_segment(int* sums, const int* words, const int* begin, const int* end,
                                 int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  int sum = 0;
  for (int k = begin[i]; k < end[i]; ++k) sum += words[k];
  sums[i] = sum;
}

// A block adds up one entry of the list, and its warps add their parts to the segment's sum.
__global__ void block_an_entry(int* sums, const int* words, const int* begin, const int* end,
                               const int* segment) {
  const int last = end[blockIdx.x];
  int sum = 0;
  for (int k = begin[blockIdx.x] + threadIdx.x; k < last; k += kThreads) sum += words[k];
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % kWarp == 0) atomicAdd(&sums[segment[blockIdx.x]], sum);
}

void launch_threads(SegmentSums& p) {
  const int count = p.list.count();
  thread_a_segment<<<(count + kThreads - 1) / kThreads, kThreads>>>(p.sums, p.words, p.begin, p.end,
                                                                    count);
}

void launch_blocks(SegmentSums& p) {
  block_an_entry<<<p.list.count(), kThreads>>>(p.sums, p.words, p.begin, p.end, p.segment);
}

WARPGAUGE_FAMILY(uneven_load) {
  // The long segment ends with half a warp; at the large size with whole warps.
  const std::vector<warpgauge::Size> sizes = {{1000, 50000}, warpgauge::large({200000, 1000000})};
  family.problem<LongestLast>("i32", sizes)
      .sizes_between({1, 1}, {200000, 1000000})
      .variant("longest_last", launch_blocks);
  family.problem<LongestLast>("i32", sizes)
      .sizes_between({1, 1}, {200000, 1000000})
      .relative_to("longest_last")
      .variant("thread_a_segment", launch_threads);
  family.problem<LongestFirst>("i32", sizes)
      .sizes_between({1, 1}, {200000, 1000000})
      .relative_to("longest_last")
      .variant("longest_first", launch_blocks);
  family.problem<EvenPieces>("i32", sizes)
      .sizes_between({1, 1}, {200000, 1000000})
      .relative_to("longest_last")
      .variant("even_pieces", launch_blocks);
}

}  // namespace uneven_load
