// Products of numbers of 4, 6 and 8 bits (mma with a .kind), whose blocks along k may have scales.
//
// Products and scales are exact; sums are in double precision, and are rounded once.
#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/control/warpgroup.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/isa/matrix.h"
#include "harness/emulator/machine/isa/matrix_accumulators.h"
#include "harness/emulator/machine/isa/matrix_families.h"
#include "harness/emulator/machine/isa/narrow_values.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

constexpr int kMostDepth = 64;
constexpr int kMostBlocks = 4;
constexpr int kGroups = 8;      // of lanes: g of matrix.h
constexpr int kGroupLanes = 4;  // of a group: t of matrix.h
constexpr int kRegisterBytes = 4;

enum FactorSide : int { kSideA, kSideB };  // places in NarrowProduct's arrays

/// The values of A by rows, or of B by columns (both "rows" here), and the scales of their blocks.
template <int kRows>
struct NarrowFactor {
  double values[kRows][kMostDepth];
  double scales[kRows][kMostBlocks];
};

/// See matrix.h for where the elements lie.
template <int kRows>
void gather_values(const Warp& warp, const NarrowProduct& product, FactorSide side, int rows,
                   NarrowFactor<kRows>& to) {
  const OperandSlot* const slots = side == kSideA ? product.a : product.b;
  const MatrixElement element = product.elements[side];
  const int bits = bits_of(element), per_register = elements_per_register(element);
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < product.k; ++k) {
      const int r = row / kGroups + k / (kGroupLanes * per_register) * (rows / kGroups);
      const int lane = row % kGroups * kGroupLanes + k / per_register % kGroupLanes;
      to.values[row][k] =
          narrow_value(element, vector<u32>(warp, slots[r])[lane] >> k % per_register * bits);
    }
  }
}

/// See MatrixScales for where the scales lie.
template <int kRows>
void gather_scales(const Warp& warp, const Instruction& instruction, const NarrowProduct& product,
                   FactorSide side, int rows, NarrowFactor<kRows>& to) {
  const MatrixScales& scales = product.scales[side];
  const int lanes = rows / kGroups;  // of a group that have the scales of its rows
  const int byte = vector<u16>(warp, scales.byte)[0];
  const int thread = vector<u16>(warp, scales.thread)[0];
  if (byte + product.blocks > kRegisterBytes || byte % product.blocks != 0 ||
      (thread + 1) * lanes > kGroupLanes) {
    control::refuse_operand(warp, instruction,
                            "mma: a selector of scales that points at no byte or no thread");
  }
  const auto value = product.e4m3_scales ? value_of_ue4m3 : value_of_ue8m0;
  for (int row = 0; row < rows; ++row) {
    const int lane = row % kGroups * kGroupLanes + thread * lanes + row / kGroups;
    const u32 bytes = vector<u32>(warp, scales.bytes)[lane] >> 8 * byte;
    for (int block = 0; block < product.blocks; ++block) {
      to.scales[row][block] = value(bytes >> 8 * block & 0xff);
    }
  }
}

/// A product without scales has one block, whose scale is 1.
template <int kRows>
void gather_factor(const Warp& warp, const Instruction& instruction, const NarrowProduct& product,
                   FactorSide side, int rows, NarrowFactor<kRows>& to) {
  gather_values(warp, product, side, rows, to);
  if (product.blocks > 0) {
    gather_scales(warp, instruction, product, side, rows, to);
  } else {
    for (int row = 0; row < rows; ++row) to.scales[row][0] = 1;
  }
}

template <typename T>
void multiply_narrow(Warp& warp, const Instruction& instruction) {
  const Mask lanes = control::present_lanes(warp, instruction);
  if (lanes == 0) return;
  const auto& product = *static_cast<const NarrowProduct*>(instruction.detail);
  NarrowFactor<kMostRows> a;
  NarrowFactor<kColumns> b;
  gather_factor(warp, instruction, product, kSideA, product.m, a);
  gather_factor(warp, instruction, product, kSideB, kColumns, b);
  const int blocks = product.blocks > 0 ? product.blocks : 1;
  const int depth = product.k / blocks;
  double sums[kMostRows][kColumns];
  each_accumulator<T>(product.m, [&](int r, int place, int, int row, int column) {
    double sum = accumulated(vector<T>(warp, product.c[r])[place]);
    for (int block = 0; block < blocks; ++block) {
      double part = 0;
      for (int k = block * depth; k < (block + 1) * depth; ++k) {
        part += a.values[row][k] * b.values[column][k];
      }
      sum += part * a.scales[row][block] * b.scales[column][block];
    }
    sums[row][column] = sum;
  });
  // Written only now: registers of D may be those of C.
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
