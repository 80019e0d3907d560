// The output of other programs, which may not end.
#include "harness/process/output_of.h"

#include <gtest/gtest.h>

#include <chrono>

namespace warpgauge::output_of_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST(OutputOf, IsWhatAProgramPrintsWithoutTheLastNewlines) {
  EXPECT_EQ(process::output_of({"sh", "-c", "echo a; echo b; echo; echo error >&2"}), "a\nb");
  EXPECT_EQ(process::output_of({"sh", "-c", "echo a; exit 1"}), std::nullopt);
  EXPECT_EQ(process::output_of({"no-such-program"}), std::nullopt);
}

TEST(OutputOf, AProgramThatTakesTooLongIsEnded) {
  for (const char* script : {"exec sleep 300", "exec yes", "sleep 300 & echo a; wait"}) {
    const auto begin = steady_clock::now();
    EXPECT_EQ(process::output_of({"sh", "-c", script}, 1s), std::nullopt) << script;
    EXPECT_LT(steady_clock::now() - begin, 200s) << script;
  }
}

}  // namespace
}  // namespace warpgauge::output_of_test
