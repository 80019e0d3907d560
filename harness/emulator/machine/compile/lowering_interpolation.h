// Code that computes as the interpolator of the multifunction unit does (isa/quadratic.h).
#pragma once

#include <cstddef>

#include "harness/emulator/machine/compile/constants.h"
#include "harness/emulator/machine/compile/emitter.h"

namespace warpgauge::emulator::machine::compile {

/// A function of isa/near_functions.h, with the offsets of its columns in Constants.
struct Table {
  std::size_t c0, c1_and_c2;
  std::size_t segments;
  int bits, dropped;
  bool c1_is_negative, c2_is_negative;
};
template <std::size_t kSegments>
constexpr Table table_of(const isa::NearFunction<kSegments>& function, std::size_t offset) {
  using Function = isa::NearFunction<kSegments>;
  using Columns = isa::FixedColumns<kSegments>;
  const std::size_t columns = offset + offsetof(Function, columns);
  return {.c0 = columns + offsetof(Columns, c0),
          .c1_and_c2 = columns + offsetof(Columns, c1_and_c2),
          .segments = kSegments,
          .bits = function.bits,
          .dropped = function.dropped,
          .c1_is_negative = function.columns.c1_is_negative,
          .c2_is_negative = function.columns.c2_is_negative};
}
inline constexpr Table kReciprocalTable =
    table_of(isa::kNearReciprocal, offsetof(Constants, reciprocal));
inline constexpr Table kInverseRootTable =
    table_of(isa::kNearInverseRoot, offsetof(Constants, inverse_root));
inline constexpr Table kRootTable = table_of(isa::kNearRoot, offsetof(Constants, root));
inline constexpr Table kExponentialTable =
    table_of(isa::kNearExponential, offsetof(Constants, exponential));

/// The lower 32 bits of the table's sums at the places. The bits of a place above Table::bits are
/// its segment, and the others where it lies in that.
Xbyak::Zmm interpolated(Emitter& e, const Xbyak::Zmm& place, const Table& table);

/// Changes `near` to the nearest numbers whose lower bits are those of `sum` above the
/// Table::dropped lowest.
void complete(Emitter& e, const Xbyak::Zmm& near, const Xbyak::Zmm& sum, const Table& table);

}  // namespace warpgauge::emulator::machine::compile
