// Every shape, type and layout of wmma, with matrices in global, shared and generic memory. Prints
// for each form the words of the fragments and of the results, as tests/gpu/compare_wmma.py reads
// them: "FORM MATRIX WORD...". `exact` results are of small integers, `rounded` ones of fractions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace wmma_forms {

namespace wmma = nvcuda::wmma;
using wmma::col_major;
using wmma::row_major;
using wmma::experimental::precision::b1;
using wmma::experimental::precision::s4;
using wmma::experimental::precision::u4;
using wmma::precision::tf32;

enum class Space { global, shared, generic };
constexpr const char* kSpaces[] = {"global", "shared", "generic"};
constexpr int kBytes = 6144;  // of a matrix
constexpr int kWords = kBytes / 4;

// The type in memory of a type of elements, and the bits of an element.
template <typename T>
struct Stored {
  using Type = T;
  static constexpr int kBits = 8 * sizeof(T);
};
template <>
struct Stored<tf32> {
  using Type = float;
  static constexpr int kBits = 32;
};
template <int bits>
struct Packed {
  using Type = std::uint32_t;
  static constexpr int kBits = bits;
};
template <>
struct Stored<s4> : Packed<4> {};
template <>
struct Stored<u4> : Packed<4> {};
template <>
struct Stored<b1> : Packed<1> {};

// Elements from line to line: at least as many as any side, and a multiple of 16 bytes.
template <typename T>
constexpr int kStride = Stored<T>::kBits < 8 ? 256 : 48;
constexpr int kSumStride = 40;

template <typename A, typename C, typename D, int m, int n, int k, typename LayoutA,
          typename LayoutB, bool sums_by_rows>
struct Form {
  using Element = A;
  using Left = wmma::fragment<wmma::matrix_a, m, n, k, A, LayoutA>;
  using Right = wmma::fragment<wmma::matrix_b, m, n, k, A, LayoutB>;
  using Sums = wmma::fragment<wmma::accumulator, m, n, k, C>;
  using Results = wmma::fragment<wmma::accumulator, m, n, k, D>;
  using Factor = typename Stored<A>::Type;
  using Sum = C;
  using Result = D;
  static constexpr wmma::layout_t kLayout =
      sums_by_rows ? wmma::mem_row_major : wmma::mem_col_major;
  static std::string name() {
    const auto letter = [](bool by_rows) { return by_rows ? "r" : "c"; };
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k) + "." +
           letter(std::is_same_v<LayoutA, row_major>) + letter(std::is_same_v<LayoutB, row_major>) +
           letter(sums_by_rows);
  }
};

struct Pointers {
  const void *a, *b, *c;
  void* d;
};

template <Space space>
__device__ void* placed(const void* global, const void* generic, unsigned* tile) {
  if constexpr (space == Space::shared) {
    for (int i = threadIdx.x; i < kWords; i += 32)
      tile[i] = static_cast<const unsigned*>(global)[i];
    __syncwarp();
    return tile;
  } else {
    return const_cast<void*>(space == Space::generic ? generic : global);
  }
}

template <typename Fragment>
__device__ void keep(unsigned* words, const Fragment& fragment) {
  unsigned raw[sizeof(fragment.x) / 4];
  memcpy(raw, &fragment.x, sizeof(fragment.x));
  for (unsigned i = 0; i < sizeof(fragment.x) / 4; ++i) words[i * 32 + threadIdx.x] = raw[i];
}

// `pointers` in memory are to what the parameters are to, so that their space is not known.
template <typename F, Space space>
__global__ void product(const void* a, const void* b, const void* c, void* d, unsigned* fragments,
                        const Pointers* pointers) {
  __shared__ alignas(128) unsigned tiles[4][kWords];
  const Pointers any = space == Space::generic ? *pointers : Pointers{};
  typename F::Left left;
  typename F::Right right;
  typename F::Sums sums;
  typename F::Results results;
  const auto* const from_a =
      static_cast<const typename F::Factor*>(placed<space>(a, any.a, tiles[0]));
  const auto* const from_b =
      static_cast<const typename F::Factor*>(placed<space>(b, any.b, tiles[1]));
  const auto* const from_c = static_cast<const typename F::Sum*>(placed<space>(c, any.c, tiles[2]));
  auto* const to = static_cast<typename F::Result*>(placed<space>(d, any.d, tiles[3]));
  wmma::load_matrix_sync(left, from_a, kStride<typename F::Element>);
  wmma::load_matrix_sync(right, from_b, kStride<typename F::Element>);
  wmma::load_matrix_sync(sums, from_c, kSumStride, F::kLayout);
  if constexpr (std::is_same_v<typename F::Element, b1>) {
    wmma::bmma_sync(results, left, right, sums, wmma::experimental::bmmaBitOpAND);
  } else {
    wmma::mma_sync(results, left, right, sums);
  }
  wmma::store_matrix_sync(to, results, kSumStride, F::kLayout);
  if constexpr (space == Space::shared) {
    __syncwarp();
    for (int i = threadIdx.x; i < kWords; i += 32) static_cast<unsigned*>(d)[i] = tiles[3][i];
  }
  keep(fragments, left);
  keep(fragments + 32 * 16, right);
  keep(fragments + 32 * 32, sums);
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "wmma: %s\n", cudaGetErrorString(error));
  std::exit(2);
}

// Integers from -4 to 4, or fractions of magnitude below 1; bits of any value where elements are
// integers.
template <typename T>
std::vector<unsigned> numbers(bool fractions, int seed) {
  std::mt19937 random(seed);
  std::vector<unsigned> words(kWords);
  if constexpr (std::is_integral_v<T>) {
    for (unsigned& word : words) word = random();
  } else {
    std::vector<T> values(kBytes / sizeof(T));
    for (T& value : values) {
      const int number = static_cast<int>(random() % 9) - 4;
      const float fraction = static_cast<float>(static_cast<int>(random() >> 8) - (1 << 23));
      value = static_cast<T>(fractions ? fraction * 0x1p-23f : static_cast<float>(number));
    }
    std::memcpy(words.data(), values.data(), kBytes);
  }
  return words;
}

struct Buffers {
  unsigned *a, *b, *c, *d, *fragments;
  Pointers* pointers;
};

void print(const std::string& form, const char* matrix, const unsigned* words, std::size_t count) {
  std::printf("%s %s", form.c_str(), matrix);
  for (std::size_t i = 0; i < count; ++i) std::printf(" %08x", words[i]);
  std::printf("\n");
}

template <typename F, Space space>
void run(const std::string& types, const Buffers& buffers) {
  const std::string form = types + "." + F::name() + "." + kSpaces[static_cast<int>(space)];
  for (const bool fractions : {false, true}) {
    const auto copy = [](unsigned* to, const std::vector<unsigned>& from) {
      check(cudaMemcpy(to, from.data(), kBytes, cudaMemcpyHostToDevice));
    };
    copy(buffers.a, numbers<typename F::Factor>(fractions, 1));
    copy(buffers.b, numbers<typename F::Factor>(fractions, 2));
    copy(buffers.c, numbers<typename F::Sum>(fractions, 3));
    check(cudaMemset(buffers.d, 0, kBytes));
    product<F, space><<<1, 32>>>(buffers.a, buffers.b, buffers.c, buffers.d, buffers.fragments,
                                 buffers.pointers);
    std::vector<unsigned> results(kWords), fragments(32 * 48);
    check(cudaMemcpy(results.data(), buffers.d, kBytes, cudaMemcpyDeviceToHost));
    print(form, fractions ? "rounded" : "exact", results.data(), results.size());
    if (fractions) continue;
    check(cudaMemcpy(fragments.data(), buffers.fragments, 32 * 48 * 4, cudaMemcpyDeviceToHost));
    print(form, "a", &fragments[0], 32 * sizeof(F::Left::x) / 4);
    print(form, "b", &fragments[32 * 16], 32 * sizeof(F::Right::x) / 4);
    print(form, "c", &fragments[32 * 32], 32 * sizeof(F::Sums::x) / 4);
  }
}

template <typename F>
void in_all_spaces(const std::string& types, const Buffers& buffers) {
  run<F, Space::global>(types, buffers);
  run<F, Space::shared>(types, buffers);
  run<F, Space::generic>(types, buffers);
}

template <typename A, typename C, typename D, int m, int n, int k>
void in_all_layouts(const std::string& types, const Buffers& buffers) {
  in_all_spaces<Form<A, C, D, m, n, k, row_major, col_major, true>>(types, buffers);
  in_all_spaces<Form<A, C, D, m, n, k, row_major, col_major, false>>(types, buffers);
  if constexpr (Stored<A>::kBits >= 8) {
    in_all_spaces<Form<A, C, D, m, n, k, col_major, row_major, true>>(types, buffers);
  }
}

template <typename A, typename C, typename D>
void in_all_shapes(const std::string& types, const Buffers& buffers) {
  in_all_layouts<A, C, D, 16, 16, 16>(types, buffers);
  in_all_layouts<A, C, D, 32, 8, 16>(types, buffers);
  in_all_layouts<A, C, D, 8, 32, 16>(types, buffers);
}

}  // namespace wmma_forms

int main() {
  using namespace wmma_forms;
  Buffers buffers;
  for (unsigned** const buffer : {&buffers.a, &buffers.b, &buffers.c, &buffers.d}) {
    check(cudaMalloc(buffer, kBytes));
  }
  check(cudaMalloc(&buffers.fragments, 32 * 48 * 4));
  check(cudaMemset(buffers.fragments, 0, 32 * 48 * 4));
  check(cudaMalloc(&buffers.pointers, sizeof(Pointers)));
  const Pointers pointers{buffers.a, buffers.b, buffers.c, buffers.d};
  check(cudaMemcpy(buffers.pointers, &pointers, sizeof pointers, cudaMemcpyHostToDevice));
  in_all_shapes<half, half, half>("f16.f16.f16", buffers);
  in_all_shapes<half, float, float>("f16.f32.f32", buffers);
  in_all_shapes<half, float, half>("f16.f32.f16", buffers);
  in_all_shapes<half, half, float>("f16.f16.f32", buffers);
  in_all_shapes<__nv_bfloat16, float, float>("bf16.f32.f32", buffers);
  in_all_shapes<signed char, int, int>("s8.s32.s32", buffers);
  in_all_shapes<unsigned char, int, int>("u8.s32.s32", buffers);
  in_all_layouts<tf32, float, float, 16, 16, 8>("tf32.f32.f32", buffers);
  in_all_layouts<double, double, double, 8, 8, 4>("f64.f64.f64", buffers);
  in_all_layouts<s4, int, int, 8, 8, 32>("s4.s32.s32", buffers);
  in_all_layouts<u4, int, int, 8, 8, 32>("u4.s32.s32", buffers);
  in_all_layouts<b1, int, int, 8, 8, 128>("b1.s32.s32", buffers);
}
