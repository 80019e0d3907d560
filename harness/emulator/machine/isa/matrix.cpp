// Matrix products and transpositions in registers.
//
// How the hardware rounds between the products is not documented. Here products are exact and are
// summed in double precision, in the order of k, beginning with C; the sum is rounded once.
// Products of f64 are fused one after the other.
#include "harness/emulator/machine/isa/matrix.h"

#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/isa/halves.h"
#include "harness/emulator/machine/isa/isa.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using Element = MatrixElement;

constexpr int kColumns = 8;
constexpr int kMostRows = 16;
constexpr int kMostDepth = 32;

template <typename T>
const T* vector(const Warp& warp, Slot slot) {
  return reinterpret_cast<const T*>(warp.bases[slot.base] + slot.offset);
}

template <Element kElement>
WARPGAUGE_INLINE auto element(u32 bits) {
  if constexpr (kElement == Element::f16)
    return static_cast<double>(widen(Half{static_cast<u16>(bits)}));
  if constexpr (kElement == Element::bf16)
    return static_cast<double>(widen(BFloat{static_cast<u16>(bits)}));
  if constexpr (kElement == Element::tf32)
    return static_cast<double>(bits_as<float>(bits & 0xffffe000));
  if constexpr (kElement == Element::e4m3)
    return static_cast<double>(widen(Half{half_of_e4m3(static_cast<u8>(bits))}));
  if constexpr (kElement == Element::e5m2)
    return static_cast<double>(widen(Half{half_of_e5m2(static_cast<u8>(bits))}));
  if constexpr (kElement == Element::s8) return s32{static_cast<s8>(bits)};
  if constexpr (kElement == Element::u8) return static_cast<s32>(bits & 0xff);
}

/// Writes the rows of a matrix whose fragments lie in `slots`: row r begins at to[r]. The elements
/// that four neighbouring lanes have in a register are next to each other. B is read as its
/// transpose: columns are rows then.
template <Element kElement, typename T, int kStride>
WARPGAUGE_INLINE void gather(const Warp& warp, const Slot* slots, int rows, int depth,
                             T (*to)[kStride]) {
  constexpr int kPerRegister = elements_per_register(kElement);
  constexpr int kRun = 4 * kPerRegister;
  const int row_blocks = rows / 8;
  for (int r = 0; r < row_blocks * (depth / kRun); ++r) {
    alignas(64) T values[kLanes * kPerRegister];
    if constexpr (kElement == Element::f64) {
      __builtin_memcpy(values, vector<double>(warp, slots[r]), sizeof values);
    } else {
      using Part = typename Bits<4 / kPerRegister>::Unsigned;
      typedef Part Aliased __attribute__((may_alias));
      const Aliased* const parts = vector<Aliased>(warp, slots[r]);
      for (int i = 0; i < kLanes * kPerRegister; ++i) values[i] = element<kElement>(parts[i]);
    }
    for (int g = 0; g < 8; ++g) {
      __builtin_memcpy(&to[g + 8 * (r % row_blocks)][kRun * (r / row_blocks)], values + g * kRun,
                       kRun * sizeof(T));
    }
  }
}

/// Row of accumulator `n` of a lane (of two columns each for a pair of them), and its column.
WARPGAUGE_INLINE int accumulator_row(int lane, int n) { return lane / 4 + 8 * (n / 2); }
WARPGAUGE_INLINE int accumulator_column(int lane, int n) { return lane % 4 * 2 + n % 2; }

/// Calls visit(register, lane, part of it, row, column) for each accumulator; two halves share a
/// register.
template <typename T, typename Visit>
WARPGAUGE_INLINE void each_accumulator(int rows, Visit visit) {
  constexpr int kPerRegister = kSame<T, Half> ? 2 : 1;
  for (int n = 0; n < rows / 4; ++n) {
    for (int lane = 0; lane < kLanes; ++lane) {
      visit(n / kPerRegister, lane * kPerRegister + n % kPerRegister, lane,
            accumulator_row(lane, n), accumulator_column(lane, n));
    }
  }
}

template <typename T>
WARPGAUGE_INLINE auto accumulated(T value) {
  if constexpr (kSame<T, s32>) {
    return s64{value};
  } else {
    return static_cast<double>(widen(value));
  }
}
template <typename T>
WARPGAUGE_INLINE T rounded(double sum) {
  if constexpr (kSame<T, Half>) {
    return round_to_half(to_odd(sum));
  } else {
    return canonical(static_cast<T>(sum));
  }
}
template <typename T>
WARPGAUGE_INLINE T wrapped(s64 sum, bool saturate) {
  constexpr s64 kMost = 0x7fffffff;
  const s64 bounded = sum > kMost ? kMost : sum < -kMost - 1 ? -kMost - 1 : sum;
  return static_cast<T>(saturate ? bounded : sum);
}

template <Element kA, Element kB, typename T>
void multiply(Warp& warp, const Instruction& instruction) {
  const Mask lanes = control::present_lanes(warp, instruction);
  if (lanes == 0) return;
  const auto& product = *static_cast<const MatrixProduct*>(instruction.detail);
  using Factor = Choose<kSame<T, s32>, s32, double>;
  using Sum = Choose<kSame<T, s32>, s64, double>;
  alignas(64) Factor a[kMostRows][kMostDepth];
  alignas(64) Factor columns[kColumns][kMostDepth];
  alignas(64) Sum sums[kMostRows][kColumns];
  gather<kA>(warp, product.a, product.m, product.k, a);
  gather<kB>(warp, product.b, kColumns, product.k, columns);
  each_accumulator<T>(product.m, [&](int r, int place, int, int row, int column) {
    sums[row][column] = accumulated(vector<T>(warp, product.c[r])[place]);
  });
  // Neighbouring columns of B, of the products and of the sums are vectors.
  typedef Sum Vector __attribute__((vector_size(kVectorBytes), may_alias));
  constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(Sum));
  for (int first = 0; first < kColumns; first += kWidth) {
    Vector b[kMostDepth];
    for (int k = 0; k < product.k; ++k) {
      for (int n = 0; n < kWidth; ++n) b[k][n] = columns[first + n][k];
    }
    for (int row = 0; row < product.m; ++row) {
      Vector& result = *reinterpret_cast<Vector*>(&sums[row][first]);
      Vector sum = result;
      for (int k = 0; k < product.k; ++k) {
        if constexpr (kSame<T, double>) {
          for (int n = 0; n < kWidth; ++n) sum[n] = __builtin_fma(a[row][k], b[k][n], sum[n]);
        } else {
          sum += static_cast<Sum>(a[row][k]) * b[k];
        }
      }
      result = sum;
    }
  }
  each_accumulator<T>(product.m, [&](int r, int place, int lane, int row, int column) {
    if ((lanes >> lane & 1) == 0) return;
    T* const d = reinterpret_cast<T*>(warp.bases[Slot::frame] + product.d[r].offset);
    if constexpr (kSame<T, s32>) {
      d[place] = wrapped<T>(sums[row][column], product.saturate);
    } else {
      d[place] = rounded<T>(sums[row][column]);
    }
  });
}

/// movmatrix: an 8 x 8 matrix of 16-bit elements, two of a row in each lane.
void transpose(Warp& warp, const Instruction& instruction) {
  const Mask lanes = control::present_lanes(warp, instruction);
  if (lanes == 0) return;
  const u16* const a = source<u16>(warp, instruction, 0);
  alignas(64) u16 transposed[2 * kLanes];
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) transposed[row * 8 + column] = a[column * 8 + row];
  }
  blend<u16, 2>(destination<u16>(warp, instruction), transposed, lanes);
}

}  // namespace

Execute matrix_handler(const MatrixKey& key) {
  using ptx::Type;
  if (key.op == MatrixKey::Op::transpose) return transpose;
  const auto is = [&](Element a, Element b, Type accumulator) {
    return key.a == a && key.b == b && key.accumulator == accumulator;
  };
  if (is(Element::f16, Element::f16, Type::f32)) return multiply<Element::f16, Element::f16, float>;
  if (is(Element::f16, Element::f16, Type::f16)) return multiply<Element::f16, Element::f16, Half>;
  if (is(Element::bf16, Element::bf16, Type::f32))
    return multiply<Element::bf16, Element::bf16, float>;
  if (is(Element::tf32, Element::tf32, Type::f32))
    return multiply<Element::tf32, Element::tf32, float>;
  if (is(Element::f64, Element::f64, Type::f64))
    return multiply<Element::f64, Element::f64, double>;
  if (is(Element::s8, Element::s8, Type::s32)) return multiply<Element::s8, Element::s8, s32>;
  if (is(Element::s8, Element::u8, Type::s32)) return multiply<Element::s8, Element::u8, s32>;
  if (is(Element::u8, Element::s8, Type::s32)) return multiply<Element::u8, Element::s8, s32>;
  if (is(Element::u8, Element::u8, Type::s32)) return multiply<Element::u8, Element::u8, s32>;
  if (is(Element::e4m3, Element::e4m3, Type::f32))
    return multiply<Element::e4m3, Element::e4m3, float>;
  if (is(Element::e4m3, Element::e5m2, Type::f32))
    return multiply<Element::e4m3, Element::e5m2, float>;
  if (is(Element::e5m2, Element::e4m3, Type::f32))
    return multiply<Element::e5m2, Element::e4m3, float>;
  if (is(Element::e5m2, Element::e5m2, Type::f32))
    return multiply<Element::e5m2, Element::e5m2, float>;
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
