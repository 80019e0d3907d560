// Budgets as expectations of GoogleTest.
//
//   EXPECT_BUDGET("registers = 32", [&] { copy<<<grid, block>>>(b, a); });
//   EXPECT_BUDGET("copy.plain.f32@1048576", ...);   // the budgets of that case
//   EXPECT_BUDGET("", ...);                          // the built-in budgets: no bank conflicts,
//   spills or local traffic
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>

#include "warpgauge/measure.h"

namespace warpgauge {

/// Whether what the launches do is within the budget lines, or the budgets of an id; see
/// over_budget(). What cannot be measured fails.
inline testing::AssertionResult is_within_budget(
    std::string_view budget, const std::function<void()>& launch,
    std::source_location where = std::source_location::current()) {
  try {
    const std::string text = over_budget(budget, launch, where);
    return text.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << text;
  } catch (const std::exception& error) {
    return testing::AssertionFailure() << error.what();
  }
}

}  // namespace warpgauge

// The launch is the last argument, so that commas in it need no parentheses.
#define WARPGAUGE_CHECK_BUDGET(fail, budget, ...)               \
  if (const ::testing::AssertionResult warpgauge_result =       \
          ::warpgauge::is_within_budget(budget, __VA_ARGS__)) { \
  } else                                                        \
    fail() << warpgauge_result.message()

/// Fails and goes on; more can be told by <<.
#define EXPECT_BUDGET(budget, ...) WARPGAUGE_CHECK_BUDGET(ADD_FAILURE, budget, __VA_ARGS__)
/// Fails and leaves the test.
#define ASSERT_BUDGET(budget, ...) WARPGAUGE_CHECK_BUDGET(FAIL, budget, __VA_ARGS__)
