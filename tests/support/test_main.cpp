// main() of the test programs. CTest runs each source file of a program by itself:
//
//   warpgauge_metrics_tests --file budget_test.cpp
//
// runs the tests of that file. Exit codes: 0 passed, 1 failed, 2 no test was selected, 77 all of
// them skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

std::string_view file_name(const testing::TestInfo& test) {
  const std::string_view path = test.file();
  return path.substr(path.find_last_of('/') + 1);
}

// A GoogleTest filter for the tests of a file, by their full names. Throws for a test in a file
// that CTest does not run.
std::string filter_of(std::string_view file) {
  std::string filter;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string name = std::string(suite.name()) + "." + test.name();
      if (file_name(test).find("_test.c") == std::string_view::npos) {
        throw std::logic_error(name + " is in " + test.file() + ": move it to a file *_test.cpp");
      }
      if (file_name(test) == file) filter += name + ":";
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (argc == 3 && std::string_view(argv[1]) == "--file") {
    testing::GTEST_FLAG(filter) = filter_of(argv[2]);
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: %s [--file NAME] [GoogleTest's options]\n", argv[0]);
    return 2;
  }
  for (const char* variable : {"GTEST_FILTER", "TESTBRIDGE_TEST_ONLY", "GTEST_LIST_TESTS",
                               "GTEST_REPEAT", "GTEST_TOTAL_SHARDS"}) {
    if (std::getenv(variable) == nullptr) continue;
    std::fprintf(stderr, "%s: %s is set, and would decide which tests run: unset it\n", argv[0],
                 variable);
    return 2;
  }
  const int code = RUN_ALL_TESTS();
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  if (program.test_to_run_count() == 0) {
    std::fprintf(stderr, "%s: no test is selected\n", argv[0]);
    return 2;
  }
  const bool all_skipped = program.skipped_test_count() == program.test_to_run_count();
  return code == 0 && all_skipped ? 77 : code;
}
