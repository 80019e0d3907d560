// The machine code of lines, of this program and out of what nvdisasm prints.
#include "harness/explain/code_of_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpgauge::explain::code_of_lines_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr const char* kFaultyCopy = "_ZN6faulty4copyEPfPKf";

TEST(Disassembly, InstructionsByKernelAndAddress) {
  const auto kernels = read_disassembly(R"(	.target	sm_90
        /*0000*/                   NOP ;
//--------------------- .text._Z1av   --------------------------
	.section	.text._Z1av,"ax",@progbits
.text._Z1av:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*01a0*/              @!P0 BRA `(.L_x_0) ;
        /*zz*/                     NOP ;
        /*0010*/                   cut off
.text._Z1bv:
        /*0000*/                   EXIT ;
)");
  EXPECT_THAT(kernels, ElementsAre(Pair("_Z1av", ElementsAre(Pair(0, "LDC R1, c[0x0][0x28]"),
                                                             Pair(0x1a0, "@!P0 BRA `(.L_x_0)"))),
                                   Pair("_Z1bv", ElementsAre(Pair(0, "EXIT")))));
  EXPECT_THAT(read_disassembly(""), IsEmpty());
}

TEST(CodeOfLines, HasThePtxOfEachInstruction) {
  const CodeOfLines code = code_of_lines({kFaultyCopy}, "sm_90");
  bool stores = false;
  for (const LineCode& line : code.lines) {
    EXPECT_EQ(line.kernel, "faulty::copy(float*, float const*)");
    EXPECT_THAT(line.file, EndsWith(".cu"));
    EXPECT_GT(line.line, 0);
    for (const MachineInstruction& instruction : line.instructions) {
      EXPECT_EQ(instruction.address % 16, 0u);
      stores = stores || instruction.ptx.starts_with("st.global");
    }
  }
  EXPECT_TRUE(stores);
  EXPECT_THAT(code.note, HasSubstr("PTX"));
}

TEST(CodeOfLines, WhereThereIsNoneTheNoteSaysWhy) {
  const CodeOfLines code = code_of_lines({kFaultyCopy}, "sm_1");
  EXPECT_THAT(code.lines, IsEmpty());
  EXPECT_THAT(code.note, StartsWith("None of faulty::copy(float*, float const*) for sm_1: "));
}

}  // namespace
}  // namespace warpgauge::explain::code_of_lines_test
