// Budgets as expectations of GoogleTest.
//
//   EXPECT_BUDGET([&] { copy<<<grid, block>>>(b, a); }, "registers = 32");
//   EXPECT_BUDGET(launch, "copy.plain.f32@1048576");  // the budgets of that case
//   EXPECT_BUDGET(launch, "");  // the built-in budgets: no bank conflicts, spills or local traffic
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>

#include "warpgauge/measure.h"

namespace warpgauge {

/// Names measurements after the running test.
class NamesMeasurements : public testing::EmptyTestEventListener {
 public:
  /// Names further measurements after this test.
  void OnTestStart(const testing::TestInfo& test) override {
    name_measurements(test.test_suite_name(), test.name());
  }
  /// Names further measurements after no test.
  void OnTestEnd(const testing::TestInfo&) override { name_measurements("", ""); }
};

/// Registers the listener once in each program that includes this header, whatever its main().
inline const bool kMeasurementsAreNamed = [] {
  testing::UnitTest::GetInstance()->listeners().Append(
      new NamesMeasurements);  // the list deletes it
  return true;
}();

/// Success if the costs of the launches are within the budget lines or the budgets of an id: see
/// over_budget(). A launch that cannot be measured fails.
inline testing::AssertionResult is_within_budget(
    const std::function<void()>& launch, std::string_view budget,
    std::source_location where = std::source_location::current()) {
  try {
    const std::string text = over_budget(launch, budget, where);
    return text.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << text;
  } catch (const std::exception& error) {
    return testing::AssertionFailure() << error.what();
  }
}

}  // namespace warpgauge

// Variadic, so that commas in a lambda need no parentheses.
#define WARPGAUGE_CHECK_BUDGET(fail, ...)                 \
  if (const ::testing::AssertionResult warpgauge_result = \
          ::warpgauge::is_within_budget(__VA_ARGS__)) {   \
  } else                                                  \
    fail() << warpgauge_result.message()

/// EXPECT_BUDGET(launch, budget) fails and goes on; << appends to its message.
#define EXPECT_BUDGET(...) WARPGAUGE_CHECK_BUDGET(ADD_FAILURE, __VA_ARGS__)
/// ASSERT_BUDGET(launch, budget) fails and leaves the test.
#define ASSERT_BUDGET(...) WARPGAUGE_CHECK_BUDGET(FAIL, __VA_ARGS__)
