// Reading fewer words of shared memory than there are lanes: the size of a case is the number of
// words, 1 to 32, that a warp reads.
//
// Lanes that read the same word of shared memory share it, so this never costs
// bank conflicts, and 4-byte words always come in one wavefront: from one word for all lanes (a
// broadcast) through any mixture (a multicast) to a word for each. Words of 8 and 16 bytes are
// served in groups of 16 and 8 lanes, 2 and 4 wavefronts. A pair of groups comes at once if lanes
// in pairs share their word, which halves the price (shared.wavefronts): `neighbours` gets that for
// any number of words but 32, `interleaved` for one and two only. In `some_lanes` most lanes share
// one word, and the pair of groups that mixes it with other words stays apart.
#include "warpgauge/warpgauge.h"

namespace broadcast {

constexpr int kWarp = 32;
constexpr int kThreads = 1024;

// The word that each lane of a warp reads when a warp reads `words` different ones.
using Pattern = int (*)(int lane, int words);

int neighbours(int lane, int words) { return lane * words / kWarp; }
int interleaved(int lane, int words) { return lane % words; }
int some_lanes(int lane, int words) { return lane <= kWarp - words ? 0 : lane; }

std::vector<int> words_of_lanes(Pattern pattern, int words) {
  std::vector<int> of_lane(kWarp);
  for (int lane = 0; lane < kWarp; ++lane) of_lane[lane] = pattern(lane, words);
  return of_lane;
}

// A word is one element, or several side by side (four floats in a float4). Each warp of the block
// reads the same words.
template <typename Word, typename Element, Pattern kPattern>
struct Read : warpgauge::Problem {
  static constexpr int kElements = sizeof(Word) / sizeof(Element);
  warpgauge::Input<int> word_of_lane;
  warpgauge::Input<Element> a;
  warpgauge::Output<Element> b;

  explicit Read(const warpgauge::Size& size)
      : word_of_lane(*this, words_of_lanes(kPattern, static_cast<int>(size[0]))),
        a(*this, kWarp * kElements),
        b(*this, kThreads * kElements) {}
  // CPU reference: looks each word up.
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<Element> expected(b.count());
    for (int i = 0; i < static_cast<int>(expected.size()); ++i) {
      const int word = word_of_lane.host()[i / kElements % kWarp];
      expected[i] = a.host()[word * kElements + i % kElements];
    }
    comparison.equal(b, expected);
  }
};

// One block of 32 warps makes 32 requests. Which word a lane reads comes from memory, so that one
// kernel serves all patterns and the compiler cannot specialise for one.
template <typename Word>
__global__ void read(Word* b, const Word* a, const int* word_of_lane) {
  __shared__ Word s[kWarp];
  const int t = threadIdx.x;
  if (t < kWarp) s[t] = a[t];
  const int word = word_of_lane[t % kWarp];
  __syncthreads();
  b[t] = s[word];
}

template <typename Word, typename Element, Pattern kPattern>
void add_variant(const warpgauge::Family& family, const char* type, const char* variant) {
  using Problem = Read<Word, Element, kPattern>;
  const std::vector<warpgauge::Size> words = {{1}, {2}, {4}, {8}, {16}, {32}};
  family.problem<Problem>(type, words).sizes_between({1}, {kWarp}).variant(variant, [](Problem& p) {
    Element* b = p.b;
    const Element* a = p.a;
    read<<<1, kThreads>>>(reinterpret_cast<Word*>(b), reinterpret_cast<const Word*>(a),
                          static_cast<const int*>(p.word_of_lane));
  });
}

template <typename Word, typename Element>
void add_variants(const warpgauge::Family& family, const char* type) {
  add_variant<Word, Element, neighbours>(family, type, "neighbours");
  add_variant<Word, Element, interleaved>(family, type, "interleaved");
  add_variant<Word, Element, some_lanes>(family, type, "some_lanes");
}

WARPGAUGE_FAMILY(broadcast) {
  add_variants<float, float>(family, "f32");
  add_variants<double, double>(family, "f64");
  add_variants<float4, float>(family, "f32x4");
}

}  // namespace broadcast
