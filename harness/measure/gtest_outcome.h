// The exit code of a GoogleTest program of ours. Needs GoogleTest, which the harness itself does
// not.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "harness/outcome/exit_code.h"
#include "harness/process/exit_guard.h"

namespace warpgauge {

/// Takes GoogleTest's options out of the arguments. The program handles --help,
/// because GoogleTest would show its own first; false after --gtest_help, when nothing is left to
/// do. Throws std::runtime_error if the environment selects tests: a variable that was forgotten
/// must not make a run of little a success.
inline bool initialize_tests(int* argc, char** argv) {
  for (const char* variable : {"GTEST_FILTER", "TESTBRIDGE_TEST_ONLY", "GTEST_LIST_TESTS"}) {
    if (std::getenv(variable) == nullptr) continue;
    throw std::runtime_error(fmt::format(
        "{0} is set in the environment, and would decide which tests run: unset it, "
        "and use --gtest_{1}",
        variable, variable == std::string_view("GTEST_LIST_TESTS") ? "list_tests" : "filter=..."));
  }
  bool all_done = false;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") return true;
    all_done = all_done || argument == "--gtest_help";
    if (argument.starts_with("--gtest_internal_run_death_test=")) process::allow_any_exit();
  }
  testing::InitGoogleTest(argc, argv);
  return !all_done;
}

/// Counts the tests that have run to their end, skipped ones included.
class TestsThatRan : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo&) override { ++count_; }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

/// The end of a run of tests.
struct TestsEnd {
  outcome::ExitCode code;
  bool skipped = false;  ///< none failed, and one was skipped

  /// The exit code of the program: `skip_code` where tests were skipped.
  int exit_code(int skip_code) const { return skipped ? skip_code : code; }
};

/// Runs the tests. A fault: none was selected, or not all that were selected have run
/// (--gtest_repeat=0).
inline TestsEnd run_all_tests() {
  testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  auto* ran = new TestsThatRan;
  tests.listeners().Append(ran);  // the listeners delete it
  const bool failed = RUN_ALL_TESTS() != 0;
  const outcome::ExitCode code = failed ? outcome::kOverBudget : outcome::kWithinBudget;
  if (testing::GTEST_FLAG(list_tests)) return {code};
  if (tests.test_to_run_count() == 0) {
    fmt::print(stderr, "no test was selected; --gtest_list_tests shows all{}\n",
               std::getenv("GTEST_TOTAL_SHARDS") == nullptr
                   ? ""
                   : ", and GTEST_TOTAL_SHARDS is set: take fewer shards");
    return {outcome::kFault};
  }
  if (!failed && ran->count() < tests.test_to_run_count()) {
    fmt::print(stderr,
               "{} of {} selected tests ran: look for GTEST_REPEAT in the environment, "
               "--gtest_repeat, and GTEST_SKIP() in an Environment\n",
               ran->count(), tests.test_to_run_count());
    return {outcome::kFault};
  }
  return {code, !failed && tests.skipped_test_count() > 0};
}

}  // namespace warpgauge
