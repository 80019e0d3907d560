// The test that runs, by which what it measures is named. Needs GoogleTest, which the harness
// itself does not: the functions are of the harness, the listener of the programs.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "harness/measure/test_name.h"

namespace warpgauge {

/// Tells the harness which test runs; of testing::UnitTest::listeners().
class NamesMeasurements : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    set_running_test({test.test_suite_name(), test.name()});
  }
  void OnTestEnd(const testing::TestInfo&) override { set_running_test({}); }
};

inline void name_measurements() {
  testing::UnitTest::GetInstance()->listeners().Append(new NamesMeasurements);  // which it deletes
}

}  // namespace warpgauge
