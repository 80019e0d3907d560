// The exit code of a GoogleTest program of ours. Needs GoogleTest, which the harness itself does
// not.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "harness/outcome/exit_code.h"
#include "harness/process/guarded_end.h"

namespace warpgauge {

/// Takes GoogleTest's options out of the arguments. The program handles --help,
/// because GoogleTest would show its own first; false after --gtest_help, when nothing is left to
/// do.
inline bool initialize_tests(int* argc, char** argv) {
  bool all_done = false;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") return true;
    all_done = all_done || argument == "--gtest_help";
    if (argument.starts_with("--gtest_internal_run_death_test=")) process::let_end_anyhow();
  }
  testing::InitGoogleTest(argc, argv);
  return !all_done;
}

/// Runs the tests. 0: all passed; 1: one failed; `skip_code`: none failed, and one was skipped; 2:
/// none was selected, which is a typing mistake unless the tests are divided among shards.
inline int run_all_tests(int skip_code) {
  const int failed = RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(list_tests)) return failed;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  if (tests.test_to_run_count() == 0 && std::getenv("GTEST_TOTAL_SHARDS") == nullptr) {
    fmt::print(stderr, "no test was selected; --gtest_list_tests shows all\n");
    return outcome::kFault;
  }
  return failed == 0 && tests.skipped_test_count() > 0 ? skip_code : failed;
}

}  // namespace warpgauge
