// Products of wgmma that tests make: matrices that are written down as such, laid out in shared
// memory by the layouts of CUTLASS (make_gmma_desc in mma_traits_sm90_gmma.hpp), multiplied by a
// kernel, and compared with a product in double precision.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine {

/// Bits and value of an element.
struct TileElement {
  const char* name;
  int bits;
  std::uint64_t (*make)(std::mt19937_64&);
  double (*value)(std::uint64_t);
};
extern const TileElement kTileF16, kTileBF16, kTileTF32, kTileE4M3, kTileE5M2, kTileS8, kTileU8,
    kTileB1;

/// The layout of an operand in shared memory.
struct TilePlace {
  int swizzle_bytes = 0;      ///< 0, 32, 64 or 128
  bool is_mn_major = false;   ///< else K-major
  int base_offset = 0;        ///< the pattern of swizzling begins so many times 128 bytes late
  std::uint32_t padding = 0;  ///< bytes between core matrices or atoms that are not needed
};

struct TileProduct {
  const TileElement* a = &kTileF16;
  const TileElement* b = &kTileF16;
  const char* sum = "f32";
  int n = 8;
  TilePlace a_place, b_place;
  bool a_is_in_registers = false;
  bool sparse = false;
  int selector = 0;
  bool adds = true;  ///< scale-d
  bool negates_a = false, negates_b = false;
  bool saturates = false;

  bool is_integer() const { return sum == std::string("s32"); }
  int k() const { return (sparse ? 512 : 256) / a->bits; }
  /// "m64n8k16.f32.f16.f16"
  std::string form() const;
  /// The instruction with the registers %d, %a, %da, %db, %adds and %meta.
  std::string instruction(std::uint64_t a_descriptor, std::uint64_t b_descriptor) const;
};

/// Runs the product with every instruction set, and expects what a CPU computes. `large`: integers
/// whose sums leave the range of s32.
void expect_tile_product(const TileProduct& product, bool large = false);

/// The descriptor of a tile that begins at `begin`.
std::uint64_t tile_descriptor(std::uint32_t begin, std::uint32_t leading, std::uint32_t stride,
                              int swizzle_bytes, int base_offset = 0);

}  // namespace warpgauge::emulator::machine
