// The name of the test that runs, as far as its framework has told it (gtest_names.h).
#pragma once

#include <string>

namespace warpgauge {

/// Both are empty between tests, and in a program whose framework does not name its tests.
struct TestName {
  std::string suite, test;
};

/// A test begins, or ends ({}).
void set_running_test(TestName name);

}  // namespace warpgauge
