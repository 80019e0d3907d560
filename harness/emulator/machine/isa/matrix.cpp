// Matrix products and transpositions in registers.
//
// How the hardware rounds between the products is not documented. Here products are exact and are
// summed in double precision, in the order of k, beginning with C; the sum is rounded once (of TF32
// in wmma.mma, which the machine code makes of two instructions, twice). Products of f64 are fused
// one after the other.
#include "harness/emulator/machine/isa/matrix.h"

#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/isa/halves.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/isa/matrix_accumulators.h"
#include "harness/emulator/machine/isa/matrix_families.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using Element = MatrixElement;

constexpr int most_depth(Element element) { return element == Element::b1 ? 128 : 32; }

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
  if constexpr (kElement == Element::s4) return static_cast<s32>(bits << 28) >> 28;
  if constexpr (kElement == Element::u4) return static_cast<s32>(bits & 0xf);
  if constexpr (kElement == Element::b1) return static_cast<s32>(bits & 1);
}

/// Writes the rows of a matrix whose fragments lie in `slots`: row r begins at to[r]. The elements
/// that four neighbouring lanes have in a register are next to each other. B is read as its
/// transpose: columns are rows then.
template <Element kElement, typename T, int kStride>
WARPGAUGE_INLINE void gather(const Warp& warp, const OperandSlot* slots, int rows, int depth,
                             T (*to)[kStride]) {
  constexpr int kPerRegister = elements_per_register(kElement);
  constexpr int kRun = 4 * kPerRegister;
  const int row_blocks = rows / 8;
  for (int r = 0; r < row_blocks * (depth / kRun); ++r) {
    alignas(64) T values[kLanes * kPerRegister];
    if constexpr (kElement == Element::f64) {
      __builtin_memcpy(values, vector<double>(warp, slots[r]), sizeof values);
    } else if constexpr (bits_of(kElement) < 8) {
      constexpr int kBits = bits_of(kElement);
      const u32* const words = vector<u32>(warp, slots[r]);
      for (int i = 0; i < kLanes * kPerRegister; ++i) {
        values[i] = element<kElement>(words[i / kPerRegister] >> i % kPerRegister * kBits);
      }
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

/// The registers of the accumulator of a product with `rows` rows.
template <typename T>
constexpr int registers_of_accumulator(int rows) {
  return rows / (kSame<T, Half> ? 8 : 4);
}

template <typename T>
WARPGAUGE_INLINE T wrapped(s64 sum, bool saturate) {
  constexpr s64 kMost = 0x7fffffff;
  const s64 bounded = sum > kMost ? kMost : sum < -kMost - 1 ? -kMost - 1 : sum;
  return static_cast<T>(saturate ? bounded : sum);
}

/// Adds the products of one part; Sum is what T is added up in.
template <MatrixKey::Op kOp, Element kA, Element kB, typename T, typename Sum>
WARPGAUGE_INLINE void add_products(const Warp& warp, const MatrixProduct& product, int part,
                                   Sum (*sums)[kColumns]) {
  constexpr int kMostDepth = most_depth(kA);
  using Factor = Choose<kSame<T, s32>, s32, double>;
  alignas(64) Factor a[kMostRows][kMostDepth];
  alignas(64) Factor columns[kColumns][kMostDepth];
  gather<kA>(warp, product.a + part * product.next_a, product.m, product.k, a);
  gather<kB>(warp, product.b + part * product.next_b, kColumns, product.k, columns);
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
        } else if constexpr (kOp == MatrixKey::Op::exclusive_or) {
          sum += static_cast<Sum>(a[row][k]) ^ b[k];
        } else {
          sum += static_cast<Sum>(a[row][k]) * b[k];
        }
        if constexpr (kA == Element::tf32) {
          if ((k + 1) % product.step != 0) continue;
          // Not one element after the other: GCC 12 leaves such conversions of a vector out.
          typedef T Rounded __attribute__((vector_size(kWidth * sizeof(T))));
          sum = __builtin_convertvector(__builtin_convertvector(sum, Rounded), Vector);
        }
      }
      result = sum;
    }
  }
}

template <MatrixKey::Op kOp, Element kA, Element kB, typename C, typename D>
void multiply(Warp& warp, const Instruction& instruction) {
  const Mask lanes = control::present_lanes(warp, instruction);
  if (lanes == 0) return;
  const auto& product = *static_cast<const MatrixProduct*>(instruction.detail);
  using T = Choose<kSame<C, D>, C, float>;
  using Sum = Choose<kSame<T, s32>, s64, double>;
  alignas(64) Sum sums[2][kMostRows][kColumns];
  for (int part = 0; part < product.parts; ++part) {
    const OperandSlot* const slots = product.c + part * registers_of_accumulator<C>(product.m);
    each_accumulator<C>(product.m, [&](int r, int place, int, int row, int column) {
      sums[part][row][column] = accumulated(vector<C>(warp, slots[r])[place]);
    });
    add_products<kOp, kA, kB, T>(warp, product, part, sums[part]);
  }
  for (int part = 0; part < product.parts; ++part) {  // D may be any of the registers read
    const OperandSlot* const slots = product.d + part * registers_of_accumulator<D>(product.m);
    each_accumulator<D>(product.m, [&](int r, int place, int lane, int row, int column) {
      if ((lanes >> lane & 1) == 0) return;
      D* const d = reinterpret_cast<D*>(warp.bases[OperandSlot::frame] + slots[r].offset);
      const Sum sum = sums[part][row][column];
      if constexpr (kSame<T, s32>) {
        d[place] = wrapped<T>(sum, product.saturate);
      } else if constexpr (kSame<T, D>) {
        d[place] = rounded<T>(sum);
      } else {
        d[place] = rounded<D>(static_cast<double>(rounded<T>(sum)));
      }
    });
  }
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

namespace {

template <Element kA, Element kB, typename C, typename D = C>
constexpr Execute kMultiply = multiply<MatrixKey::Op::multiply, kA, kB, C, D>;

/// Integers of one width, signed or not.
template <Element kSigned, Element kUnsigned>
Execute integer_product(Element a, Element b) {
  if (a == kSigned && b == kSigned) return kMultiply<kSigned, kSigned, s32>;
  if (a == kSigned && b == kUnsigned) return kMultiply<kSigned, kUnsigned, s32>;
  if (a == kUnsigned && b == kSigned) return kMultiply<kUnsigned, kSigned, s32>;
  if (a == kUnsigned && b == kUnsigned) return kMultiply<kUnsigned, kUnsigned, s32>;
  return nullptr;
}

Execute product_with_integer_sums(const MatrixKey& key) {
  using Op = MatrixKey::Op;
  if (key.a == Element::b1 && key.b == Element::b1) {
    return key.op == Op::exclusive_or
               ? multiply<Op::exclusive_or, Element::b1, Element::b1, s32, s32>
               : kMultiply<Element::b1, Element::b1, s32>;
  }
  if (const Execute found = integer_product<Element::s8, Element::u8>(key.a, key.b)) return found;
  return integer_product<Element::s4, Element::u4>(key.a, key.b);
}

}  // namespace

Execute matrix_handler(const MatrixKey& key) {
  using ptx::Type;
  if (key.op == MatrixKey::Op::transpose) return transpose;
  if (key.op == MatrixKey::Op::multiply_tiles) return multiply_tiles;
  if (key.op == MatrixKey::Op::multiply_narrow) return narrow_product_handler(key.d);
  if (key.c == Type::s32 && key.d == Type::s32) return product_with_integer_sums(key);
  const auto is = [&](Element a, Element b, Type c, Type d) {
    return key.a == a && key.b == b && key.c == c && key.d == d;
  };
  using enum Element;
  if (is(f16, f16, Type::f32, Type::f32)) return kMultiply<f16, f16, float>;
  if (is(f16, f16, Type::f16, Type::f16)) return kMultiply<f16, f16, Half>;
  if (is(f16, f16, Type::f16, Type::f32)) return kMultiply<f16, f16, Half, float>;
  if (is(f16, f16, Type::f32, Type::f16)) return kMultiply<f16, f16, float, Half>;
  if (is(bf16, bf16, Type::f32, Type::f32)) return kMultiply<bf16, bf16, float>;
  if (is(tf32, tf32, Type::f32, Type::f32)) return kMultiply<tf32, tf32, float>;
  if (is(f64, f64, Type::f64, Type::f64)) return kMultiply<f64, f64, double>;
  if (is(e4m3, e4m3, Type::f32, Type::f32)) return kMultiply<e4m3, e4m3, float>;
  if (is(e4m3, e5m2, Type::f32, Type::f32)) return kMultiply<e4m3, e5m2, float>;
  if (is(e5m2, e4m3, Type::f32, Type::f32)) return kMultiply<e5m2, e4m3, float>;
  if (is(e5m2, e5m2, Type::f32, Type::f32)) return kMultiply<e5m2, e5m2, float>;
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
