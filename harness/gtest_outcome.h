// The exit code of a GoogleTest program of ours. Needs GoogleTest, which the harness itself does
// not.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "harness/summary.h"

namespace warpgauge {

/// Runs the tests. 0: all passed; 1: one failed; `skip_code`: none failed, and one was skipped; 2:
/// none was selected, which is a typing mistake unless the tests are divided among shards.
inline int run_all_tests(int skip_code) {
  const int failed = RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(list_tests)) return failed;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  if (tests.test_to_run_count() == 0 && std::getenv("GTEST_TOTAL_SHARDS") == nullptr) {
    fmt::print(stderr, "no test was selected; --gtest_list_tests shows all\n");
    return kFault;
  }
  return failed == 0 && tests.skipped_test_count() > 0 ? skip_code : failed;
}

}  // namespace warpgauge
