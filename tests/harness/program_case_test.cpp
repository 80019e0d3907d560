// The cases of programs that are not built with this library, by their names.
#include "harness/programs/program_case.h"

#include <gtest/gtest.h>

#include <regex>

namespace warpgauge::program_case_test {
namespace {

TEST(ProgramCase, IsCalledByItsNameWithAndWithoutVoid) {
  const programs::ProgramCase program_case{
      .id = {}, .kernel = "void my::add<float>(float*)", .device = {}, .facts = {}};
  for (const char* expression : {"^my::", "^void my", "<float>", ""}) {
    EXPECT_TRUE(program_case.is_called(std::regex(expression))) << expression;
  }
  EXPECT_FALSE(program_case.is_called(std::regex("^add")));
}

}  // namespace
}  // namespace warpgauge::program_case_test
