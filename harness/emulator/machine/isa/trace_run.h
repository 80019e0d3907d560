// The look of a warp at the traces of a run of shared memory. For files of machine/isa/ only.
#pragma once

#include <immintrin.h>

#include "harness/emulator/machine/checks/trace.h"
#include "harness/emulator/machine/isa/lanes.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

#if defined(__AVX512F__)

using Vector = u64 __attribute__((vector_size(64)));
using TracesInMemory = u64 __attribute__((vector_size(64), aligned(8), may_alias));
inline constexpr Vector kOnWrites = {~u64{0}, 0, ~u64{0}, 0, ~u64{0}, 0, ~u64{0}, 0};

WARPGAUGE_INLINE bool any(Vector bits) {
  const __m512i all = reinterpret_cast<__m512i>(bits);
  return _mm512_test_epi64_mask(all, all) != 0;
}

[[maybe_unused]] bool look_at_run(const checks::RunOfWords& run) {
  using Trace = checks::SharedTrace;
  constexpr int kWords = 4;  // of a vector: write, read, write, read, ...
  TracesInMemory* const traces = reinterpret_cast<TracesInMemory*>(run.first);
  const int vectors = kLanes * run.words_of_lane / kWords;
  const Vector none{}, floor = none + run.floor;

  const Vector begin = kOnWrites & (none + run.begin);  // no read is below
  Vector last{}, bits{}, first = ~none, too_early{};
  for (int i = 0; i < vectors; ++i) {
    const Vector seen = traces[i];
    const Vector is_of_another = reinterpret_cast<Vector>(((seen ^ run.own) & run.who) != none);
    const Vector of_another = seen & is_of_another;
    last = of_another > last ? of_another : last;
    first = seen < first ? seen : first;
    too_early |= reinterpret_cast<Vector>(seen < begin);
    bits |= seen;
  }
  const Vector late = reinterpret_cast<Vector>(last >= floor);
  if (any(too_early | (run.writes ? late : late & kOnWrites))) return false;
  const auto replaced = [&](Vector lowest, Vector all_bits) {
    const Vector is_old = reinterpret_cast<Vector>(lowest < floor);
    const Vector is_strong = reinterpret_cast<Vector>((all_bits & Trace::kStrong) != none);
    return (is_old | is_strong) & ~kOnWrites;
  };
  const u64 now = Trace::at_time(Trace::time(run.own));
  const bool is_later = now != Trace::at_time(Trace::time(run.floor));
  if (!run.writes && !is_later && !any(replaced(first, bits))) return true;
  const auto own_before = [&](Vector seen) {
    const Vector is_own = reinterpret_cast<Vector>(((seen ^ run.own) & run.who) == none);
    return is_own & reinterpret_cast<Vector>(seen < none + now) & ~kOnWrites;
  };

  const int shift = __builtin_ctz(static_cast<unsigned>(run.words_of_lane));
  for (int i = 0; i < vectors; ++i) {
    const Vector words = Vector{0, 0, 1, 1, 2, 2, 3, 3} + static_cast<u64>(i * kWords);
    const Vector own = run.own | words >> shift << Trace::kThreadAt;
    const Vector seen = traces[i];
    const Vector changed = run.writes ? kOnWrites : replaced(seen, seen) | own_before(seen);
    traces[i] = (own & changed) | (seen & ~changed);
  }
  return true;
}
[[maybe_unused]] constexpr checks::LookAtRun kLookAtRun = look_at_run;

#else

[[maybe_unused]] constexpr checks::LookAtRun kLookAtRun = nullptr;

#endif

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
