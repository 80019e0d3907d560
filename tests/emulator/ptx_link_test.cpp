// Modules that were compiled apart become one: names, lines, and what each had for itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/emulator/ptx/link.h"
#include "harness/emulator/ptx/source_lines.h"

namespace warpgauge::emulator::ptx::ptx_link_test {
namespace {

using testing::ElementsAre;

constexpr int kTextLines = 100;  // of each text, as the tests say

constexpr std::string_view kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

Module linked(const std::vector<std::string>& texts) {
  std::vector<ModuleToLink> modules;
  for (const std::string& text : texts) {
    modules.push_back({parse(std::string(kHead) + text, "PTX"), kTextLines});
  }
  return link(std::move(modules), "PTX, linked");
}

const Variable& variable(const Module& module, std::string_view name) {
  return *std::ranges::find(module.variables, name, &Variable::name);
}

TEST(Link, LinesKeepTheirChains) {
  const auto text = [](const std::string& name) {
    return ".visible .entry " + name + "() {\n.loc 1 7 3\n" +
           ".loc 2 20 1, function_name $L, inlined_at 1 7 3\nret; }\n.file 1 \"" + name +
           ".cu\"\n.file 2 \"own.h\"\n.section .debug_str { $L: .b8 0 }\n";
  };
  const Module module = linked({text("first"), text("second")});
  for (const std::string name : {"first", "second"}) {
    const metrics::SourceLine line = line_of(module.find(name)->body.at(0), module);
    EXPECT_EQ(line, (metrics::SourceLine{"own.h", 20, {{"own.h", 20}, {name + ".cu", 7}}}));
  }
}

TEST(Link, WhatIsDeclaredHereIsDefinedThere) {
  const std::string user =
      ".extern .global .align 4 .f32 gain;\n"
      ".extern .func (.param .b32 out) scale(.param .b32 in);\n"
      ".visible .entry go() { .reg .f32 %f<2>; ld.global.f32 %f1, [gain]; ret; }\n";
  const std::string owner =
      ".visible .global .align 4 .f32 gain = 0f40400000;\n"
      ".visible .func (.param .b32 out) scale(.param .b32 in) { ret; }\n";
  for (const bool user_first : {true, false}) {
    const Module module = user_first ? linked({user, owner}) : linked({owner, user});
    EXPECT_EQ(module.file, "PTX, linked");
    EXPECT_EQ(module.target, "sm_90");
    ASSERT_EQ(module.variables.size(), 1u);
    EXPECT_FALSE(module.variables.front().is_extern);
    EXPECT_EQ(module.variables.front().initial.size(), 4u);
    ASSERT_EQ(module.functions.size(), 2u);
    EXPECT_TRUE(module.find("scale")->has_body);
    EXPECT_TRUE(module.find("go")->is_kernel);
  }
}

TEST(Link, LinesAreThoseOfAllTexts) {
  const Module module =
      linked({".visible .entry one() { ret; }\n", ".visible .entry two() { ret; }\n"});
  EXPECT_EQ(module.find("one")->body.front().text_line, 4);
  EXPECT_EQ(module.find("two")->body.front().text_line, kTextLines + 4);
}

TEST(Link, SourceLinesStayThoseOfTheirInstructions) {
  const auto text = [](const std::string& kernel, const std::string& file) {
    return ".visible .entry " + kernel + "()\n{\n.loc 1 7 0\nret;\n}\n.file 1 \"" + file + "\"\n";
  };
  const Module module = linked({text("one", "a.cu"), text("two", "b.cu")});
  const auto file_of = [&](std::string_view kernel) {
    return module.source_lines.at(module.find(kernel)->body.front().source_line).file;
  };
  EXPECT_EQ(file_of("one"), "a.cu");
  EXPECT_EQ(file_of("two"), "b.cu");
}

TEST(Link, WhatIsAModulesOwnStaysItsOwn) {
  const auto text = [](const std::string& kernel, const std::string& value) {
    return ".global .align 4 .u32 own = " + value + ";\n.func helper() { ret; }\n.visible .entry " +
           kernel + "() { .reg .u32 %r<2>; ld.global.u32 %r1, [own]; call helper, (); ret; }\n";
  };
  const Module module = linked({text("one", "1"), text("two", "2")});
  ASSERT_EQ(module.variables.size(), 2u);
  ASSERT_EQ(module.functions.size(), 4u);
  for (const auto& [kernel, value] : {std::pair{"one", 1}, {"two", 2}}) {
    const auto& body = module.find(kernel)->body;
    const std::string& name = body.at(0).operands.at(1).elements.at(0).name;
    EXPECT_EQ(static_cast<int>(variable(module, name).initial.at(0)), value);
    const std::string& called = body.at(1).operands.at(0).name;
    EXPECT_NE(module.find(called), nullptr) << called;
  }
}

TEST(Link, OfWeakDefinitionsTheFirstCounts) {
  const auto text = [](const std::string& value) {
    return ".weak .global .align 4 .u32 table = " + value + ";\n.weak .func shared() { ret; }\n";
  };
  const Module module = linked({text("1"), text("2")});
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(static_cast<int>(module.variables.front().initial.at(0)), 1);
  EXPECT_EQ(module.functions.size(), 1u);
}

}  // namespace
}  // namespace warpgauge::emulator::ptx::ptx_link_test
