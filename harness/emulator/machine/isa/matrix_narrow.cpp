// Products of numbers of 4, 6 and 8 bits (mma with a .kind), whose blocks along k may have scales.
//
// Products and scales are exact; sums are in double precision, and are rounded once.
#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/control/warpgroup.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/isa/matrix.h"
#include "harness/emulator/machine/isa/matrix_accumulators.h"
#include "harness/emulator/machine/isa/matrix_families.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using Element = MatrixElement;

constexpr int kMostDepth = 64;
constexpr int kMostBlocks = 4;

/// The value of a number in a format without infinity and NaN. A fraction of 0 exponent is worth as
/// much as that of 1.
template <int kExponentBits, int kFractionBits>
double small_value(u32 bits) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr double kLeast = 2.0 / (1 << (kBias + kFractionBits));
  const u32 exponent = bits >> kFractionBits & ((1u << kExponentBits) - 1);
  const u32 fraction = bits & ((1u << kFractionBits) - 1);
  const u32 whole = exponent == 0 ? fraction : (fraction + (1u << kFractionBits)) << (exponent - 1);
  const bool negative = (bits >> (kExponentBits + kFractionBits) & 1) != 0;
  return (negative ? -kLeast : kLeast) * whole;
}

double value_of_e4m3(u32 bits) { return widen(Half{half_of_e4m3(static_cast<u8>(bits))}); }

double narrow_value(Element element, u32 bits) {
  switch (element) {
    case Element::e4m3:
      return value_of_e4m3(bits);
    case Element::e5m2:
      return widen(Half{half_of_e5m2(static_cast<u8>(bits))});
    case Element::e2m3:
      return small_value<2, 3>(bits);
    case Element::e3m2:
      return small_value<3, 2>(bits);
    case Element::e2m1_in_byte:
      return small_value<2, 1>(bits >> 2);
    default:
      return small_value<2, 1>(bits);
  }
}

/// ue8m0 is an exponent alone; 0xff is NaN.
double scale_value(u32 byte, bool is_e4m3) {
  if (is_e4m3) return value_of_e4m3(byte & 0x7f);
  if (byte == 0xff) return bits_as<float>(u32{kNanBits});
  return bits_as<double>(u64{byte + 1023 - 127} << 52);
}

/// Rows of A, or columns of B: see matrix.h for where their elements lie.
void gather_narrow(const Warp& warp, const OperandSlot* slots, int rows, int depth, Element element,
                   double (*to)[kMostDepth]) {
  const int bits = bits_of(element), per_register = 32 / bits;
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const int r = row / 8 + k / (4 * per_register) * (rows / 8);
      const int lane = row % 8 * 4 + k / per_register % 4;
      to[row][k] =
          narrow_value(element, vector<u32>(warp, slots[r])[lane] >> k % per_register * bits);
    }
  }
}

/// The scales of each row of A or column of B. `lanes`: how many of four lanes have those of rows.
void gather_scales(const Warp& warp, const Instruction& instruction, const NarrowProduct& product,
                   int operand, int rows, double (*to)[kMostBlocks]) {
  const MatrixScales& scales = product.scales[operand];
  const int lanes = rows / 8;
  const int byte = vector<u16>(warp, scales.byte)[0];
  const int thread = vector<u16>(warp, scales.thread)[0];
  if (byte + product.blocks > 4 || byte % product.blocks != 0 || (thread + 1) * lanes > 4) {
    control::refuse_operand(warp, instruction,
                            "mma: a selector of scales that points at no byte or no thread");
  }
  for (int row = 0; row < rows; ++row) {
    const u32 bytes =
        vector<u32>(warp, scales.bytes)[row % 8 * 4 + thread * lanes + row / 8] >> 8 * byte;
    for (int block = 0; block < product.blocks; ++block) {
      to[row][block] = scale_value(bytes >> 8 * block & 0xff, product.e4m3_scales);
    }
  }
}

template <typename T>
void multiply_narrow(Warp& warp, const Instruction& instruction) {
  const Mask lanes = control::present_lanes(warp, instruction);
  if (lanes == 0) return;
  const auto& product = *static_cast<const NarrowProduct*>(instruction.detail);
  double a[kMostRows][kMostDepth], b[kColumns][kMostDepth], sums[kMostRows][kColumns];
  double a_scales[kMostRows][kMostBlocks], b_scales[kColumns][kMostBlocks];
  gather_narrow(warp, product.a, product.m, product.k, product.elements[0], a);
  gather_narrow(warp, product.b, kColumns, product.k, product.elements[1], b);
  if (product.blocks > 0) {
    gather_scales(warp, instruction, product, 0, product.m, a_scales);
    gather_scales(warp, instruction, product, 1, kColumns, b_scales);
  }
  each_accumulator<T>(product.m, [&](int r, int place, int, int row, int column) {
    double sum = accumulated(vector<T>(warp, product.c[r])[place]);
    const int depth = product.k / (product.blocks > 0 ? product.blocks : 1);
    for (int first = 0; first < product.k; first += depth) {
      double part = 0;
      for (int k = first; k < first + depth; ++k) part += a[row][k] * b[column][k];
      const int block = first / depth;
      sum += product.blocks > 0 ? part * a_scales[row][block] * b_scales[column][block] : part;
    }
    sums[row][column] = sum;
  });
  each_accumulator<T>(product.m, [&](int r, int place, int lane, int row, int column) {
    if ((lanes >> lane & 1) == 0) return;
    T* const d = reinterpret_cast<T*>(warp.bases[OperandSlot::frame] + product.d[r].offset);
    d[place] = rounded<T>(sums[row][column]);
  });
}

}  // namespace

Execute narrow_product_handler(ptx::Type sum) {
  if (sum == ptx::Type::f32) return multiply_narrow<float>;
  return sum == ptx::Type::f16 ? multiply_narrow<Half> : nullptr;
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
