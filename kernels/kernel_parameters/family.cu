// A polynomial of many coefficients, evaluated for each element modulo 2^32, where the coefficients
// are a parameter of the kernel.
//
// Parameters lie in the constant bank of the kernel (constant.bytes). A structure
// passed by value comes with the launch and costs no global load: each warp makes one load, that
// of its elements (global.load.requests). `by_pointer` makes one more for each coefficient. All
// lanes read the same coefficient at a time, which is what the constant bank is good at.
// Portable kernels have 4096 bytes of parameters. From compute capability 7.0 on CUDA allows 32764,
// and nvcc refuses more ("Formal parameter space overflowed", tests/kernels). `large_by_value` has
// 16384, `larger_by_value` 24576, and `largest_by_value` 31744. Beyond 32240 optimised code of nvcc
// 13.0 is wrong on sm_90: tests/kernels/large_parameters.cu shows how.
// `changed` writes to its parameter. Constants cannot be written to, so each thread gets a copy in
// local memory (stack.bytes, local.sectors). Cure: keep what changes in variables of your own.
#include "warpgauge/warpgauge.h"

namespace kernel_parameters {

using Word = unsigned;
constexpr int kThreads = 256;

// Every kernel takes two pointers and a number besides the coefficients.
constexpr int kOtherBytes = 2 * sizeof(void*) + sizeof(int);
constexpr int words_of(int parameter_bytes) { return (parameter_bytes - kOtherBytes) / 4; }
constexpr int kPortableWords = words_of(4096);
constexpr int kFewWords = 16;  // for `changed`, whose copies cost enough as it is

template <int kWords>
struct Coefficients {
  // Coefficients of x^0, x^1, ...; aligned, if possible, so that a copy moves four words at a time.
  alignas(kWords % 4 == 0 ? 16 : 4) Word c[kWords];
};
static_assert(sizeof(Coefficients<kPortableWords>) + kOtherBytes == 4096);

// CPU reference, by Horner's rule. Unsigned arithmetic wraps around in the same way everywhere.
template <int kWords>
std::vector<Word> polynomial(const Coefficients<kWords>& of, const std::vector<Word>& x) {
  std::vector<Word> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (int k = kWords - 1; k >= 0; --k) y[i] = y[i] * x[i] + of.c[k];
  }
  return y;
}

template <int kWords>
struct Polynomial : warpgauge::Problem {
  const int n;
  Coefficients<kWords> coefficients;
  warpgauge::Input<Word> on_device;  // the same coefficients, which only `by_pointer` moves
  warpgauge::Input<Word> x;
  warpgauge::Output<Word> y;

  explicit Polynomial(const warpgauge::Size& size)
      : n(static_cast<int>(size[0])),
        on_device(*this, warpgauge::random_values<Word>(kWords, 2)),
        x(*this, n, 1),
        y(*this, n) {
    for (int k = 0; k < kWords; ++k) coefficients.c[k] = on_device.host()[k];
  }
  double bytes() const override { return x.traffic() + y.traffic(); }
  double flops() const override { return 2.0 * kWords * n; }
  int blocks() const { return (n + kThreads - 1) / kThreads; }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(y, polynomial(coefficients, x.host()));
  }
};

using Few = Polynomial<kFewWords>;
using Portable = Polynomial<kPortableWords>;

// The coefficients lie in global memory: a request for each, though of a single sector.
template <int kWords>
__global__ void by_pointer(Word* y, const Word* x, const Word* coefficients, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Word own = x[i];
  Word value = 0;
  for (int k = kWords - 1; k >= 0; --k) value = value * own + coefficients[k];
  y[i] = value;
}

template <int kWords>
__global__ void by_value(Word* y, const Word* x, int n, Coefficients<kWords> of) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Word own = x[i];
  Word value = 0;
  for (int k = kWords - 1; k >= 0; --k) value = value * own + of.c[k];
  y[i] = value;
}

// Adds the element to one coefficient and takes it away again from the result: the same polynomial,
// but a word of the structure that is known only at run time is written to.
__global__ void changed(Word* y, const Word* x, int n, Coefficients<kFewWords> of) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Word own = x[i];
  of.c[i % kFewWords] += own;
  Word value = 0, power = 1, added = 0;
  // Not unrolled, or the compiler would find registers for so few words, and so many comparisons.
#pragma unroll 1
  for (int k = 0; k < kFewWords; ++k) {
    value += of.c[k] * power;
    if (k == i % kFewWords) added = own * power;
    power *= own;
  }
  y[i] = value - added;
}

template <int kBytes>
void add_large(const warpgauge::Family& family, const char* variant) {
  using Many = Polynomial<words_of(kBytes)>;
  static_assert(sizeof(Coefficients<words_of(kBytes)>) + kOtherBytes == kBytes);
  family.problem<Many>("u32", {{2048}}).sizes_between({1}, {65536}).variant(variant, [](Many& p) {
    by_value<<<p.blocks(), kThreads>>>(p.y, p.x, p.n, p.coefficients);
  });
}

WARPGAUGE_FAMILY(kernel_parameters) {
  const std::vector<warpgauge::Size> sizes = {{2048}, {1000}};
  const auto u32 = family.problem<Portable>("u32", sizes).sizes_between({1}, {65536});
  u32.variant("by_pointer", [](Portable& p) {
    by_pointer<kPortableWords><<<p.blocks(), kThreads>>>(p.y, p.x, p.on_device, p.n);
  });
  u32.variant("by_value", [](Portable& p) {
    by_value<<<p.blocks(), kThreads>>>(p.y, p.x, p.n, p.coefficients);
  });
  family.problem<Few>("u32", sizes).sizes_between({1}, {65536}).variant("changed", [](Few& p) {
    changed<<<p.blocks(), kThreads>>>(p.y, p.x, p.n, p.coefficients);
  });
  add_large<16384>(family, "large_by_value");
  add_large<24576>(family, "larger_by_value");
  add_large<31744>(family, "largest_by_value");
}

}  // namespace kernel_parameters
