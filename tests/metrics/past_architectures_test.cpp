// The table of history: complete, in order, apart from the targets, and as the texts have it.
#include "metrics/architecture/past_architectures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpgauge::metrics::past_architectures_test {
namespace {

const PastArchitecture& past(int major, int minor) {
  return *std::ranges::find_if(past_architectures(), [&](const PastArchitecture& architecture) {
    return architecture.major == major && architecture.minor == minor;
  });
}

TEST(PastArchitectures, AreCompleteAndEndWhereTheTargetsBegin) {
  int last = 0;
  for (const PastArchitecture& architecture : past_architectures()) {
    const std::string name = "sm_" + std::to_string(architecture.major * 10 + architecture.minor);
    EXPECT_GT(architecture.major * 10 + architecture.minor, last) << name;
    last = architecture.major * 10 + architecture.minor;
    EXPECT_EQ(find_architecture(name), nullptr) << name << " is history, no target";
    EXPECT_FALSE(architecture.generation.empty() || architecture.features.empty()) << name;
    EXPECT_EQ(architecture.max_threads_per_multiprocessor % 256, 0) << name;
  }
  EXPECT_LT(last, architectures().front().major * 10 + architectures().front().minor);
}

TEST(PastArchitectures, LimitsGrew) {
  EXPECT_EQ(past(1, 3).banks, 16);
  EXPECT_EQ(past(2, 0).banks, 32);
  EXPECT_EQ(past(2, 0).registers_per_thread, 63);
  EXPECT_EQ(past(3, 5).registers_per_thread, 255);
  EXPECT_EQ(past(2, 0).parameter_bytes, 4096);
  EXPECT_EQ(past(7, 0).parameter_bytes, 32764);
  EXPECT_EQ(past(1, 3).l2_kib, 0);
  EXPECT_GT(past(2, 0).l2_kib, 0);
  // The two worked examples of Fermi: 32768 registers, 48 KiB, 1536 threads, 8 blocks.
  EXPECT_EQ(past(2, 0).registers_per_multiprocessor, 32768);
  EXPECT_EQ(past(2, 0).shared_kib_per_multiprocessor, 48);
  EXPECT_EQ(past(2, 0).max_threads_per_multiprocessor, 1536);
  EXPECT_EQ(past(2, 0).max_blocks_per_multiprocessor, 8);
}

TEST(PastArchitectures, EachTargetHasItsFirstToolkit) {
  for (const Architecture& architecture : architectures())
    EXPECT_FALSE(first_toolkit(architecture).empty());
  EXPECT_EQ(first_toolkit(architecture("sm_90")), "11.8");
  EXPECT_THROW(first_toolkit({.major = 9, .minor = 9}), std::invalid_argument);
}

}  // namespace
}  // namespace warpgauge::metrics::past_architectures_test
