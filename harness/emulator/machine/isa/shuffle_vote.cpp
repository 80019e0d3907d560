// Execution of shfl, vote, match, redux, activemask, elect.
#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/isa/isa.h"
#include "harness/emulator/machine/memory/context.h"

#ifdef WARPGAUGE_ISA_avx512
#include <immintrin.h>
#endif

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using Op = control::WarpOpKey::Op;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Calls visit(lane) for each of `lanes`.
template <typename Visit>
[[gnu::always_inline]] inline void each_lane(Mask lanes, Visit visit) {
  for (Mask left = lanes; left != 0; left &= left - 1) visit(__builtin_ctz(left));
}

// Calls visit(group) for the lanes that have the same members; without .sync all are one group.
template <typename Visit>
[[gnu::always_inline]] inline void each_group(const Warp& warp, const Instruction& instruction,
                                              Mask present, Visit visit) {
  const bool one_group = (instruction.flags & control::warp_op_flag::kSync) == 0 ||
                         (instruction.flags & control::warp_op_flag::kAllMembers) != 0;
  if (one_group) {
    if (present != 0) visit(present);
    return;
  }
  for (Mask left = present; left != 0;) {
    const Mask group = control::lanes_that_name(warp, instruction, 3, left);
    left &= ~group;
    visit(group);
  }
}

void write_uniform(U32* to, Mask lanes, U32 value) {
  if (lanes == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = value;
  } else {
    each_lane(lanes, [&](int lane) { to[lane] = value; });
  }
}

void write_predicate(Mask* to, Mask lanes, Mask value) { *to = (*to & ~lanes) | (value & lanes); }

// The lane that each lane reads, as the PTX ISA defines it ("shfl.sync"); bits of `inside`: that
// lane lies in the segment, else a lane reads itself.
template <Op kOp>
[[gnu::always_inline]] inline Mask shuffle_lanes(const U32* distance, const U32* control,
                                                 U32* from) {
  std::int32_t inside[kLanes];
  for (std::int32_t lane = 0; lane < kLanes; ++lane) {
    const std::int32_t b = distance[lane] & 31;
    const std::int32_t clamp = control[lane] & 31;
    const std::int32_t segment = (control[lane] >> 8) & 31;
    const std::int32_t last = (lane & segment) | (clamp & ~segment);
    std::int32_t j;
    bool fits;
    if constexpr (kOp == Op::shuffle_up) {
      j = lane - b;
      fits = j >= last;
    } else {
      if constexpr (kOp == Op::shuffle_down) j = lane + b;
      if constexpr (kOp == Op::shuffle_butterfly) j = lane ^ b;
      if constexpr (kOp == Op::shuffle_index) j = (lane & segment) | (b & ~segment);
      fits = j <= last;
    }
    from[lane] = static_cast<U32>(fits ? j : lane);
    inside[lane] = fits;
  }
  Mask mask = 0;
  for (int lane = 0; lane < kLanes; ++lane) mask |= static_cast<Mask>(inside[lane]) << lane;
  return mask;
}

[[gnu::always_inline]] inline void permute(const U32* values, const U32* from, Mask lanes,
                                           U32* to) {
#ifdef WARPGAUGE_ISA_avx512
  const __m512i low = _mm512_loadu_si512(values);
  const __m512i high = _mm512_loadu_si512(values + 16);
  const __m512i to_low = _mm512_permutex2var_epi32(low, _mm512_loadu_si512(from), high);
  const __m512i to_high = _mm512_permutex2var_epi32(low, _mm512_loadu_si512(from + 16), high);
  _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(lanes), to_low);
  _mm512_mask_storeu_epi32(to + 16, static_cast<__mmask16>(lanes >> 16), to_high);
#else
  U32 copy[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) copy[lane] = values[from[lane]];
  if (lanes == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = copy[lane];
  } else {
    each_lane(lanes, [&](int lane) { to[lane] = copy[lane]; });
  }
#endif
}

template <Op kOp>
void shuffle(Warp& warp, const Instruction& instruction) {
  const Mask present = control::present_lanes(warp, instruction);
  if (present == 0) return;
  alignas(64) U32 from[kLanes];
  const Mask inside = shuffle_lanes<kOp>(source<U32>(warp, instruction, 1),
                                         source<U32>(warp, instruction, 2), from);
  if (warp.memory->checks_shuffles) [[unlikely]] {
    control::check_shuffle(warp, instruction, present, inside, from);
  }
  permute(source<U32>(warp, instruction, 0), from, present, destination<U32>(warp, instruction));
  write_predicate(second_destination<Mask>(warp, instruction), present, inside);
}

template <Op kOp>
void vote(Warp& warp, const Instruction& instruction) {
  const Mask present = control::present_lanes(warp, instruction);
  const bool negated = (instruction.flags & control::warp_op_flag::kNegatedPredicate) != 0;
  const Mask given = *source<Mask>(warp, instruction, 0);
  const Mask predicate = negated ? ~given : given;
  each_group(warp, instruction, present, [&](Mask group) {
    const Mask ballot = predicate & group;
    if constexpr (kOp == Op::vote_ballot) {
      write_uniform(destination<U32>(warp, instruction), group, ballot);
      return;
    }
    bool holds = ballot == group;
    if constexpr (kOp == Op::vote_any) holds = ballot != 0;
    if constexpr (kOp == Op::vote_uniform) holds = ballot == group || ballot == 0;
    write_predicate(destination<Mask>(warp, instruction), group, holds ? group : 0);
  });
}

template <typename T>
Mask equal_lanes(const T* values, Mask among, T value) {
  Mask equal = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    equal |= static_cast<Mask>(values[lane] == value) << lane;
  }
  return equal & among;
}

template <typename T>
void match_any(Warp& warp, const Instruction& instruction) {
  const T* const values = source<T>(warp, instruction, 0);
  U32* const to = destination<U32>(warp, instruction);
  each_group(warp, instruction, control::present_lanes(warp, instruction), [&](Mask group) {
    U32 results[kLanes];  // the destination may be the source
    for (Mask left = group; left != 0;) {
      const Mask equal = equal_lanes(values, left, values[__builtin_ctz(left)]);
      left &= ~equal;
      each_lane(equal, [&](int lane) { results[lane] = equal; });
    }
    each_lane(group, [&](int lane) { to[lane] = results[lane]; });
  });
}

template <typename T>
void match_all(Warp& warp, const Instruction& instruction) {
  const T* const values = source<T>(warp, instruction, 0);
  each_group(warp, instruction, control::present_lanes(warp, instruction), [&](Mask group) {
    const bool same = equal_lanes(values, group, values[__builtin_ctz(group)]) == group;
    write_uniform(destination<U32>(warp, instruction), group, same ? group : 0);
    write_predicate(second_destination<Mask>(warp, instruction), group, same ? group : 0);
  });
}

// The neutral value of a reduction: combined with a value it gives the value.
template <Op kOp>
constexpr U32 neutral() {
  if (kOp == Op::reduce_and || kOp == Op::reduce_min_unsigned) return 0xffffffff;
  if (kOp == Op::reduce_min_signed) return 0x7fffffff;
  if (kOp == Op::reduce_max_signed) return 0x80000000;
  return 0;
}

template <Op kOp>
[[gnu::always_inline]] inline U32 combine(U32 a, U32 b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  if constexpr (kOp == Op::reduce_add) return a + b;
  if constexpr (kOp == Op::reduce_min_signed) return sa < sb ? a : b;
  if constexpr (kOp == Op::reduce_max_signed) return sa > sb ? a : b;
  if constexpr (kOp == Op::reduce_min_unsigned) return a < b ? a : b;
  if constexpr (kOp == Op::reduce_max_unsigned) return a > b ? a : b;
  if constexpr (kOp == Op::reduce_and) return a & b;
  if constexpr (kOp == Op::reduce_or) return a | b;
  return a ^ b;
}

template <Op kOp>
void reduce(Warp& warp, const Instruction& instruction) {
  const U32* const values = source<U32>(warp, instruction, 0);
  each_group(warp, instruction, control::present_lanes(warp, instruction), [&](Mask group) {
    U32 result = neutral<kOp>();
    for (int lane = 0; lane < kLanes; ++lane) {
      const U32 value = (group >> lane & 1) != 0 ? values[lane] : neutral<kOp>();
      result = combine<kOp>(result, value);
    }
    write_uniform(destination<U32>(warp, instruction), group, result);
  });
}

// Numbers win over NaN unless kNan says otherwise; -0 is below +0.
template <bool kMinimum>
U32 combine_floats(U32 a, U32 b, bool nan_wins) {
  const auto is_nan = [](U32 bits) { return (bits & 0x7fffffff) > 0x7f800000; };
  constexpr U32 kCanonicalNan = 0x7fffffff;
  if (is_nan(a) || is_nan(b)) {
    if (nan_wins || (is_nan(a) && is_nan(b))) return kCanonicalNan;
    return is_nan(a) ? b : a;
  }
  // Floats are in the same order as these integers.
  const auto order = [](U32 bits) {
    return static_cast<std::int32_t>(bits ^ ((bits >> 31) != 0 ? 0x7fffffff : 0));
  };
  return (order(a) < order(b)) == kMinimum ? a : b;
}

template <bool kMinimum>
void reduce_floats(Warp& warp, const Instruction& instruction) {
  const U32* const values = source<U32>(warp, instruction, 0);
  const U32 keep =
      (instruction.flags & control::warp_op_flag::kAbsolute) != 0 ? 0x7fffffff : 0xffffffff;
  const bool nan_wins = (instruction.flags & control::warp_op_flag::kNan) != 0;
  each_group(warp, instruction, control::present_lanes(warp, instruction), [&](Mask group) {
    U32 result = values[__builtin_ctz(group)] & keep;
    each_lane(group, [&](int lane) {
      result = combine_floats<kMinimum>(result, values[lane] & keep, nan_wins);
    });
    write_uniform(destination<U32>(warp, instruction), group, result);
  });
}

void active_mask(Warp& warp, const Instruction& instruction) {
  write_uniform(destination<U32>(warp, instruction), warp.active, warp.active);
}

void elect(Warp& warp, const Instruction& instruction) {
  each_group(warp, instruction, control::present_lanes(warp, instruction), [&](Mask group) {
    const int leader = __builtin_ctz(group);
    write_uniform(destination<U32>(warp, instruction), group, static_cast<U32>(leader));
    write_predicate(second_destination<Mask>(warp, instruction), group, Mask{1} << leader);
  });
}

}  // namespace

Execute warp_op_handler(const control::WarpOpKey& key) {
  switch (key.op) {
    case Op::shuffle_up:
      return shuffle<Op::shuffle_up>;
    case Op::shuffle_down:
      return shuffle<Op::shuffle_down>;
    case Op::shuffle_butterfly:
      return shuffle<Op::shuffle_butterfly>;
    case Op::shuffle_index:
      return shuffle<Op::shuffle_index>;
    case Op::vote_all:
      return vote<Op::vote_all>;
    case Op::vote_any:
      return vote<Op::vote_any>;
    case Op::vote_uniform:
      return vote<Op::vote_uniform>;
    case Op::vote_ballot:
      return vote<Op::vote_ballot>;
    case Op::match_any32:
      return match_any<U32>;
    case Op::match_any64:
      return match_any<U64>;
    case Op::match_all32:
      return match_all<U32>;
    case Op::match_all64:
      return match_all<U64>;
    case Op::reduce_add:
      return reduce<Op::reduce_add>;
    case Op::reduce_min_signed:
      return reduce<Op::reduce_min_signed>;
    case Op::reduce_max_signed:
      return reduce<Op::reduce_max_signed>;
    case Op::reduce_min_unsigned:
      return reduce<Op::reduce_min_unsigned>;
    case Op::reduce_max_unsigned:
      return reduce<Op::reduce_max_unsigned>;
    case Op::reduce_and:
      return reduce<Op::reduce_and>;
    case Op::reduce_or:
      return reduce<Op::reduce_or>;
    case Op::reduce_xor:
      return reduce<Op::reduce_xor>;
    case Op::reduce_min_float:
      return reduce_floats<true>;
    case Op::reduce_max_float:
      return reduce_floats<false>;
    case Op::active_mask:
      return active_mask;
    case Op::elect:
      return elect;
  }
  return nullptr;
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
