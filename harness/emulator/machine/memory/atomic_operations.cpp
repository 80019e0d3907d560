// Atomic operations on the addresses of a warp's lanes.
#include "harness/emulator/machine/memory/atomic_operations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "harness/emulator/machine/memory/small_floats.h"

namespace warpgauge::emulator::machine::memory {
namespace {

template <typename T>
T lane_value(const std::byte* vector, int lane) {
  T value;
  std::memcpy(&value, vector + static_cast<std::size_t>(lane) * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void set_lane_value(std::byte* vector, int lane, T value) {
  if (vector == nullptr) return;
  std::memcpy(vector + static_cast<std::size_t>(lane) * sizeof(T), &value, sizeof(T));
}

template <typename Function>
void for_each_lane(Mask lanes, Function function) {
  for (; lanes != 0; lanes &= lanes - 1) function(std::countr_zero(lanes));
}

/// *address = update(*address), atomically.
template <typename T, typename Update>
void update_atomically(std::uint64_t address, Update update) {
  T* const pointer = reinterpret_cast<T*>(address);
  T old = __atomic_load_n(pointer, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(pointer, &old, update(old), true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
}

bool is_uniform(const std::uint64_t* addresses, Mask lanes) {
  const std::uint64_t lead = addresses[std::countr_zero(lanes)];
  bool uniform = true;
  for_each_lane(lanes, [&](int lane) { uniform = uniform && addresses[lane] == lead; });
  return uniform;
}

/// T is an unsigned integer of the width, Function(old, b, c, global) gives the new value.
template <typename T, auto kFunction>
void perform(const std::uint64_t* addresses, Mask lanes, bool global, const std::byte* b,
             const std::byte* c, std::byte* result) {
  const auto next = [&](T old, int lane) -> T {
    return kFunction(old, lane_value<T>(b, lane), c == nullptr ? T{0} : lane_value<T>(c, lane),
                     global);
  };
  if (!global) {
    for_each_lane(lanes, [&](int lane) {
      T* const pointer = reinterpret_cast<T*>(addresses[lane]);
      const T old = *pointer;
      *pointer = next(old, lane);
      set_lane_value(result, lane, old);
    });
  } else if (is_uniform(addresses, lanes)) {
    // All lanes at once, with no other warp in between: one of the possible orders.
    T olds[kLanes];
    update_atomically<T>(addresses[std::countr_zero(lanes)], [&](T value) {
      for_each_lane(lanes, [&](int lane) {
        olds[lane] = value;
        value = next(value, lane);
      });
      return value;
    });
    for_each_lane(lanes, [&](int lane) { set_lane_value(result, lane, olds[lane]); });
  } else {
    for_each_lane(lanes, [&](int lane) {
      T seen{};
      update_atomically<T>(addresses[lane], [&](T old) { return next(seen = old, lane); });
      set_lane_value(result, lane, seen);
    });
  }
}

template <typename T>
struct Integer {
  using U = std::make_unsigned_t<T>;
  static U add(U old, U b, U, bool) { return static_cast<U>(old + b); }
  static U min(U old, U b, U, bool) { return static_cast<T>(b) < static_cast<T>(old) ? b : old; }
  static U max(U old, U b, U, bool) { return static_cast<T>(b) > static_cast<T>(old) ? b : old; }
  static U increment(U old, U b, U, bool) { return old >= b ? U{0} : static_cast<U>(old + 1); }
  static U decrement(U old, U b, U, bool) {
    return old == 0 || old > b ? b : static_cast<U>(old - 1);
  }
  static U exchange(U, U b, U, bool) { return b; }
  static U compare_and_swap(U old, U b, U c, bool) { return old == b ? c : old; }
  static U bit_and(U old, U b, U, bool) { return old & b; }
  static U bit_or(U old, U b, U, bool) { return old | b; }
  static U bit_xor(U old, U b, U, bool) { return old ^ b; }
};

/// In global memory subnormal inputs and results become zero, in shared memory they do not (PTX
/// ISA, "atom").
float flushed(float value, bool global) {
  return global && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

std::uint32_t add_float(std::uint32_t old, std::uint32_t b, std::uint32_t, bool global) {
  const float sum =
      flushed(std::bit_cast<float>(old), global) + flushed(std::bit_cast<float>(b), global);
  return std::bit_cast<std::uint32_t>(flushed(sum, global));
}

std::uint64_t add_double(std::uint64_t old, std::uint64_t b, std::uint64_t, bool) {
  return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
}

/// The two formats of 16 bits. Their sums, first rounded to float, are the same as rounded once.
struct Half {
  static float wide(std::uint16_t bits) { return from_half(bits); }
  static std::uint16_t narrow(float value) { return to_half(value); }
};
struct Bfloat {
  static float wide(std::uint16_t bits) { return from_bfloat(bits); }
  static std::uint16_t narrow(float value) { return to_bfloat(value); }
};

template <typename Format>
struct Small {
  using U = std::uint16_t;
  static U add(U old, U b, U, bool) { return Format::narrow(Format::wide(old) + Format::wide(b)); }
  static bool less(U a, U b) {
    const float x = Format::wide(a), y = Format::wide(b);
    return x < y || (x == y && std::signbit(x) && !std::signbit(y));
  }
  /// A NaN loses against a number.
  static U min(U old, U b, U, bool) {
    if (std::isnan(Format::wide(old))) return std::isnan(Format::wide(b)) ? U{0x7fff} : b;
    return less(b, old) ? b : old;
  }
  static U max(U old, U b, U, bool) {
    if (std::isnan(Format::wide(old))) return std::isnan(Format::wide(b)) ? U{0x7fff} : b;
    return less(old, b) ? b : old;
  }
};

/// The same on both halves of a word.
template <auto kFunction>
std::uint32_t both(std::uint32_t old, std::uint32_t b, std::uint32_t, bool global) {
  const auto low = [](std::uint32_t word) { return static_cast<std::uint16_t>(word); };
  const auto high = [](std::uint32_t word) { return static_cast<std::uint16_t>(word >> 16); };
  return kFunction(low(old), low(b), 0, global) |
         static_cast<std::uint32_t>(kFunction(high(old), high(b), 0, global)) << 16;
}

template <typename T>
AtomicOperation arithmetic(AtomicOp op) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case AtomicOp::add:
      return perform<U, Integer<T>::add>;
    case AtomicOp::min:
      return perform<U, Integer<T>::min>;
    case AtomicOp::max:
      return perform<U, Integer<T>::max>;
    default:
      return nullptr;
  }
}

AtomicOperation counting(AtomicOp op) {
  switch (op) {
    case AtomicOp::increment:
      return perform<std::uint32_t, Integer<std::uint32_t>::increment>;
    case AtomicOp::decrement:
      return perform<std::uint32_t, Integer<std::uint32_t>::decrement>;
    default:
      return arithmetic<std::uint32_t>(op);
  }
}

template <typename U>
AtomicOperation bitwise(AtomicOp op) {
  switch (op) {
    case AtomicOp::exchange:
      return perform<U, Integer<U>::exchange>;
    case AtomicOp::compare_and_swap:
      return perform<U, Integer<U>::compare_and_swap>;
    case AtomicOp::bit_and:
      return perform<U, Integer<U>::bit_and>;
    case AtomicOp::bit_or:
      return perform<U, Integer<U>::bit_or>;
    case AtomicOp::bit_xor:
      return perform<U, Integer<U>::bit_xor>;
    default:
      return nullptr;
  }
}

template <typename Format>
AtomicOperation small(AtomicOp op) {
  switch (op) {
    case AtomicOp::add:
      return perform<std::uint16_t, Small<Format>::add>;
    case AtomicOp::min:
      return perform<std::uint16_t, Small<Format>::min>;
    case AtomicOp::max:
      return perform<std::uint16_t, Small<Format>::max>;
    default:
      return nullptr;
  }
}

template <typename Format>
AtomicOperation packed(AtomicOp op) {
  switch (op) {
    case AtomicOp::add:
      return perform<std::uint32_t, both<Small<Format>::add>>;
    case AtomicOp::min:
      return perform<std::uint32_t, both<Small<Format>::min>>;
    case AtomicOp::max:
      return perform<std::uint32_t, both<Small<Format>::max>>;
    default:
      return nullptr;
  }
}

}  // namespace

AtomicOperation atomic_operation(AtomicOp op, ptx::Type type) {
  using ptx::Type;
  const bool adds = op == AtomicOp::add;
  switch (type) {
    case Type::u32:
      return counting(op);
    case Type::s32:
      return arithmetic<std::int32_t>(op);
    case Type::u64:
      return arithmetic<std::uint64_t>(op);
    case Type::s64:
      return arithmetic<std::int64_t>(op);
    case Type::b16:
      return op == AtomicOp::compare_and_swap || op == AtomicOp::exchange
                 ? bitwise<std::uint16_t>(op)
                 : nullptr;
    case Type::b32:
      return bitwise<std::uint32_t>(op);
    case Type::b64:
      return bitwise<std::uint64_t>(op);
    case Type::f16:
      return small<Half>(op);
    case Type::bf16:
      return small<Bfloat>(op);
    case Type::f16x2:
      return packed<Half>(op);
    case Type::bf16x2:
      return packed<Bfloat>(op);
    case Type::f32:
      return adds ? perform<std::uint32_t, add_float> : nullptr;
    case Type::f64:
      return adds ? perform<std::uint64_t, add_double> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace warpgauge::emulator::machine::memory
