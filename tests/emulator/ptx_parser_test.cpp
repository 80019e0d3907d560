// The PTX parser: modules, functions, instructions, operands and constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::ptx::ptx_parser_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The one instruction of a body, as text.
std::string instruction(const std::string& statement) {
  const Function function = parse_body(statement);
  EXPECT_THAT(function.body, SizeIs(1)) << statement;
  return text_of(function.body.at(0));
}

/// The value of a constant expression, as text.
std::string value(const std::string& expression) {
  return text_of(parse_body("mov.b64 a, " + expression + ";").body.at(0).operands.at(1));
}

template <typename T>
std::vector<T> values(const Variable& variable) {
  std::vector<T> all(variable.initial.size() / sizeof(T));
  std::memcpy(all.data(), variable.initial.data(), all.size() * sizeof(T));
  return all;
}

std::vector<std::string> names(const std::vector<Register>& registers) {
  std::vector<std::string> all;
  for (const Register& reg : registers) all.push_back(reg.name);
  return all;
}

TEST(PtxModule, HeadIsRead) {
  const Module module =
      parse("// a comment\n.version 8.7\n.target sm_100a, debug\n.address_size 64\n", "m.ptx");
  EXPECT_EQ(module.file, "m.ptx");
  EXPECT_EQ(module.version_major, 8);
  EXPECT_EQ(module.version_minor, 7);
  EXPECT_EQ(module.target, "sm_100a");
  EXPECT_THAT(module.functions, IsEmpty());
  EXPECT_THAT(module.variables, IsEmpty());
}

TEST(PtxModule, ZerosAfterTheTextAreNotPartOfIt) {
  const std::string text = ".version 9.0\n.target sm_90\n" + std::string(2, '\0');
  EXPECT_EQ(parse(text, "m.ptx").target, "sm_90");
}

TEST(PtxModule, SectionsPragmasAndPreprocessorLinesAreSkipped) {
  const Module module = parse_items(
      "# 1 \"a.cu\"\n.pragma \"nounroll\", \"other\";\n"
      ".section .debug_str { $L: .b8 95,90 /* } */\n.b64 $L+4 }\n"
      ".section .debug_info\n{\n}\n.global .b32 x;\n.file 1 \"a.cu\", 123, 456\n");
  EXPECT_THAT(module.variables, SizeIs(1));
}

TEST(PtxModule, SourcesOfOtherLanguagesAreSkipped) {
  const Module module = parse_items(
      ".visible .entry k(.param .u64 p, .hidden\t.param .align 64 .b8 map[128])\n"
      ".reqntid 128\n.minnctapersm 1\n.language 7\n{ ret; }\n"
      ".nv_intermediate_source_section {\n.code_block {\n.ir_name: \"tile ir\"\n"
      ".sourceFileName: 2\n.source_begin\n"
      "%0 = for { 'it \"is { no PTX \xe2\x86\x92 @ \\ . }\n.source_end\n}\n}\n.global .b32 x;");
  ASSERT_THAT(module.functions, SizeIs(1));
  const std::vector<Variable>& parameters = module.functions[0].parameters;
  ASSERT_THAT(parameters, SizeIs(2));
  EXPECT_FALSE(parameters[0].is_hidden);
  EXPECT_TRUE(parameters[1].is_hidden);
  EXPECT_EQ(parameters[1].bytes, 128u);
  ASSERT_THAT(module.variables, SizeIs(1));
  EXPECT_EQ(module.variables[0].text_line, 18);
}

TEST(PtxOperand, EveryForm) {
  for (const std::string text :
       {"add.s32 %r1, %r2, -3", "mov.u32 %r1, %tid.x", "mov.u64 %rd1, name+8",
        "mov.b64 {%r1, _}, %rd1", "ld.global.u32 %r1, [%rd1]", "ld.global.u32 %r1, [%rd1+4]",
        "st.global.v2.b32 [%rd1], {%r1, 7}", "tex.2d.v4.f32.f32 {a, b, c, d}, [%rd1, {x, y}]",
        "tex.2d.v4.f32.f32 {a, b, c, d}|p, [%rd1, s, {x, y}]", "setp.eq.s32 %p1|%p2, %r1, 0, !%p3",
        "elect.sync _|%p1, -1", "vadd.u32.u32.u32.sat a, b.b0, c.h1", "ret"}) {
    EXPECT_EQ(instruction(text + ";"), text);
  }
}

TEST(PtxOperand, OffsetsAreConstantExpressions) {
  EXPECT_EQ(instruction("ld.global.u32 %r1, [%rd1+-4];"), "ld.global.u32 %r1, [%rd1-4]");
  EXPECT_EQ(instruction("ld.global.u32 %r1, [%rd1 - 4];"), "ld.global.u32 %r1, [%rd1-4]");
  EXPECT_EQ(instruction("ld.param.u32 %r1, [k_param_0+2*(3+1)];"),
            "ld.param.u32 %r1, [k_param_0+8]");
  EXPECT_EQ(instruction("ld.shared.u32 %r1, [64+16];"), "ld.shared.u32 %r1, [80]");
}

TEST(PtxOperand, FloatsAreTheirBits) {
  EXPECT_EQ(instruction("add.f32 a, 0f3F800000, 0F00000001;"), "add.f32 a, f3f800000, f00000001");
  EXPECT_EQ(instruction("add.f64 a, 0d3FF0000000000000, -1.5;"),
            "add.f64 a, d3ff0000000000000, dbff8000000000000");
}

TEST(PtxOperand, Calls) {
  for (const std::string text :
       {"call (r), %rd8, (a, b), prototype_2", "call.uni f, (a, 7)", "call f", "call (r), f, ()"}) {
    EXPECT_EQ(instruction(text + ";"), text);
  }
  EXPECT_EQ(instruction("call.uni (retval0), \n_Z3fibi, \n(\nparam0\n);"),
            "call.uni (retval0), _Z3fibi, (param0)");
}

TEST(PtxOperand, AnAddressKeepsItsOffsetAndItsBaseHasNone) {
  const Operand address = parse_body("ld.u32 a, [b+12];").body.at(0).operands.at(1);
  EXPECT_EQ(address.kind, Operand::Kind::address);
  EXPECT_EQ(address.offset, 12);
  ASSERT_THAT(address.elements, SizeIs(1));
  EXPECT_EQ(address.elements[0].kind, Operand::Kind::name);
  EXPECT_EQ(address.elements[0].name, "b");
  EXPECT_EQ(address.elements[0].offset, 0);
}

TEST(PtxInstruction, ModifiersAreKeptInOrderAndDoubleColonsTogether) {
  const Function function = parse_body(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [a], [b, {c}], "
      "[d];");
  const Instruction& copy = function.body.at(0);
  EXPECT_EQ(copy.opcode, "cp");
  EXPECT_THAT(copy.modifiers, ElementsAre("async", "bulk", "tensor", "2d", "shared::cluster",
                                          "global", "mbarrier::complete_tx::bytes"));
  EXPECT_TRUE(copy.has("2d"));
  EXPECT_FALSE(copy.has("mbarrier"));
  EXPECT_EQ(copy.full_name(),
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes");
}

TEST(PtxInstruction, ModifiersBehindAnAddressBelongToTheInstruction) {
  EXPECT_EQ(instruction("ld.global.u32 a, [b].unified;"), "ld.global.u32.unified a, [b]");
}

TEST(PtxInstruction, BlanksAndCommentsMayStandAnywhere) {
  EXPECT_EQ(instruction("@ ! %p1\tadd .s32 // to the end\n %r1 ,/* a\n; */%r2,3 ;"),
            "@!%p1 add.s32 %r1, %r2, 3");
}

TEST(PtxInstruction, GuardsAreKept) {
  EXPECT_EQ(instruction("@%p1 bra L;"), "@%p1 bra L");
  EXPECT_EQ(instruction("@!%p1 bra L;"), "@!%p1 bra L");
}

TEST(PtxInstruction, LinesAreThoseOfTheText) {
  const Function function = parse_body("@%p1 bra L;\n\n@!%p1 bra L;\nL: ret; ret;");
  ASSERT_THAT(function.body, SizeIs(4));
  EXPECT_EQ(function.body[0].text_line, 5);
  EXPECT_EQ(function.body[1].text_line, 7);
  EXPECT_EQ(function.body[3].text_line, 8);
  EXPECT_EQ(function.text_line, 4);
}

TEST(PtxInstruction, UnknownOpcodesAreKept) {
  EXPECT_EQ(instruction("frobnicate.b999::x a;"), "frobnicate.b999::x a");
}

TEST(PtxConstant, Numbers) {
  EXPECT_EQ(value("42"), "42");
  EXPECT_EQ(value("0"), "0");
  EXPECT_EQ(value("0x1F"), "31");
  EXPECT_EQ(value("0XfF"), "255");
  EXPECT_EQ(value("077"), "63");
  EXPECT_EQ(value("0b101"), "5");
  EXPECT_EQ(value("7U"), "7U");
  EXPECT_EQ(value("0U"), "0U");
  EXPECT_EQ(value("0x94009400U"), "2483065856U");
  EXPECT_EQ(value("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(value("9223372036854775808"), "9223372036854775808U");
  EXPECT_EQ(value("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(value("18446744073709551615"), "18446744073709551615U");
  EXPECT_EQ(value("WARP_SZ"), "32");
}

TEST(PtxConstant, Reals) {
  const auto bits = [](double d) { return std::bit_cast<std::uint64_t>(d); };
  const std::vector<std::pair<std::string, double>> cases = {
      {"1.5", 1.5},   {"1.", 1.0},      {"2e3", 2000.0},      {"2.5E-3", 2.5e-3},
      {"1e+2", 100.}, {"-0.25", -0.25}, {"1.5+2.0*3.0", 7.5}, {"0.0", 0.0}};
  for (const auto& [text, number] : cases) {
    const Operand operand = parse_body("mov.f64 a, " + text + ";").body.at(0).operands.at(1);
    EXPECT_EQ(operand.kind, Operand::Kind::real) << text;
    EXPECT_EQ(operand.type, Type::f64) << text;
    EXPECT_EQ(operand.bits, bits(number)) << text;
  }
}

TEST(PtxConstant, ExpressionsAreThoseOfC) {
  EXPECT_EQ(value("(1<<4)|3"), "19");
  EXPECT_EQ(value("2+3*4"), "14");
  EXPECT_EQ(value("(2+3)*4"), "20");
  EXPECT_EQ(value("10-3-2"), "5");
  EXPECT_EQ(value("WARP_SZ*4 - 1"), "127");
  EXPECT_EQ(value("-7/2"), "-3");
  EXPECT_EQ(value("-7 % 3"), "-1");
  EXPECT_EQ(value("10%3"), "1");
  EXPECT_EQ(value("-16>>2"), "-4");
  EXPECT_EQ(value("0x8000000000000000>>63"), "1U");
  EXPECT_EQ(value("1<<64"), "0");
  EXPECT_EQ(value("-1>>200"), "-1");
  EXPECT_EQ(value("~5"), "-6");
  EXPECT_EQ(value("(!(1 == 2) && 3 != 4)"), "1");
  EXPECT_EQ(value("0 || 0"), "0");
  EXPECT_EQ(value("1 || 0"), "1");
  EXPECT_EQ(value("0 || 2"), "1");
  EXPECT_EQ(value("1 ? 2 : 0 ? 3 : 4"), "2");
  EXPECT_EQ(value("5 & 6 ^ 1 | 8"), "13");
  EXPECT_EQ(value("-1 < 1"), "1");
  EXPECT_EQ(value("-1 < 1U"), "0");
  EXPECT_EQ(value("(.u64)-1"), "18446744073709551615U");
  EXPECT_EQ(value("(.s64)0xffffffffffffffff"), "-1");
  EXPECT_EQ(value("9223372036854775807+1"), "-9223372036854775808");
  EXPECT_EQ(value("-9223372036854775808/-1"), "-9223372036854775808");
  EXPECT_EQ(value("-9223372036854775808 % -1"), "0");
  EXPECT_EQ(value("1.5 > 1.25"), "1");
}

TEST(PtxFunction, HeadOfAKernel) {
  const Module module = parse_items(
      ".visible .entry _Z1kPf(.param .u64 p0)\n.maxntid 128, 2\n.minnctapersm 2\n"
      ".explicitcluster\n.reqnctapercluster 2, 1, 1 .pragma \"x\";{ ret; }\n"
      ".entry second .reqntid 32,1,1 .maxnreg 64 { ret; }");
  ASSERT_THAT(module.functions, SizeIs(2));
  const Function& kernel = module.functions[0];
  EXPECT_EQ(kernel.name, "_Z1kPf");
  EXPECT_TRUE(kernel.is_kernel);
  EXPECT_TRUE(kernel.has_body);
  EXPECT_THAT(kernel.max_threads, ElementsAre(128, 2));
  EXPECT_THAT(kernel.required_threads, IsEmpty());
  EXPECT_THAT(module.functions[1].required_threads, ElementsAre(32, 1, 1));
}

TEST(PtxFunction, AreFoundByName) {
  const Module module = parse_items(".entry first { ret; }\n.entry second { ret; }");
  EXPECT_EQ(module.find("second"), &module.functions.at(1));
  EXPECT_EQ(module.find("third"), nullptr);
}

TEST(PtxFunction, ParametersHaveTheAlignmentOfTheirTypeAndNotOfWhatTheyPointTo) {
  const Module module = parse_items(
      ".entry k(\n.param .u64 .ptr .global .align 16 p0,\n.param .align 8 .b8 p1[16],"
      ".param .u64 .ptr .align 1 p2) { ret; }");
  const Function& kernel = module.functions.at(0);
  ASSERT_THAT(kernel.parameters, SizeIs(3));
  EXPECT_EQ(kernel.parameters[0].name, "p0");
  EXPECT_EQ(kernel.parameters[0].type, Type::u64);
  EXPECT_EQ(kernel.parameters[0].bytes, 8u);
  EXPECT_EQ(kernel.parameters[0].alignment, 8u);
  EXPECT_EQ(kernel.parameters[0].space, Space::param);
  EXPECT_EQ(kernel.parameters[1].bytes, 16u);
  EXPECT_EQ(kernel.parameters[1].alignment, 8u);
  EXPECT_EQ(kernel.parameters[2].alignment, 8u);
}

TEST(PtxFunction, DeclarationsAndDefinitionsAreOne) {
  const Module module = parse_items(
      ".func (.param .align 8 .b8 r[16]) f(.param .b64 a);\n.extern .func g(.param .b8 b[]) "
      ".noreturn;\n.weak .func (.param .align 8 .b8 r[16]) f(.param .b64 a) { ret; }\n"
      ".func (.param .align 8 .b8 r[16]) f(.param .b64 a);\n");
  ASSERT_THAT(module.functions, SizeIs(2));
  const Function& f = module.functions[0];
  EXPECT_TRUE(f.has_body);
  EXPECT_FALSE(f.is_kernel);
  EXPECT_EQ(f.text_line, 6);
  ASSERT_THAT(f.results, SizeIs(1));
  EXPECT_EQ(f.results[0].bytes, 16u);
  EXPECT_FALSE(module.functions[1].has_body);
  EXPECT_EQ(module.functions[1].parameters.at(0).bytes, 0u);
}

TEST(PtxFunction, ParametersInRegisters) {
  const Module module = parse_items(".func (.reg .u32 r) f(.reg .f32 a) { ret; }");
  EXPECT_THAT(names(module.functions.at(0).registers), ElementsAre("r", "a"));
  EXPECT_EQ(module.functions[0].parameters.at(0).space, Space::reg);
}

TEST(PtxFunction, VariablesOfTheBody) {
  const Module module = parse_items(
      ".entry k() {\n.local .align 16 .b8 depot[64];\n.shared .f64 other; .param .b32 q;\n"
      ".extern .shared .b8 dynamic[];.global .u32 counter = 3;\nret; }");
  const Function& kernel = module.functions.at(0);
  ASSERT_THAT(kernel.variables, SizeIs(4));
  EXPECT_EQ(kernel.variables[0].name, "depot");
  EXPECT_EQ(kernel.variables[0].space, Space::local);
  EXPECT_EQ(kernel.variables[1].space, Space::shared);
  EXPECT_EQ(kernel.variables[1].bytes, 8u);
  EXPECT_EQ(kernel.variables[2].space, Space::param);
  EXPECT_TRUE(kernel.variables[3].is_extern);
  ASSERT_THAT(module.variables, SizeIs(1));
  EXPECT_EQ(module.variables[0].name, "counter");
  EXPECT_THAT(values<int>(module.variables[0]), ElementsAre(3));
}

TEST(PtxFunction, Labels) {
  const Function function = parse_body("A: bra B;\nB: C: t: .branchtargets A, B;\nret;\nD:");
  ASSERT_THAT(function.labels, SizeIs(4));
  EXPECT_EQ(function.labels[0].name, "A");
  EXPECT_EQ(function.labels[0].position, 0u);
  EXPECT_EQ(function.labels[2].name, "C");
  EXPECT_EQ(function.labels[2].position, 1u);
  EXPECT_EQ(function.labels[3].name, "D");
  EXPECT_EQ(function.labels[3].position, 2u);
}

TEST(PtxFunction, TargetLists) {
  const Function function =
      parse_body("A: B: t: .branchtargets A, B;\nbrx.idx %r1, t;\nf: .calltargets g, h;\n");
  ASSERT_THAT(function.target_lists, SizeIs(2));
  EXPECT_EQ(function.target_lists[0].name, "t");
  EXPECT_THAT(function.target_lists[0].targets, ElementsAre("A", "B"));
  EXPECT_THAT(function.target_lists[1].targets, ElementsAre("g", "h"));
}

TEST(PtxFunction, Prototypes) {
  const Function function = parse_body(
      "c : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[24]) .noreturn;\n"
      "d: .callprototype ()_ (.param .b32 _);\n");
  ASSERT_THAT(function.prototypes, SizeIs(2));
  EXPECT_EQ(function.prototypes[0].name, "c");
  EXPECT_EQ(function.prototypes[0].results.at(0).bytes, 4u);
  EXPECT_EQ(function.prototypes[0].parameters.at(1).bytes, 24u);
  EXPECT_THAT(function.prototypes[1].results, IsEmpty());
  EXPECT_THAT(function.prototypes[1].parameters, SizeIs(1));
}

TEST(PtxFunction, AliasesBecomeTheFunction) {
  const Module module = parse_items(
      ".visible .func f() { ret; }\n.visible .func g();\n.global .u64 x = g;\n"
      ".entry k() { .reg .b64 a; call g; mov.u64 a, g; t: .calltargets f, g; ret; }\n.alias g, f;");
  EXPECT_EQ(module.find("g"), nullptr);
  ASSERT_THAT(module.functions, SizeIs(2));
  EXPECT_THAT(texts_of(module.functions[1]), ElementsAre("call f", "mov.u64 a, f", "ret"));
  EXPECT_THAT(module.functions[1].target_lists.at(0).targets, ElementsAre("f", "f"));
  EXPECT_EQ(module.variables.at(0).relocations.at(0).name, "f");
}

}  // namespace
}  // namespace warpgauge::emulator::ptx::ptx_parser_test
