// Faults of memory name the 32-bit product that their address came from.
#include "harness/emulator/machine/core/wrapped_product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/machine.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::wrapped_product_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What the fault says of a kernel with 32 threads, which ends with a store to [%rd9].
std::string message(const std::string& body) {
  const auto fault = fault_of(kernel_text(body + "st.global.u32 [%rd9], %r0;"));
  EXPECT_TRUE(fault.has_value() && fault->kind() == Fault::Kind::illegal_address) << body;
  return fault.has_value() ? fault->what() : "";
}

TEST(WrappedProducts, AreToldByTheirFactorsAndPlace) {
  EXPECT_THAT(
      message("mul.lo.s32 %r3, %r2, 100000000; mul.wide.s32 %rd3, %r3, 4;\n"
              "add.s64 %rd9, %rd0, %rd3;"),
      HasSubstr("; the 32-bit product 32 * 100000000 at k, PTX line 15 wrapped to -1094967296: "
                "compute it in 64 bits"));
}

TEST(WrappedProducts, AreFoundInEveryFormThatCompilersWrite) {
  struct {
    const char *body, *told;
  } const cases[] = {
      {"mad.lo.s32 %r3, %r2, 100000000, %r0; cvt.s64.s32 %rd3, %r3; shl.b64 %rd4, %rd3, 2;"
       "add.s64 %rd9, %rd0, %rd4;",
       "32 * 100000000"},
      {"shl.b32 %r3, %r2, 26; mul.wide.s32 %rd3, %r3, 8; add.s64 %rd9, %rd3, %rd0;",
       "32 * 67108864"},
      {"mul.lo.s32 %r3, %r2, 200000000; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd9, %rd0, %rd3;",
       "32 * 200000000"},
      {"sub.s32 %r3, %r0, %r2; mul.lo.s32 %r4, %r3, 100000000; mul.wide.s32 %rd3, %r4, 4;"
       "add.s64 %rd9, %rd0, %rd3;",
       "-32 * 100000000"},
      // The rest of the sum is not known.
      {"ld.global.u32 %r5, [%rd0]; mad.lo.s32 %r3, %r2, 100000000, %r5;"
       "mad.wide.s32 %rd9, %r3, 4, %rd0;",
       "32 * 100000000"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(message(each.body), HasSubstr(std::string("the 32-bit product ") + each.told))
        << each.body;
  }
}

TEST(WrappedProducts, OfParametersAndIndicesOfTheFaultingThread) {
  const std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 output, .param .align 4 .b8 size[8]) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [output];
  ld.param.u32 %r1, [size+4];
  mov.u32 %r2, %tid.y;
  mul.lo.s32 %r3, %r2, %r1;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.s32 %rd3, %r3, 4;
  add.s64 %rd4, %rd2, %rd3;
  setp.ne.u32 %p1, %r2, 3;
  @%p1 ret;
  st.global.u32 [%rd4], %r2;
}
)";
  Machine machine(Architecture{}, limited());
  Kernel* const kernel = machine.find_kernel(machine.load(ptx::parse(text, "test.ptx")), "k");
  ASSERT_NE(kernel, nullptr);
  std::array<std::byte, 16> parameters{};
  const std::uint32_t stride = 1'000'000'000;
  std::memcpy(parameters.data() + 12, &stride, sizeof stride);
  try {
    machine.run(*kernel, {.block = {1, 4, 1}, .parameters = parameters});
    ADD_FAILURE() << "no fault";
  } catch (const Fault& fault) {
    EXPECT_THAT(fault.what(),
                HasSubstr("; the 32-bit product 3 * 1000000000 at k, PTX line 9 wrapped to "));
  }
}

TEST(WrappedProducts, AreNotGuessed) {
  const char* const bodies[] = {
      // It fits: what reads it takes it for unsigned, or it has 64 bits.
      "mul.lo.s32 %r3, %r2, 100000000; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd9, %rd0, %rd3;",
      "mul.wide.u32 %rd3, %r2, 100000000; mul.lo.s64 %rd4, %rd3, 400; add.s64 %rd9, %rd0, %rd4;",
      // Another value may have come by the other way, or on the next round.
      "mul.lo.s32 %r3, %r2, 100000000; setp.eq.u32 %p1, %r0, 99; @%p1 mov.u32 %r3, -1000000000;"
      "mul.wide.s32 %rd3, %r3, 4; add.s64 %rd9, %rd0, %rd3;",
      "setp.lt.u32 %p1, %r0, 99; @%p1 mul.lo.s32 %r3, %r2, 100000000;"
      "mul.wide.s32 %rd3, %r3, 4; add.s64 %rd9, %rd0, %rd3;",
      // Neither is what memory has, nor a float.
      "ld.global.u32 %r5, [%rd0]; sub.s32 %r4, %r5, 100000000; mul.lo.s32 %r3, %r2, %r4;"
      "mul.wide.s32 %rd3, %r3, 4; add.s64 %rd9, %rd0, %rd3;",
      "mov.f32 %f1, 0f4E6E6B28; cvt.rzi.s32.f32 %r4, %f1; mul.lo.s32 %r3, %r4, 3;"
      "mul.wide.s32 %rd3, %r3, 4; add.s64 %rd9, %rd0, %rd3;",
      // The high half of a product is no product that wrapped.
      "mul.hi.u32 %r3, %r2, -1; mul.wide.u32 %rd3, %r3, -4; add.s64 %rd9, %rd0, %rd3;",
      // A hash wants its product to wrap.
      "mul.lo.s32 %r3, %r2, 200000003; or.b32 %r4, %r3, -2147483648; mul.wide.u32 %rd3, %r4, 4;"
      "add.s64 %rd9, %rd0, %rd3;",
      // A register that is made of itself.
      "mov.u32 %r9, 1000000000; mad.lo.s32 %r3, %r9, 3, %r3; mul.lo.s32 %r3, %r3, 8;"
      "mul.wide.s32 %rd3, %r3, -1; mul.lo.s64 %rd4, %rd3, 65536; add.s64 %rd9, %rd4, -8;",
      "mad.lo.s64 %rd9, %rd9, 0, 16;",
  };
  for (const char* const body : bodies) {
    EXPECT_THAT(message(body), Not(HasSubstr("32-bit"))) << body;
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::wrapped_product_test
