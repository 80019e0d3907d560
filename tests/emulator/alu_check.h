// Compares instructions with references, lane by lane: random and special values, full and partial
// masks, every instruction set that the CPU has.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/alu_bench.h"

namespace warpgauge::emulator::machine {

/// Gives the bits of an operand.
using Values = std::function<std::uint64_t(std::mt19937_64&)>;

/// Integers of all widths: random, small, around powers of two.
std::uint64_t any_integer(std::mt19937_64& random);

/// A float of a format with these numbers of bits: a special value, random bits, a value around 1,
/// or a neighbour of a power of two.
std::uint64_t any_float(std::mt19937_64& random, int exponent_bits, int mantissa_bits);
inline std::uint64_t any_f16(std::mt19937_64& random) { return any_float(random, 5, 10); }
inline std::uint64_t any_bf16(std::mt19937_64& random) { return any_float(random, 8, 7); }
inline std::uint64_t any_f32(std::mt19937_64& random) { return any_float(random, 8, 23); }
inline std::uint64_t any_f64(std::mt19937_64& random) { return any_float(random, 11, 52); }
/// Two of them in one register.
template <std::uint64_t (*kValues)(std::mt19937_64&), int kBits>
std::uint64_t two_of(std::mt19937_64& random) {
  return kValues(random) << kBits | kValues(random);
}

template <typename To>
To bits_to(std::uint64_t bits) {
  To value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename From>
std::uint64_t to_bits(From value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// The operands of a lane: %a, %b, %c, %e, the predicates %r and %s, and the carry.
struct Operands {
  std::uint64_t a = 0, b = 0, c = 0, e = 0;
  bool r = false, s = false, carry = false;
  template <typename T>
  T as_a() const {
    return bits_to<T>(a);
  }
  template <typename T>
  T as_b() const {
    return bits_to<T>(b);
  }
  template <typename T>
  T as_c() const {
    return bits_to<T>(c);
  }
};
/// The results of a lane: %d, %d2, the predicates %p and %q, the carry; only those that the
/// instruction writes are compared.
struct Results {
  std::uint64_t d = 0, d2 = 0;
  bool p = false, q = false;
  std::optional<bool> carry;
};
using Reference = std::function<Results(const Operands&)>;

struct Check {
  std::string text;       ///< the instruction, with the registers named above
  std::string registers;  ///< their declarations
  Values values;
  Reference reference;
  /// Decides whether a result is right. Empty: it must have the same bits.
  std::function<bool(std::uint64_t got, std::uint64_t expected)> equal = {};
  int rounds = 60;
};

void expect_as_reference(const Check& check);

/// cvt with these modifiers, from a register of a type to one of another: function(a) is the
/// result.
void expect_cvt(const std::string& operation, const std::string& to, const std::string& from,
                const Values& values, const std::function<std::uint64_t(std::uint64_t)>& function,
                int rounds = 9);

/// The message of a refused instruction; "" if it is decoded.
std::string refusal(const std::string& registers, const std::string& text);

}  // namespace warpgauge::emulator::machine
