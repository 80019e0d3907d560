// Parameters of calls in registers: which ones, and the code that reads and writes them.
#include "harness/emulator/machine/decode/parameter_registers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::machine::decode::parameter_registers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kRegisters = ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<2>;";

/// The body of a kernel, rewritten; empty if nothing is.
std::vector<std::string> rewritten(const std::string& body) {
  const auto function = with_parameters_in_registers(ptx::parse_body(kRegisters + body));
  return function == nullptr ? std::vector<std::string>() : texts_of(*function);
}

TEST(ParameterRegisters, HoldWhatIsReadAndWrittenAsAWhole) {
  EXPECT_THAT(rewritten(R"(
    .param .b32 a; .param .align 8 .b8 b[8]; .param .b32 r;
    st.param.f32 [a+0], %f0;
    @%r1 st.param.b64 [b], 5;
    call.uni (r), f, (a, b);
    ld.param.b32 %r0, [r+0];)"),
              ElementsAre("mov.b32 a, %f0", "@%r1 mov.b64 b, 5", "call.uni (r), f, (a, b)",
                          "mov.b32 %r0, r"));
}

TEST(ParameterRegisters, HoldNothingThatIsAccessedOtherwise) {
  for (const char* const body : {
           ".param .b64 parts; st.param.b32 [parts], %r0; st.param.b32 [parts+4], %r1;",
           ".param .align 8 .b8 large[16]; st.param.b64 [large], %rd0;",
           ".param .b32 small; st.param.b8 [small], %r0;",
           ".param .b64 address; mov.u64 %rd1, address;",
           ".param .b32 widened; ld.param.b32 %rd2, [widened];",
           ".param .b64 pair; st.param.v2.b32 [pair], {%r0, %r1};",
       }) {
    EXPECT_THAT(rewritten(body), IsEmpty()) << body;
  }
}

TEST(ParameterRegisters, HoldOthersBesideOneThatIsAccessedOtherwise) {
  EXPECT_THAT(rewritten(R"(
    .param .b64 parts; .param .b32 whole;
    st.param.b64 [parts], %rd0;
    st.param.b32 [whole], %r0;
    ld.param.b32 %r1, [parts+4];)"),
              ElementsAre("st.param.b64 [parts], %rd0", "mov.b32 whole, %r0",
                          "ld.param.b32 %r1, [parts+4]"));
}

TEST(ParameterRegisters, HoldNoParametersOfKernels) {
  EXPECT_THAT(rewritten("ld.param.u64 %rd0, [p];"), IsEmpty());
}

TEST(ParameterRegisters, HoldParametersAndResultsOfTheFunction) {
  const ptx::Module module = ptx::parse_items(R"(
.func (.param .b32 result) f(.param .b64 a, .param .align 4 .b8 b[12]) {
  .reg .b32 %x<2>; .reg .b64 %y<2>;
  ld.param.u64 %y0, [a];
  ld.param.u32 %x0, [b+8];
  st.param.b32 [result], %x0;
})");
  const auto function = with_parameters_in_registers(module.functions.at(0));
  ASSERT_NE(function, nullptr);
  EXPECT_THAT(texts_of(*function),
              ElementsAre("mov.b64 %y0, a", "ld.param.u32 %x0, [b+8]", "mov.b32 result, %x0"));
  EXPECT_EQ(function->parameters[0].space, ptx::Space::reg);
  EXPECT_EQ(function->parameters[1].space, ptx::Space::param);
  EXPECT_EQ(function->results[0].space, ptx::Space::reg);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::decode::parameter_registers_test
