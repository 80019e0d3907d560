// The PTX parser: names that blocks { } of a body declare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::ptx::ptx_blocks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> names(const std::vector<Register>& registers) {
  std::vector<std::string> all;
  for (const Register& reg : registers) all.push_back(reg.name);
  return all;
}

TEST(PtxBlocks, LaterDeclarationsGetNamesOfTheirOwn) {
  const Function function = parse_body(
      "{ .param .b32 param0; st.param.b32 [param0+4], 1; }\n"
      "{ .param .b64 param0; st.param.b64 [param0], {1, param0}; call f, (param0); }\n"
      "{ .reg .b32 t<2>; mov.b32 t1, t0; }\n{ .reg .b32 t<2>; @t0 mov.b32 t1, t2; }");
  EXPECT_THAT(texts_of(function),
              ElementsAre("st.param.b32 [param0+4], 1", "st.param.b64 [param0#2], {1, param0#2}",
                          "call f, (param0#2)", "mov.b32 t1, t0", "@t0#2 mov.b32 t1#2, t2"));
  EXPECT_THAT(names(function.registers), ElementsAre("t0", "t1", "t0#2", "t1#2"));
  ASSERT_THAT(function.variables, SizeIs(2));
  EXPECT_EQ(function.variables[0].name, "param0");
  EXPECT_EQ(function.variables[1].name, "param0#2");
  EXPECT_EQ(function.variables[1].bytes, 8u);
}

TEST(PtxBlocks, AnInnerNameHidesTheOuterOneFromItsDeclarationToTheEndOfTheBlock) {
  const Function function = parse_body(
      ".reg .b32 a;\nmov a, 1;\n{ mov a, 2; .reg .f64 a; mov a, 3; { mov a, 4; } }\nmov a, 5;");
  EXPECT_THAT(texts_of(function),
              ElementsAre("mov a, 1", "mov a, 2", "mov a#2, 3", "mov a#2, 4", "mov a, 5"));
}

TEST(PtxBlocks, AnOuterNameMayComeAfterAnInnerOne) {
  const Function function =
      parse_body("{ .reg .b32 a; mov a, 1; }\n.reg .b64 a;\nmov a, 2;\n{ mov a, 3; }");
  EXPECT_THAT(texts_of(function), ElementsAre("mov a, 1", "mov a#2, 2", "mov a#2, 3"));
}

TEST(PtxBlocks, LabelsHoldInAllOfTheirBlockAlsoBeforeTheyStand) {
  const Function function = parse_body(
      "{ W: bra D; bra W; { bra D; } D: }\n{ W: bra W; bra D; D: }\nbra D;\n"
      "{ bra D; { D: bra D; } }\nD:");
  EXPECT_THAT(texts_of(function), ElementsAre("bra D", "bra W", "bra D", "bra W#2", "bra D#2",
                                              "bra D#4", "bra D#4", "bra D#3"));
  std::vector<std::string> labels;
  for (const Label& label : function.labels) labels.push_back(label.name);
  EXPECT_THAT(labels, ElementsAre("W", "D", "W#2", "D#2", "D#3", "D#4"));
}

TEST(PtxBlocks, TargetListsMeanTheLabelsOfTheirBlock) {
  const Function function = parse_body(
      "{ L: t: .branchtargets L; brx.idx a, t; }\n{ t: .branchtargets L, M; brx.idx a, t; L: "
      "}\nM:");
  ASSERT_THAT(function.target_lists, SizeIs(2));
  EXPECT_THAT(function.target_lists[0].targets, ElementsAre("L"));
  EXPECT_EQ(function.target_lists[1].name, "t#2");
  EXPECT_THAT(function.target_lists[1].targets, ElementsAre("L#2", "M"));
  EXPECT_THAT(texts_of(function), ElementsAre("brx.idx a, t", "brx.idx a, t#2"));
}

TEST(PtxBlocks, NamesOfTheModuleAreNotHiddenFromOtherBlocks) {
  const Module module = parse_items(
      ".global .b32 x;\n.entry k() {\n{ .reg .b32 x; mov.b32 x, 1; }\nld.b32 a, [x];\n}");
  const Function& function = module.functions.at(0);
  EXPECT_THAT(texts_of(function), ElementsAre("mov.b32 x#2, 1", "ld.b32 a, [x]"));
  EXPECT_THAT(names(function.registers), ElementsAre("x#2"));
}

TEST(PtxBlocks, ComponentsOfSpecialRegistersStay) {
  const Function function =
      parse_body("{ .reg .b32 %tid; }\n{ .reg .b32 %tid; mov a, %tid.x; mov a, %tid; }");
  EXPECT_THAT(texts_of(function), ElementsAre("mov a, %tid.x", "mov a, %tid#2"));
}

}  // namespace
}  // namespace warpgauge::emulator::ptx::ptx_blocks_test
