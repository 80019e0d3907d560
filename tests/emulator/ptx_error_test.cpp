// Messages of the PTX parser about unreadable texts: place, error, remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::ptx::ptx_error_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  try {
    parse(text, "m.ptx");
  } catch (const PtxError& error) {
    return error.what();
  }
  return "no error";
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(PtxError, PlaceProblemLineCaretRemedy) {
  EXPECT_EQ(error_of_body("\tadd.s32 %r1, %r2 %r3;"),
            "test.ptx:5:19: expected `;` at the end of the instruction, found `%r3`\n"
            "   add.s32 %r1, %r2 %r3;\n"
            "                    ^\n"
            "If nvcc wrote this text, it is cut off or damaged, or newer than PTX ISA 9; if it "
            "comes from inline asm, correct it there.");
  EXPECT_EQ(error_of_body(".reg .b32 a;\n{ .reg .b32 b, b; }"),
            "test.ptx:6:16: `b` is declared twice in this block\n"
            "  { .reg .b32 b, b; }\n"
            "                 ^\n"
            "Rename one of the two, or put inline asm that declares names into { }.");
  EXPECT_EQ(error_of(""),
            "m.ptx:1:1: this is not PTX: it does not begin with .version\n"
            "  \n"
            "  ^\n"
            "Give the text that `nvcc -ptx` writes, or that `cuobjdump -ptx` shows.");
}

TEST(PtxError, LongLinesAreCutAndOddCharactersReplaced) {
  const std::string error =
      error_of_body(repeated("a; ", 1000) + "\x01\xff bcd" + repeated(" e", 1000));
  EXPECT_EQ(error,
            "test.ptx:5:3001: a character that PTX does not have\n"
            "  " +
                repeated("a; ", 20) + "?? bcd" + repeated(" e", 17) +
                "\n"
                "  " +
                std::string(60, ' ') +
                "^\n"
                "PTX is plain ASCII text. Is this another file, or is the text damaged?");
}

TEST(PtxError, HeadOfTheModule) {
  EXPECT_EQ(first_line(error_of(".target sm_90")),
            "m.ptx:1:1: this is not PTX: it does not begin with .version");
  EXPECT_EQ(first_line(error_of(".version 10.0\n.target sm_90")),
            "m.ptx:1:10: this version of PTX is too new");
  EXPECT_EQ(first_line(error_of(".version 0.9\n.target sm_90")),
            "m.ptx:1:10: this is not a version of PTX");
  EXPECT_EQ(first_line(error_of(".version 9\n.target sm_90")),
            "m.ptx:1:10: expected a version such as 9.0");
  EXPECT_EQ(first_line(error_of(".version 9.0\n.address_size 64")),
            "m.ptx:2:1: expected `.target` after the version, found `.address_size`");
  EXPECT_EQ(first_line(error_of(".version 9.0\n.target sm_90\n.address_size 32")),
            "m.ptx:3:15: addresses of 32 bits are not supported");
}

TEST(PtxError, OutsideOfFunctions) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"add.s32 a, b;", "1: expected a directive, found `add`"},
      {".local .b32 x;", "1: `.local` is not known outside of functions"},
      {".tex .u32 x;", "1: `.tex` is not known outside of functions"},
      {".const[3] .b32 x;", "7: expected a type, found `[`"},
      {".global x;", "9: expected a type, found `x`"},
      {".global .b33 x;", "9: `.b33` has no place in this declaration"},
      {".global .b32 .b32 x;", "14: `.b32` has no place in this declaration"},
      {".global .b32 x",
       "15: expected `;` at the end of the declaration, found the end of the text"},
      {".global .align 3 .b32 x;", "16: an alignment that is not a power of two"},
      {".global .align -4 .b32 x;", "16: an alignment must be an integer from 0 to 1073741824"},
      {".global .b32 x; .global .b32 x;", "30: `x` is defined twice"},
      {".global .b32 f; .func f() {}", "23: `f` is defined twice"},
      {".func f() {} .global .b32 f;", "27: `f` is defined twice"},
      {".func f() {} .func f() {}", "20: `f` is defined twice"},
      {".global .b8 x[1099511627777];",
       "15: the extent of an array must be an integer from 0 to 1099511627776"},
      {".global .b8 x[4294967296][4294967296];", "13: the variable is larger than 1 TiB"},
      {".global .b8 x[][4294967296][4294967296] = {{{1}}};",
       "13: the variable is larger than 1 TiB"},
      {".global .b8 x[2][];", "17: only the first extent of an array can be left out"},
      {".section .debug_str { 1, 2", "21: a section that never ends"},
      {".nv_intermediate_source_section x",
       "33: expected `{` after "
       ".nv_intermediate_source_section, found `x`"},
      {".nv_intermediate_source_section { { .source_begin .source_end }",
       "33: a section that never ends"},
      {".nv_intermediate_source_section { .source_begin } }", "35: no `.source_end` follows"},
      {".entry k(.hidden .reg .b32 a) {}",
       "18: expected `.param` before a parameter, found `.reg`"},
      {".alias f, g;", "8: an alias of another alias, or of something that is not a function"},
      {".func f() .frobnicate {}", "11: `.frobnicate` is not known at the head of a function"},
      {".entry k() .maxntid 1,2,3,4 {}", "27: expected at most three numbers, found `4`"},
      {".entry k(.param .b32 a,) {}", "24: expected `.param` before a parameter, found `)`"},
      {".entry k(.param .b32 a, .param .b32 a) {}", "37: `a` is declared twice in this block"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(first_line(error_of_items(text)), "test.ptx:4:" + expected) << text;
  }
}

TEST(PtxError, Initialisers) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {".shared .b32 x = 1;", "16: only .global and .const variables can have a value"},
      {".global .f32 x = 1;", "18: this value does not fit .f32"},
      {".global .u32 x = 1.5;", "18: this value does not fit .u32"},
      {".global .f64 x = 0f3F800000;", "18: this value does not fit .f64"},
      {".global .f16 x = 1;", "18: no initial value is possible for .f16"},
      {".global .b128 x = 1;", "19: no initial value is possible for .b128"},
      {".global .f32 x = y;", "18: an address does not fit .f32"},
      {".global .u16 x = y;", "18: an address does not fit .u16"},
      {".global .u64 x = y+1.5;", "19: an address plus a number that is not an integer"},
      {".global .s32 x[2] = 1;",
       "21: expected `{` for the elements of an array or vector, found `1`"},
      {".global .s32 x = {1};", "18: expected a constant, found `{`"},
      {".global .s32 x[2] = {1, 2, 3};", "28: more values than the array has elements"},
      {".global .s32 x[0] = {1};", "22: more values than the array has elements"},
      {".global .s32 x[2] = {1, };", "25: expected a constant, found `}`"},
      {".global .s32 x[2][2] = {1, 2};",
       "25: expected `{` for the elements of an array or vector, found `1`"},
      {".global .u16 x[2] = {0xFF(y)};",
       "22: a mask that does not select one byte for a one-byte element"},
      {".global .u8 x[2] = {0xFE(y)};",
       "21: a mask that does not select one byte for a one-byte element"},
      {".global .u8 x[2] = {0xFF(y), 0xFF00(y)};", "21: only some bytes of an address are stored"},
      {".global .b8 x[70000000] = {1};", "27: the initialisers of this module are too long"},
      {".global .b8 x[67000000] = {1}; .const .u8 y[110000] = {1};",
       "55: the initialisers of this module are too long"},
      {".global .b8 x[][67000000] = {{1}, {1}};",
       "35: the initialisers of this module are too long"},
      {".global .b8 x[][0] = {{1}};", "22: an array of empty arrays cannot have values"},
      {".global .b8 x[] = \"abc\";",
       "20: expected `{` for the elements of an array of no declared size, found the string "
       "\"abc\""},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(first_line(error_of_items(text)), "test.ptx:4:" + expected) << text;
  }
}

TEST(PtxError, Bodies) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {".frobnicate x;", "1: `.frobnicate` is not known in the body of a function"},
      {".reg .b32 %r<x>;", "14: expected a number of registers, found `x`"},
      {".reg .b32 %r<-1>;", "14: expected a number of registers, found `-`"},
      {".reg .b32 %r<0x3>;", "14: a number of registers must be decimal"},
      {".reg .b32 %r<99999999999999999999>;", "11: the module declares too many registers"},
      {".reg .b32 %r<66000>;", "11: the module declares too many registers"},
      {".reg .v8 .b32 %r;", "10: a register has at most four elements"},
      {".reg .v4 .b32 %r<17000>;", "15: the module declares too many registers"},
      {".reg .v2 .b32 a; .reg .b32 a;", "28: `a` is declared twice in this block"},
      {".reg .b32 a; .reg .b64 a;", "24: `a` is declared twice in this block"},
      {".reg .b32 a<3>; .reg .b64 a2;", "27: `a2` is declared twice in this block"},
      {"L: L:", "4: `L` is declared twice in this block"},
      {".reg .b32 a; a:", "14: `a` is declared twice in this block"},
      {".reg .b32 p;", "11: `p` is declared twice in this block"},
      {"@ add.s32 a;", "6: expected an instruction, found `.s32`"},
      {"@1 add.s32 a;", "2: expected a predicate after `@`, found `1`"},
      {"; ret;", "1: expected an instruction, a label, a directive or `}`, found `;`"},
      {"add.s32 a, ;", "12: expected an operand, found `;`"},
      {"add.s32 a, {};", "13: expected an operand, found `}`"},
      {"ld.b32 a, [];", "12: expected an operand, found `]`"},
      {"ld.b32 a, [b+c];", "14: expected a constant, found `c`"},
      {"ld.b32 a, [b+1.5];", "13: an address plus a number that is not an integer"},
      {"ld.b32 a, b[4];", "12: an array is indexed here"},
      {"add.s32 a, !1;", "13: expected a register, variable or label, found `1`"},
      {"call (a, f;", "11: expected `)` at the end of the operand, found `;`"},
      {"mov.b32 a, 5/0;", "13: a constant is divided by zero"},
      {"mov.b32 a, 5%(2-2);", "13: a constant is divided by zero"},
      {"mov.b32 a, 08;", "12: not a number that fits into 64 bits"},
      {"mov.b32 a, 0xg;", "12: not a number that fits into 64 bits"},
      {"mov.b32 a, 12ab;", "12: not a number that fits into 64 bits"},
      {"mov.b32 a, 0f3F80;", "12: not a number that fits into 64 bits"},
      {"mov.b32 a, 0d3F80000000000000F;", "12: not a number that fits into 64 bits"},
      {"mov.b32 a, 18446744073709551616;", "12: not a number that fits into 64 bits"},
      {"mov.f64 a, 1e999;", "12: not a number that fits into 64 bits"},
      {"mov.f32 a, -0f3F800000;", "12: a constant expression of types that do not go together"},
      {"mov.f32 a, 1.5+1;", "15: a constant expression of types that do not go together"},
      {"mov.f32 a, 1.5|2.5;", "15: a constant expression of types that do not go together"},
      {"mov.b32 a, (.s64)1.5;", "13: a constant expression of types that do not go together"},
      {"mov.b32 a, (1;", "14: expected `)` at the end of the expression, found `;`"},
      {"mov.b32 a, . b;", "12: a point without a word after it"},
      {".loc 1 2;", "9: expected the column of .loc, found `;`"},
      {".loc 1 99999999999 3", "8: the line of .loc must be an integer from 0 to 2147483647"},
      {".loc 1 2 3, discriminator 4",
       "13: expected `function_name` of .loc, found `discriminator`"},
      {".pragma nounroll;", "9: expected a string after .pragma, found `nounroll`"},
      {".pragma \"nounroll;", "9: a string that does not end in its line"},
      {".pragma \"used_bytes_mask x\";", "1: `used_bytes_mask x` has no mask of bytes"},
      {"/* ret;", "1: a comment that never ends"},
      {"t: .branchtargets ;", "19: expected a label or function, found `;`"},
      {".local .b32 x = 1;", "15: only .global and .const variables can have a value"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(first_line(error_of_body(text)), "test.ptx:5:" + expected) << text;
  }
}

TEST(PtxError, ATextThatIsCutOff) {
  EXPECT_EQ(first_line(error_of_items(".entry k() {\n ret;\n")),
            "test.ptx:6:1: expected an instruction, a label, a directive or `}`, found the end of "
            "the text");
  EXPECT_EQ(first_line(error_of_items(".entry k() {\n ret;\n }\n}")),
            "test.ptx:7:1: expected a directive, found `}`");
}

TEST(PtxError, AVariableOfTheModuleInTwoBodies) {
  EXPECT_EQ(first_line(error_of_items(".entry k() { .global .b32 x; }\n.entry l() { .global .b32 "
                                      "x; }")),
            "test.ptx:5:27: `x` is declared in several places");
}

TEST(PtxError, NestingIsBounded) {
  const std::string deep = "mov.b32 a, " + repeated("(", 100000);
  EXPECT_THAT(first_line(error_of_body(deep)), EndsWith("more than 100 levels of nesting"));
  EXPECT_THAT(first_line(error_of_body("mov.b32 a, " + repeated("{", 100000))),
              EndsWith("more than 100 levels of nesting"));
  EXPECT_THAT(first_line(error_of_body("mov.b32 a, " + repeated("-", 100000) + "1;")),
              EndsWith("more than 100 levels of nesting"));
  EXPECT_THAT(first_line(error_of_body("mov.b32 a, " + repeated("1?1:", 100000) + "1;")),
              EndsWith("more than 100 levels of nesting"));
  EXPECT_EQ(first_line(error_of_body(repeated("{", 101) + repeated("}", 101))),
            "test.ptx:5:101: more than 100 levels of nesting");
  EXPECT_EQ(error_of_body(repeated("{", 100) + repeated("}", 100)), "no error");
  EXPECT_EQ(error_of_body("mov.b32 a, " + repeated("(", 40) + "1" + repeated(")", 40) + ";"),
            "no error");
}

TEST(PtxError, RegistersAreBounded) {
  const std::string half = "{ .reg .b32 %r<32768>; }\n";
  EXPECT_EQ(error_of_body(half + half), "no error");
  EXPECT_EQ(first_line(error_of_body(half + half + half)),
            "test.ptx:7:13: the module declares too many registers");
}

TEST(PtxError, NoTextTakesQuadraticTime) {
  // Each of these takes seconds where the parser looks at everything again for each new thing.
  constexpr int kMany = 30000;
  const std::vector<std::string> texts = {
      repeated("{ .param .b32 param0; st.param.b32 [param0], 1; }\n", kMany),
      repeated("{ L: bra L; bra M; }\n", kMany) + "M:",
      repeated("{", 100) + repeated("bra L;", kMany) + repeated("}", 100) + "{ L: } L:",
      ".loc 1 1 1\n" + repeated(".loc 1 1 1, function_name $L, inlined_at 1 1 1\nret;\n", kMany),
      repeated("mov.b32 a, 1 /**/ + 1 + 1 + 1;", kMany),
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(error_of_body(text), "no error") << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::ptx::ptx_error_test
