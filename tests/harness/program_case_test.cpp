// The cases of programs that are not built with this library, by their names.
#include "harness/programs/program_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <vector>

namespace warpgauge::program_case_test {
namespace {

TEST(ProgramCase, IsCalledByItsNameWithAndWithoutVoid) {
  const std::string kernel = "void my::add<float>(float*)";
  for (const char* expression : {"^my::", "^void my", "<float>", ""}) {
    EXPECT_TRUE(programs::is_called(kernel, std::regex(expression))) << expression;
  }
  EXPECT_FALSE(programs::is_called(kernel, std::regex("^add")));
}

TEST(ProgramCase, ACompiledValueIsBlamedOnTheLineThatHasMostOfIt) {
  const programs::Counter counter{
      .command = "inspect", .kind = metrics::CaseKind::inspected, .source = "", .compile = "cubin"};
  programs::CountedKernel kernel{.name = "k", .device = {}};
  kernel.compiled.values = {{"spill.load_bytes", 12}, {"spill.store_bytes", 4}};
  kernel.compiled.lines = {{"spill.store_bytes", {"a.cu", 1}, 4},
                           {"spill.load_bytes", {"a.cu", 2}, 3},
                           {"spill.load_bytes", {"a.cu", 3}, 6},
                           {"spill.load_bytes", {"a.cu", 4}, 3}};
  std::map<std::string, std::vector<int>> lines;  // by metric: of the whole, then of its parts
  for (const metrics::Fact& fact : programs::case_of(counter, "program", kernel, {}).facts) {
    if (fact.metric.starts_with("spill.")) lines[fact.metric].push_back(fact.line);
  }
  EXPECT_THAT(lines["spill.load_bytes"], testing::ElementsAre(3, 2, 3, 4));
  EXPECT_THAT(lines["spill.store_bytes"], testing::ElementsAre(1, 1));
}

}  // namespace
}  // namespace warpgauge::program_case_test
