// Operations on bits against references that go bit by bit, as the PTX ISA describes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "tests/emulator/alu_check.h"

namespace warpgauge::emulator::machine::bits_test {
namespace {

using Function = std::function<std::uint64_t(const Operands&)>;

/// `registers`: types of d, a, b, c, e, as many as there are operands.
void expect(const std::string& operation, const std::vector<std::string>& registers,
            const Function& function) {
  const char* const names[] = {"%d", "%a", "%b", "%c", "%e"};
  Check check;
  for (std::size_t n = 0; n < registers.size(); ++n) {
    check.registers += ".reg ." + registers[n] + " " + names[n] + ";";
    check.text += (n == 0 ? operation + " " : std::string(", ")) + names[n];
  }
  check.text += ";";
  check.values = any_integer;
  check.reference = [=](const Operands& in) { return Results{.d = function(in), .carry = {}}; };
  expect_as_reference(check);
}

bool bit(std::uint64_t value, int n) { return (value >> n & 1) != 0; }
int width_of(const std::string& type) { return std::stoi(type.substr(1)); }

TEST(BitOperations, Logic) {
  for (const std::string type : {"b16", "b32", "b64"}) {
    expect("and." + type, {type, type, type}, [](const Operands& in) { return in.a & in.b; });
    expect("or." + type, {type, type, type}, [](const Operands& in) { return in.a | in.b; });
    expect("xor." + type, {type, type, type}, [](const Operands& in) { return in.a ^ in.b; });
    expect("not." + type, {type, type}, [](const Operands& in) { return ~in.a; });
    expect("cnot." + type, {type, type},
           [](const Operands& in) { return std::uint64_t{in.a == 0}; });
  }
}

std::uint64_t by_table(const Operands& in, int table) {
  std::uint64_t result = 0;
  for (int n = 0; n < 32; ++n) {
    const int row = bit(in.a, n) * 4 + bit(in.b, n) * 2 + bit(in.c, n);
    result |= std::uint64_t{bit(table, row)} << n;
  }
  return result;
}

TEST(BitOperations, EveryTruthTable) {
  for (int table = 0; table < 256; ++table) {
    Check check;
    check.text = "lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";";
    check.registers = ".reg .b32 %d, %a, %b, %c;";
    check.values = any_integer;
    check.rounds = 4;
    check.reference = [=](const Operands& in) {
      return Results{.d = by_table(in, table), .carry = {}};
    };
    expect_as_reference(check);
  }
}

TEST(BitOperations, TruthTableWithPredicate) {
  for (const bool conjunction : {false, true}) {
    for (const bool negated : {false, true}) {
      Check check;
      check.text = std::string("lop3.") + (conjunction ? "and" : "or") +
                   ".b32 %d|%p, %a, %b, %c, 0x80, " + (negated ? "!%r;" : "%r;");
      check.registers = ".reg .b32 %d, %a, %b, %c; .reg .pred %p, %r;";
      check.values = any_integer;
      check.reference = [=](const Operands& in) {
        Results out;
        out.d = by_table(in, 0x80);
        const bool q = in.r != negated;
        out.p = conjunction ? out.d != 0 && q : out.d != 0 || q;
        return out;
      };
      expect_as_reference(check);
    }
  }
}

TEST(BitOperations, ShiftsAreClamped) {
  for (const std::string type : {"b16", "b32", "b64"}) {
    const int width = width_of(type);
    const std::string number = std::to_string(width);
    expect("shl." + type, {type, type, "u32"}, [=](const Operands& in) {
      return in.b >= static_cast<unsigned>(width) ? 0 : in.a << in.b;
    });
    expect("shr.b" + number, {type, type, "u32"}, [=](const Operands& in) {
      return in.b >= static_cast<unsigned>(width) ? 0 : in.a >> in.b;
    });
    expect("shr.u" + number, {type, type, "b32"}, [=](const Operands& in) {
      return in.b >= static_cast<unsigned>(width) ? 0 : in.a >> in.b;
    });
    expect("shr.s" + number, {type, type, "b32"}, [=](const Operands& in) {
      std::uint64_t result = 0;
      for (int n = 0; n < width; ++n) {
        const std::uint64_t from = n + in.b;
        result |= std::uint64_t{bit(in.a, from >= static_cast<unsigned>(width) ? width - 1 : from)}
                  << n;
      }
      return result;
    });
  }
}

TEST(BitOperations, FunnelShifts) {
  for (const bool left : {false, true}) {
    for (const bool wrap : {false, true}) {
      expect(std::string("shf.") + (left ? "l" : "r") + (wrap ? ".wrap" : ".clamp") + ".b32",
             {"b32", "b32", "b32", "u32"}, [=](const Operands& in) {
               const unsigned n = wrap ? in.c % 32 : std::min<std::uint64_t>(in.c, 32);
               const std::uint64_t both = in.b << 32 | in.a;
               std::uint64_t result = 0;
               for (int i = 0; i < 32; ++i) {
                 const int from = left ? i + 32 - static_cast<int>(n) : i + static_cast<int>(n);
                 result |= std::uint64_t{bit(both, from)} << i;
               }
               return result;
             });
    }
  }
}

/// Bytes 7 to 0 are those of b, then of a; `chosen` lists four of them, the highest first.
std::uint64_t bytes_of_pair(const Operands& in, const std::string& chosen) {
  const std::uint64_t both = in.b << 32 | in.a;
  std::uint64_t result = 0;
  for (const char digit : chosen) result = result << 8 | (both >> 8 * (digit - '0') & 0xff);
  return result;
}

TEST(BitOperations, PermutationOfBytes) {
  expect("prmt.b32", {"b32", "b32", "b32", "b32"}, [](const Operands& in) {
    const std::uint64_t both = in.b << 32 | in.a;
    std::uint64_t result = 0;
    for (int n = 0; n < 4; ++n) {
      const int selector = static_cast<int>(in.c >> 4 * n & 15);
      const std::uint64_t byte = both >> 8 * (selector % 8) & 0xff;
      result |= (selector < 8 ? byte : bit(byte, 7) ? 0xff : 0) << 8 * n;
    }
    return result;
  });
  // The tables of the PTX ISA: which bytes, for c = 0, 1, 2, 3.
  const std::pair<const char*, std::array<const char*, 4>> modes[] = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  for (const auto& [mode, rows] : modes) {
    expect(std::string("prmt.b32.") + mode, {"b32", "b32", "b32", "b32"},
           [rows = rows](const Operands& in) { return bytes_of_pair(in, rows[in.c % 4]); });
  }
}

int highest(std::uint64_t value, int width) {
  for (int n = width - 1; n >= 0; --n) {
    if (bit(value, n)) return n;
  }
  return -1;
}

TEST(BitOperations, Counts) {
  for (const std::string type : {"b32", "b64"}) {
    const int width = width_of(type);
    expect("popc." + type, {"u32", type}, [](const Operands& in) {
      std::uint64_t count = 0;
      for (int n = 0; n < 64; ++n) count += bit(in.a, n);
      return count;
    });
    expect("clz." + type, {"b32", type}, [=](const Operands& in) {
      return static_cast<std::uint64_t>(width - 1 - highest(in.a, width));
    });
    expect("brev." + type, {type, type}, [=](const Operands& in) {
      std::uint64_t result = 0;
      for (int n = 0; n < width; ++n) result |= std::uint64_t{bit(in.a, n)} << (width - 1 - n);
      return result;
    });
    for (const bool is_signed : {false, true}) {
      for (const bool amount : {false, true}) {
        expect(std::string("bfind") + (amount ? ".shiftamt." : ".") + (is_signed ? "s" : "u") +
                   std::to_string(width),
               {"u32", type}, [=](const Operands& in) {
                 const bool negative = is_signed && bit(in.a, width - 1);
                 const std::uint64_t value = negative ? ~in.a : in.a;
                 const int found = highest(value, width);
                 if (found < 0) return std::uint64_t{0xffffffff};
                 return static_cast<std::uint64_t>(amount ? width - 1 - found : found);
               });
      }
    }
  }
}

TEST(BitOperations, FindsTheNthSetBit) {
  expect("fns.b32", {"b32", "b32", "b32", "s32"}, [](const Operands& in) {
    const std::int64_t offset = static_cast<std::int32_t>(in.c);
    std::int64_t position = static_cast<std::int64_t>(in.b);
    if (offset == 0) {
      return position < 32 && bit(in.a, position) ? static_cast<std::uint64_t>(position)
                                                  : 0xffffffff;
    }
    std::int64_t left = offset > 0 ? offset - 1 : -offset - 1;
    for (; position >= 0 && position < 32; position += offset > 0 ? 1 : -1) {
      if (bit(in.a, position) && left-- == 0) return static_cast<std::uint64_t>(position);
    }
    return std::uint64_t{0xffffffff};
  });
}

TEST(BitOperations, Fields) {
  for (const std::string type : {"u32", "s32", "u64", "s64"}) {
    const int width = width_of(type), top = width - 1;
    const bool is_signed = type[0] == 's';
    expect("bfe." + type, {type, type, "u32", "u32"}, [=](const Operands& in) {
      const int position = in.b & 0xff, length = in.c & 0xff;
      const bool sign = is_signed && length != 0 && bit(in.a, std::min(position + length - 1, top));
      std::uint64_t result = 0;
      for (int n = 0; n < width; ++n) {
        const bool inside = n < length && position + n <= top;
        result |= std::uint64_t{inside ? bit(in.a, position + n) : sign} << n;
      }
      return result;
    });
  }
  for (const std::string type : {"b32", "b64"}) {
    const int top = width_of(type) - 1;
    expect("bfi." + type, {type, type, type, "b32", "b32"}, [=](const Operands& in) {
      const int position = in.c & 0xff, length = in.e & 0xff;
      std::uint64_t result = in.b;
      for (int n = 0; n < length && position + n <= top; ++n) {
        const std::uint64_t here = std::uint64_t{1} << (position + n);
        result = bit(in.a, n) ? result | here : result & ~here;
      }
      return result;
    });
  }
}

TEST(BitOperations, SignExtensionAndMasks) {
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    for (const bool is_signed : {false, true}) {
      expect("szext." + mode + (is_signed ? ".s32" : ".u32"), {"b32", "b32", "u32"},
             [=](const Operands& in) {
               if (!wrap && in.b >= 32) return in.a;
               const int length = in.b % 32;
               std::uint64_t result = 0;
               for (int n = 0; n < 32; ++n) {
                 const bool extended = is_signed && length != 0 && bit(in.a, length - 1);
                 result |= std::uint64_t{n < length ? bit(in.a, n) : extended} << n;
               }
               return result;
             });
    }
    expect("bmsk." + mode + ".b32", {"b32", "u32", "u32"}, [=](const Operands& in) {
      const std::uint64_t position = wrap ? in.a % 32 : in.a, length = wrap ? in.b % 32 : in.b;
      std::uint64_t result = 0;
      for (std::uint64_t n = 0; n < 32; ++n) {
        if (n >= position && n - position < length) result |= std::uint64_t{1} << n;
      }
      return result;
    });
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::bits_test
