// wgmma.mma_async: a warp's rows of the product of two tiles.
//
// Elements are widened to float, which makes their products exact; these are added in the order of
// k, beginning with D, and each sum is rounded. Where a GPU rounds is not documented. Sums of
// integers, of at most 32 products, are exact as float, too; D is added last.
#include "harness/emulator/machine/isa/wgmma_product.h"

#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/control/warpgroup.h"
#include "harness/emulator/machine/isa/matrix_families.h"
#include "harness/emulator/machine/isa/tile_elements.h"
#include "harness/emulator/machine/memory/matrix_tile.h"
#include "harness/emulator/machine/memory/whole_requests.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using Element = MatrixElement;
using memory::MatrixOperand;

constexpr int kRows = 16;          ///< a warp's
constexpr int kMostDepth = 32;     ///< elements of a row of A that are multiplied
constexpr int kMostDepthOfB = 64;  ///< twice as many if A is sparse
constexpr int kBlocks = 2;         ///< blocks of 8 columns that are made at a time
/// Rows that are made at a time: as many as registers hold the sums of.
constexpr int kRowsAtOnce = kVectorBytes == 16 ? 2 : 4;

/// The product that a warp executes.
struct Work {
  const Warp& warp;
  const Instruction& instruction;
  const WarpgroupProduct& product;
  memory::MatrixTile a, b;

  std::byte* registers(OperandSlot slot) const { return warp.bases[slot.base] + slot.offset; }
  void rows_of(MatrixOperand operand, u32 mn, u32 k, const std::byte** rows) const {
    const memory::MatrixTile& tile = operand == MatrixOperand::a ? a : b;
    const memory::MemoryContext& context = *warp.memory;
    if (!find_rows(tile, mn, k, context.shared, context.shared_bytes, rows)) [[unlikely]] {
      memory::refuse_tile(warp, instruction, operand, tile, mn, k);
    }
  }
  /// Rows of A in shared memory or in registers: each quad of lanes has 16 bytes of a row.
  void rows_of_a(u32 half, u32 k, const std::byte** rows) const {
    if (product.a_is_in_registers) {
      const std::byte* const from = registers(product.a[2 * k + half]);
      for (int row = 0; row < 8; ++row) rows[row] = from + kChunkBytes * row;
    } else {
      rows_of(MatrixOperand::a, 2 * (warp.engine->index % 4) + half, k, rows);
    }
  }
};

/// The rows of A, and which of B's rows their elements are multiplied with.
struct Left {
  alignas(64) float values[kRows][kMostDepth];
  u8 rows_of_b[kRows][kMostDepth];
};
/// Columns of B, 8 at a time.
struct Right {
  alignas(64) float values[kBlocks][kMostDepthOfB][kColumns];
};

template <Element kElement>
void widen_left(const Work& work, Left& left) {
  constexpr int kCount = elements_of_chunk(kElement);
  const std::byte* rows[8];
  for (u32 half = 0; half < 2; ++half) {
    for (u32 chunk = 0; chunk < 2; ++chunk) {
      if (bits_of(kElement) == 16 && work.product.a_is_m_major) {
        float values[8];
        work.rows_of(MatrixOperand::a, 2 * (work.warp.engine->index % 4) + half, chunk, rows);
        for (u32 k = 0; k < 8; ++k) {
          widen_chunk<kElement>(rows[k], values);
          for (u32 m = 0; m < 8; ++m) left.values[8 * half + m][8 * chunk + k] = values[m];
        }
      } else {
        work.rows_of_a(half, chunk, rows);
        for (u32 m = 0; m < 8; ++m) {
          widen_chunk<kElement>(rows[m], &left.values[8 * half + m][kCount * chunk]);
        }
      }
    }
  }
}

template <Element kElement>
void widen_right(const Work& work, u32 block, float (*to)[kColumns]) {
  const std::byte* rows[8];
  if constexpr (bits_of(kElement) == 16) {
    if (work.product.b_is_n_major) {
      const u32 depth = static_cast<u32>(work.product.bytes_of_column()) / 2;
      for (u32 k = 0; k < depth / 8; ++k) {
        work.rows_of(MatrixOperand::b, block, k, rows);
        widen_rows<kElement>(rows, to + 8 * k);
      }
      return;
    }
  }
  const u32 chunks = static_cast<u32>(work.product.bytes_of_column()) / kChunkBytes;
  for (u32 chunk = 0; chunk < chunks; ++chunk) {
    work.rows_of(MatrixOperand::b, block, chunk, rows);
    widen_columns<kElement>(rows, to + elements_of_chunk(kElement) * static_cast<int>(chunk));
  }
}

/// Calls visit.template operator()<element>().
template <typename Visit>
WARPGAUGE_INLINE void with_element(Element element, Visit visit) {
  switch (element) {
    case Element::f16:
      return visit.template operator()<Element::f16>();
    case Element::bf16:
      return visit.template operator()<Element::bf16>();
    case Element::tf32:
      return visit.template operator()<Element::tf32>();
    case Element::e4m3:
      return visit.template operator()<Element::e4m3>();
    case Element::e5m2:
      return visit.template operator()<Element::e5m2>();
    case Element::s8:
      return visit.template operator()<Element::s8>();
    default:
      return visit.template operator()<Element::u8>();
  }
}

/// The metadata of sparse rows: 4 bits for each 4 elements along k are the places of the two that
/// A has; of tf32 for each 2, whose one element is counted as two. 16-bit and wider elements have
/// 16 bits of row g and 16 of row g + 8 in lanes 4 g and 4 g + 1, or with selector 1 in the next
/// two; bytes have 32 bits of row g, then g + 8 in the lanes of a quad, then the further ones along
/// k.
void read_metadata(const Work& work, Left& left) {
  const u32* const lanes = reinterpret_cast<const u32*>(work.registers(work.product.metadata));
  const int bits = bits_of(work.product.a_element);
  for (int row = 0; row < kRows; ++row) {
    const u32* const quad = lanes + row % 8 * 4;
    u64 places = 0;
    if (bits == 8) {
      places = quad[row / 8] | u64{quad[row / 8 + 2]} << 32;
    } else {
      const u32* const pair = quad + 2 * work.product.selector;
      const int shift = 16 * (row / 8);
      places = (pair[0] >> shift & 0xffff) | (pair[1] >> shift & 0xffff) << 16;
    }
    const int depth = 256 / bits;
    for (int i = 0; i < depth; ++i) {
      // With tf32, both places of a group say the same: 2 p and 2 p + 1.
      const int place =
          static_cast<int>(places >> (bits == 32 ? 4 * i + 1 : 2 * i) & (bits == 32 ? 1 : 3));
      left.rows_of_b[row][i] = static_cast<u8>(bits == 32 ? 2 * i + place : i / 2 * 4 + place);
    }
  }
}

WARPGAUGE_INLINE void add_product(Part& sum, float a, const Part& b) {
#if defined(__FMA__)
  sum = reinterpret_cast<Part>(_mm256_fmadd_ps(_mm256_set1_ps(a), reinterpret_cast<__m256>(b),
                                               reinterpret_cast<__m256>(sum)));
#else
  sum += a * b;  // the product is exact
#endif
}

/// The accumulators of a block of columns, rows 0 to 7, then 8 to 15: each quad of lanes has the
/// 8 of a row, as words, or two halves in a word. T is float, Half or s32.
template <typename T>
class Accumulators {
 public:
  WARPGAUGE_INLINE Accumulators(const Work& work, int block) {
    constexpr int kRegisters = kSame<T, Half> ? 1 : 2;
    const OperandSlot* const slots = work.product.d.data() + 2 * kRegisters * block;
    for (int half = 0; half < 2; ++half) {
      for (int n = 0; n < kRegisters; ++n) {
        words_[half][n] = work.registers(slots[kRegisters * half + n]);
      }
    }
  }

  /// Loads the values that sums begin with; integers are added last.
  WARPGAUGE_INLINE void load(int row, bool adds, Eight& sum) const {
    for (Part& part : sum.parts) part = Part{};
    if (kSame<T, s32> || !adds) return;
    if constexpr (kSame<T, float>) {
      const Four even = *reinterpret_cast<const Four*>(at(row, 0));
      const Four odd = *reinterpret_cast<const Four*>(at(row, 1));
#if defined(WARPGAUGE_ISA_baseline)
      sum.parts[0] = even;
      sum.parts[1] = odd;
#else
      sum.parts[0] = __builtin_shufflevector(even, odd, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
    } else {
      alignas(32) float values[kColumns], ordered[kColumns];
      widen_shorts<Element::f16, kColumns>(reinterpret_cast<const u16*>(at(row, 0)), values);
      for (int n = 0; n < kColumns; ++n) ordered[n] = values[kColumnOrder[n]];
      __builtin_memcpy(sum.parts, ordered, sizeof ordered);
    }
  }
  WARPGAUGE_INLINE void store(int row, bool adds, bool saturates, const Eight& sum) const {
    if constexpr (kSame<T, float>) {
      Eight result = sum;
      for (Part& part : result.parts) {
        part = part == part ? part : Part{} + bits_as<float>(kNanBits);
      }
#if defined(WARPGAUGE_ISA_baseline)
      *reinterpret_cast<Four*>(at(row, 0)) = result.parts[0];
      *reinterpret_cast<Four*>(at(row, 1)) = result.parts[1];
#else
      const Part all = result.parts[0];
      *reinterpret_cast<Four*>(at(row, 0)) = __builtin_shufflevector(all, all, 0, 1, 2, 3);
      *reinterpret_cast<Four*>(at(row, 1)) = __builtin_shufflevector(all, all, 4, 5, 6, 7);
#endif
    } else {
      alignas(32) float values[kColumns];
      __builtin_memcpy(values, sum.parts, sizeof values);
      if constexpr (kSame<T, Half>) {
        u16* const to = reinterpret_cast<u16*>(at(row, 0));
        u16 halves[kColumns];
        for (int n = 0; n < kColumns; ++n) halves[n] = round_to_half(values[n]).bits;
        for (int n = 0; n < kColumns; ++n) to[kColumnOrder[n]] = halves[n];
      } else {
        s32 integers[kColumns];
        for (int n = 0; n < kColumns; ++n) integers[n] = static_cast<s32>(values[n]);
        add_integers(row, adds, saturates, integers);
      }
    }
  }
  /// Adds to what was there, or to 0.
  WARPGAUGE_INLINE void add_integers(int row, bool adds, bool saturates, const s32* sums) const {
    constexpr s64 kMost = 0x7fffffff;
    for (int odd = 0; odd < 2; ++odd) {
      s32* const to = reinterpret_cast<s32*>(at(row, odd));
      for (int n = 0; n < 4; ++n) {
        const s64 sum = s64{adds ? to[n] : 0} + sums[4 * odd + n];
        const s64 bounded = sum > kMost ? kMost : sum < -kMost - 1 ? -kMost - 1 : sum;
        to[n] = static_cast<s32>(saturates ? bounded : sum);
      }
    }
  }

 private:
  /// Where the quad has the even (0) or odd (1) columns, or both.
  WARPGAUGE_INLINE std::byte* at(int row, int odd) const {
    return words_[row / 8][odd] + row % 8 * 16;
  }

  std::byte* words_[2][2];
};

template <typename T, int kCount, bool kSparse>
void multiply_blocks(const Work& work, const Left& left, const Right& right, int first, bool adds) {
  const Accumulators<T> accumulators[2] = {{work, first}, {work, first + kCount - 1}};
  const bool saturates = work.product.saturate;
  const int depth = 256 / bits_of(work.product.a_element);
  for (int row = 0; row < kRows; row += kRowsAtOnce) {
    Eight sums[kRowsAtOnce][kCount];
#pragma GCC unroll 8
    for (int r = 0; r < kRowsAtOnce; ++r) {
#pragma GCC unroll 8
      for (int n = 0; n < kCount; ++n) accumulators[n].load(row + r, adds, sums[r][n]);
    }
    for (int k = 0; k < depth; ++k) {
#pragma GCC unroll 8
      for (int r = 0; r < kRowsAtOnce; ++r) {
        const int at = kSparse ? left.rows_of_b[row + r][k] : k;
#pragma GCC unroll 8
        for (int n = 0; n < kCount; ++n) {
          const Part* const b = reinterpret_cast<const Part*>(right.values[n][at]);
#pragma GCC unroll 8
          for (int part = 0; part < kParts; ++part) {
            add_product(sums[r][n].parts[part], left.values[row + r][k], b[part]);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRowsAtOnce; ++r) {
#pragma GCC unroll 8
      for (int n = 0; n < kCount; ++n) {
        accumulators[n].store(row + r, adds, saturates, sums[r][n]);
      }
    }
  }
}

template <typename T, bool kSparse>
void multiply_elements(const Work& work, bool adds) {
  Left left;
  Right right;
  with_element(work.product.a_element,
               [&]<Element kElement>() { widen_left<kElement>(work, left); });
  if (work.product.negated) {
    for (auto& row : left.values) {
      for (float& value : row) value = -value;
    }
  }
  if (kSparse) read_metadata(work, left);
  const int blocks = work.product.n / kColumns;
  for (int first = 0; first < blocks; first += kBlocks) {
    const int count = blocks - first < kBlocks ? 1 : kBlocks;
    with_element(work.product.b_element, [&]<Element kElement>() {
      for (int n = 0; n < count; ++n) {
        widen_right<kElement>(work, static_cast<u32>(first + n), right.values[n]);
      }
    });
    if (count == 1) {
      multiply_blocks<T, 1, kSparse>(work, left, right, first, adds);
    } else {
      multiply_blocks<T, kBlocks, kSparse>(work, left, right, first, adds);
    }
  }
}

template <typename T>
void multiply_elements(const Work& work, bool adds) {
  work.product.sparse ? multiply_elements<T, true>(work, adds)
                      : multiply_elements<T, false>(work, adds);
}

/// Counts the bits that a row of A and a column of B have in common.
void multiply_bits(const Work& work, bool adds) {
  constexpr int kWords = 4;  ///< words in a row
  u64 a[kRows][kWords], b[kColumns][kWords];
  const std::byte* rows[8];
  for (u32 chunk = 0; chunk < 2; ++chunk) {
    for (u32 half = 0; half < 2; ++half) {
      work.rows_of_a(half, chunk, rows);
      for (u32 m = 0; m < 8; ++m) __builtin_memcpy(&a[8 * half + m][2 * chunk], rows[m], 16);
    }
  }
  for (int block = 0; block < work.product.n / kColumns; ++block) {
    for (u32 chunk = 0; chunk < 2; ++chunk) {
      work.rows_of(MatrixOperand::b, static_cast<u32>(block), chunk, rows);
      for (int n = 0; n < kColumns; ++n) {
        __builtin_memcpy(&b[n][2 * chunk], rows[kColumnOrder[n]], 16);
      }
    }
    const Accumulators<s32> accumulators(work, block);
    for (int m = 0; m < kRows; ++m) {
      s32 sums[kColumns] = {};
      for (int n = 0; n < kColumns; ++n) {
        for (int word = 0; word < kWords; ++word) {
          sums[n] += __builtin_popcountll(a[m][word] & b[n][word]);
        }
      }
      accumulators.add_integers(m, adds, false, sums);
    }
  }
}

/// A value that all lanes must have.
WARPGAUGE_INLINE u64 common(const Work& work, OperandSlot slot, const char* what) {
  const u64* const values = reinterpret_cast<const u64*>(work.registers(slot));
  u64 differs = 0;
  for (int lane = 1; lane < kLanes; ++lane) differs |= values[lane] ^ values[0];
  if (differs != 0) control::refuse_different(work.warp, work.instruction, what);
  return values[0];
}

/// It reads these rows of A, and B: all four warps do, so the first one stands for them.
void note_product(const Work& work) {
  const u32 warp = work.warp.engine->index % 4;
  const u32 depth_of_a = WarpgroupProduct::kBytesOfRow / kChunkBytes;
  const u32 depth_of_b = static_cast<u32>(work.product.bytes_of_column()) / kChunkBytes;
  const u32 rows = work.product.a_is_in_registers ? 0 : 2;
  const u32 columns = warp == 0 ? static_cast<u32>(work.product.n) / kColumns : 0;
  control::note_product(work.warp, work.instruction, {work.a, 2 * warp, rows, depth_of_a},
                        {work.b, 0, columns, depth_of_b});
}

bool adds_to_sums(const Work& work) {
  Mask lanes = *reinterpret_cast<const Mask*>(work.registers(work.product.scale));
  if (work.product.scale_negated) lanes = ~lanes;
  if (lanes != 0 && lanes != kAllLanes) {
    control::refuse_different(work.warp, work.instruction, "scale-d");
  }
  return lanes != 0;
}

}  // namespace

void multiply_tiles(Warp& warp, const Instruction& instruction) {
  if (control::present_lanes(warp, instruction) == 0) return;
  control::expect_warpgroup(warp, instruction);
  const auto& product = *static_cast<const WarpgroupProduct*>(instruction.detail);
  Work work{warp, instruction, product, {}, {}};
  if (!product.a_is_in_registers) {
    work.a = memory::tile_of(warp, instruction, MatrixOperand::a,
                             common(work, product.a[0], "the matrix descriptor of A"),
                             product.a_is_m_major);
  }
  work.b =
      memory::tile_of(warp, instruction, MatrixOperand::b,
                      common(work, product.b, "the matrix descriptor of B"), product.b_is_n_major);
  const bool adds = adds_to_sums(work);
  if (product.a_element == Element::b1) {
    multiply_bits(work, adds);
  } else if (product.sum == ptx::Type::f32) {
    multiply_elements<float>(work, adds);
  } else if (product.sum == ptx::Type::f16) {
    multiply_elements<Half>(work, adds);
  } else {
    multiply_elements<s32>(work, adds);
  }
  note_product(work);
  memory::count_wgmma(warp, product.counter, product.a_bytes + product.b_bytes);
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
