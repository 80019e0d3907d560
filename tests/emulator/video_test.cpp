// The video instructions: by numbers worked out by hand, and against references that go element by
// element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::video_test {
namespace {

using testing::HasSubstr;

const std::string kRegisters = ".reg .b32 %d, %a, %b, %c;";

void expect(const std::string& text, const std::function<std::uint32_t(const Operands&)>& function,
            const Values& values = any_integer) {
  expect_as_reference(
      {.text = text + ";",
       .registers = kRegisters,
       .values = values,
       .reference = [=](const Operands& in) { return Results{.d = function(in), .carry = {}}; }});
}

/// The result for these operands.
void expect_number(const std::string& operation, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                   std::uint32_t d) {
  const auto text = [](std::uint32_t number) { return ", " + std::to_string(number); };
  expect(operation + " %d" + text(a) + text(b) + text(c), [=](const Operands&) { return d; });
}

template <typename T>
T element(std::uint64_t value, int n) {
  return static_cast<T>(value >> (8 * sizeof(T) * static_cast<unsigned>(n)));
}

TEST(VideoOperations, SumsOfAbsoluteDifferences) {
  expect("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c", [](const Operands& in) {
    auto sum = static_cast<std::uint32_t>(in.c);
    for (int n = 0; n < 4; ++n) {
      const int a = element<std::uint8_t>(in.a, n), b = element<std::uint8_t>(in.b, n);
      sum += static_cast<std::uint32_t>(std::abs(a - b));
    }
    return sum;
  });
  expect("vabsdiff2.s32.s32.s32.add %d, %a, %b, %c", [](const Operands& in) {
    auto sum = static_cast<std::uint32_t>(in.c);
    for (int n = 0; n < 2; ++n) {
      const int a = element<std::int16_t>(in.a, n), b = element<std::int16_t>(in.b, n);
      sum += static_cast<std::uint32_t>(std::abs(a - b));
    }
    return sum;
  });
}

TEST(VideoOperations, ElementsAreMergedIntoTheThirdOperand) {
  expect("vadd4.s32.s32.s32.sat %d.b31, %a, %b, %c", [](const Operands& in) {
    std::uint32_t out = 0;
    for (int n = 0; n < 4; ++n) {
      const int sum = element<std::int8_t>(in.a, n) + element<std::int8_t>(in.b, n);
      const int value = n % 2 == 1 ? std::clamp(sum, -128, 127) : element<std::uint8_t>(in.c, n);
      out |= (static_cast<std::uint32_t>(value) & 0xff) << 8 * n;
    }
    return out;
  });
  expect("vmax2.u32.u32.u32 %d, %a.h13, %b.h02, %c", [](const Operands& in) {
    const std::uint64_t both = in.b << 32 | in.a;
    std::uint32_t out = 0;
    constexpr int kA[] = {3, 1}, kB[] = {2, 0};
    for (int n = 0; n < 2; ++n) {
      out |= std::uint32_t{std::max(element<std::uint16_t>(both, kA[n]),
                                    element<std::uint16_t>(both, kB[n]))}
             << 16 * n;
    }
    return out;
  });
  expect("vset4.s32.u32.lt %d, %a, %b, %c", [](const Operands& in) {
    std::uint32_t out = 0;
    for (int n = 0; n < 4; ++n) {
      const bool less = element<std::int8_t>(in.a, n) < element<std::uint8_t>(in.b, n);
      out |= std::uint32_t{less} << 8 * n;
    }
    return out;
  });
}

TEST(VideoOperations, Scalars) {
  expect("vadd.u32.u32.s32.sat %d, %a.b1, %b.h1", [](const Operands& in) {
    return static_cast<std::uint32_t>(
        std::max(0, element<std::uint8_t>(in.a, 1) + element<std::int16_t>(in.b, 1)));
  });
  expect("vsub.s32.s32.s32 %d.h0, %a, %b, %c", [](const Operands& in) {
    return static_cast<std::uint32_t>(((in.a - in.b) & 0xffff) | (in.c & 0xffff0000));
  });
  expect("vmin.s32.s32.s32.max %d, %a, %b, %c", [](const Operands& in) {
    const auto word = [](std::uint64_t value) { return static_cast<std::int32_t>(value); };
    return static_cast<std::uint32_t>(std::max(std::min(word(in.a), word(in.b)), word(in.c)));
  });
  expect("vset.u32.u32.ge.add %d, %a, %b, %c", [](const Operands& in) {
    return static_cast<std::uint32_t>(in.c) + (in.a >= in.b ? 1 : 0);
  });
  expect("vshr.s32.s32.u32.clamp %d, %a, %b.b0", [](const Operands& in) {
    const std::int64_t a = static_cast<std::int32_t>(in.a);
    return static_cast<std::uint32_t>(a >> std::min<std::uint64_t>(in.b & 0xff, 32));
  });
  expect("vshl.u32.u32.u32.wrap %d, %a, %b",
         [](const Operands& in) { return static_cast<std::uint32_t>(in.a << (in.b & 31)); });
}

TEST(VideoOperations, ProductsAndSums) {
  expect("vmad.u32.u32.u32.po %d, %a, %b, %c",
         [](const Operands& in) { return static_cast<std::uint32_t>(in.a * in.b + in.c + 1); });
  expect("vmad.s32.s32.s32 %d, -%a, %b, %c",
         [](const Operands& in) { return static_cast<std::uint32_t>(in.c - in.a * in.b); });
  expect("vmad.s32.s32.s32 %d, %a, %b, -%c",
         [](const Operands& in) { return static_cast<std::uint32_t>(in.a * in.b - in.c); });
  expect("vmad.s32.s32.s32.sat.shr15 %d, %a.h1, %b.h0, %c", [](const Operands& in) {
    const std::int64_t product =
        std::int64_t{element<std::int16_t>(in.a, 1)} * element<std::int16_t>(in.b, 0);
    return static_cast<std::uint32_t>((product + static_cast<std::int32_t>(in.c)) >> 15);
  });
}

TEST(VideoOperations, NumbersWorkedOutByHand) {
  expect_number("vabsdiff4.u32.u32.u32.add", 0x01ff0010, 0x02000110, 100, 100 + 1 + 255 + 1);
  expect_number("vavrg4.s32.s32.s32", 0x01fd0302, 0x02fe0403, 0, 0x02fd0403);
  expect_number("vadd2.s32.s32.s32.sat", 0x7fff8000, 0x0001ffff, 0, 0x7fff8000);
  expect_number("vmad.u32.u32.u32.sat", 0x10000, 0x10000, 0, 0xffffffff);
}

TEST(VideoOperations, FormsThatThereAreNotAreRefused) {
  const auto refused = [](const std::string& text) { return refusal(kRegisters, text + ";"); };
  EXPECT_EQ(refused("vadd4.u32.u32.u32 %d, %a, %b, %c"), "");
  EXPECT_THAT(refused("vadd4.u32.u32.u32.sat.add %d, %a, %b, %c"), HasSubstr("saturation"));
  EXPECT_THAT(refused("vadd4.u32.u32.u32 %d, %a.b8210, %b, %c"), HasSubstr("selector .b8210"));
  EXPECT_THAT(refused("vadd4.u32.u32.u32 %d.b13, %a, %b, %c"), HasSubstr("mask .b13"));
  EXPECT_THAT(refused("vadd.u32.u32.u32 %d, %a.h2, %b"), HasSubstr("selector .h2"));
  EXPECT_THAT(refused("vadd.u32.u32.u32 %d, %a, %b, %c"), HasSubstr("number of operands"));
  EXPECT_THAT(refused("vadd.u32.u32.u32.add %d.b0, %a, %b, %c"), HasSubstr("selector .b0"));
  EXPECT_THAT(refused("vsub.u32.u32.u32 %d, -%a, %b"), HasSubstr("a negated operand"));
  EXPECT_THAT(refused("vshl4.u32.u32.u32.wrap %d, %a, %b, %c"), HasSubstr("vshl4"));
  EXPECT_THAT(refused("add.u32 %d, -%a, %b"), HasSubstr("a negated operand"));
}

TEST(VideoOperations, OtherInstructionsHaveNoSelectors) {
  const auto fault = fault_of(kernel_text("{ .reg .b32 %x<3>; add.u32 %x1, %x2.b0, 1; ret; }"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::not_emulated);
  EXPECT_THAT(fault->what(), HasSubstr("selector .b0"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::video_test
