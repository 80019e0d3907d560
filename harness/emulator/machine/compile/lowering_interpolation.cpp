// Writes the interpolator: a look-up of coefficients, a truncated square, and the sum of them.
#include "harness/emulator/machine/compile/lowering_interpolation.h"

#include <array>
#include <cstdint>

namespace warpgauge::emulator::machine::compile {
namespace {

using Xbyak::Opmask;
using Xbyak::Zmm;

/// For each 32 segments of the table, the lanes that have one of them.
using LanesOfSegments = std::array<Opmask, 4>;

LanesOfSegments lanes_of_segments(Emitter& e, const Zmm& place, const Table& table) {
  LanesOfSegments lanes = {e.k7, e.fresh_predicate(), e.fresh_predicate(), e.fresh_predicate()};
  if (table.segments == 64) {
    e.vptestnmd(lanes[0], place, e.in_each_lane(&Constants::upper_half_of_64));
    e.vptestmd(lanes[1], place, e.in_each_lane(&Constants::upper_half_of_64));
    return lanes;
  }
  const Zmm number = e.fresh();
  e.vpsrld(number, place, static_cast<std::uint8_t>(table.bits + 5));
  e.vptestnmd(lanes[0], number, number);
  for (std::size_t n = 1; n < lanes.size(); ++n) {
    const std::size_t counted = offset_of(&Constants::counted) + sizeof(std::uint32_t) * (n - 1);
    e.vpcmpeqd(lanes[n], number, e.in_each_lane(counted));
  }
  return lanes;
}

/// Numbers of two columns, for the segment of each lane.
struct Coefficients {
  Zmm c0, c1_and_c2;
};
Coefficients look_up(Emitter& e, const Zmm& place, const Table& table) {
  const Coefficients found = {e.fresh(), e.fresh()};
  const Zmm numbers = e.fresh();
  const LanesOfSegments lanes = lanes_of_segments(e, place, table);
  // In: the segments of the lanes. An instruction looks up 32 of them, and keeps the other lanes.
  const auto look_up_column = [&](const Zmm& column, std::size_t offset) {
    for (std::size_t n = 0; n < table.segments / 32; ++n) {
      const std::size_t at = offset + n * 32 * sizeof(std::uint32_t);
      e.vmovdqa64(numbers, e.constant(at));
      e.vpermi2d(column | lanes[n], numbers, e.constant(at + 64));
    }
  };
  e.vpsrld(found.c0, place, static_cast<std::uint8_t>(table.bits));
  e.vmovdqa64(found.c1_and_c2, found.c0);
  look_up_column(found.c0, table.c0);
  look_up_column(found.c1_and_c2, table.c1_and_c2);
  return found;
}

/// The truncated squares (isa/quadratic.h) of the upper 16 bits of the places in their segments.
/// Each half of a word has these bits, and sums up half of the pairs of bits.
Zmm truncated_square(Emitter& e, const Zmm& place, const Table& table) {
  const Zmm sum = e.fresh(), both = e.fresh(), upper = e.fresh();
  const std::array<Zmm, 2> products = {e.fresh(), e.fresh()};
  e.vpsrld(both, place, static_cast<std::uint8_t>(table.bits - 16));
  e.vpshufb(both, both, e.constant(&Constants::lower_half_twice));
  e.vpsrlw(sum, both, 8);
  e.vpmullw(sum, sum, sum);
  e.vpsrld(sum, sum, 17);
  for (std::size_t n = 0; n < products.size(); ++n) {
    const std::size_t pair = sizeof(std::uint32_t) * n;
    e.vpandd(products[n], both, e.in_each_lane(offset_of(&Constants::lower_pairs) + pair));
    e.vpandd(upper, both, e.in_each_lane(offset_of(&Constants::upper_pairs) + pair));
    e.vpmulhuw(products[n], products[n], upper);
  }
  e.vpaddw(products[0], products[0], products[1]);
  e.vpmaddwd(products[0], products[0], e.constant(&Constants::ones_of_16));
  e.vpaddd(sum, sum, products[0]);
  return sum;
}

void add_signed(Emitter& e, const Zmm& sum, const Zmm& term, bool is_negative) {
  is_negative ? e.vpsubd(sum, sum, term) : e.vpaddd(sum, sum, term);
}

}  // namespace

Zmm interpolated(Emitter& e, const Zmm& place, const Table& table) {
  const auto [sum, c1_and_c2] = look_up(e, place, table);
  const Zmm square = truncated_square(e, place, table);
  const Zmm linear = e.fresh(), c1 = e.fresh();
  e.vpandd(linear, place,
           e.in_each_lane(table.bits == 16 ? &Constants::lower_16 : &Constants::lower_17));
  e.vpsrld(c1, c1_and_c2, isa::kBitsOfC2);
  e.vpmulld(linear, linear, c1);
  add_signed(e, sum, linear, table.c1_is_negative);
  e.vpandd(c1_and_c2, c1_and_c2, e.in_each_lane(&Constants::bits_of_c2));
  e.vpmaddwd(square, square, c1_and_c2);  // both have less than 16 bits
  add_signed(e, sum, square, table.c2_is_negative);
  return sum;
}

void complete(Emitter& e, const Zmm& near, const Zmm& sum, const Table& table) {
  const Zmm off = e.fresh();
  const auto dropped = static_cast<std::uint8_t>(table.dropped);
  e.vpslld(off, near, dropped);
  e.vpsubd(off, sum, off);
  e.vpsrad(off, off, dropped);
  e.vpaddd(near, near, off);
}

}  // namespace warpgauge::emulator::machine::compile
