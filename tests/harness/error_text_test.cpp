// Texts of exceptions, with and without a message.
#include "harness/files/error_text.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace warpgauge::files::error_text_test {
namespace {

TEST(ErrorText, IsTheMessage) {
  EXPECT_EQ(error_text(std::runtime_error("no such table")), "no such table");
}

TEST(ErrorText, HasTheTypeWhereTheMessageIsAWordOrNothing) {
  EXPECT_EQ(error_text(std::invalid_argument("stoi")), "std::invalid_argument: stoi");
  EXPECT_EQ(error_text(std::runtime_error("")), "std::runtime_error without a message");
}

TEST(ErrorText, SaysWhatToDoWhereMemoryIsOver) {
  EXPECT_EQ(error_text(std::bad_alloc()),
            "out of memory: free some, or raise its limit (ulimit -v)");
}

}  // namespace
}  // namespace warpgauge::files::error_text_test
