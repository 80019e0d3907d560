// The table of architectures: order, names, and what is refused.
#include "metrics/architectures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace warpgauge::metrics {
namespace {

TEST(Architectures, AreCompleteAndOrdered) {
  std::set<std::string> names;
  for (const Architecture& one : architectures()) {
    names.insert(one.name());
    EXPECT_FALSE(one.generation.empty() || one.features.empty()) << one.name();
    EXPECT_GT(one.multiprocessors, 0) << one.name();
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("sm_75", "sm_80", "sm_86", "sm_87", "sm_88",
                                                   "sm_89", "sm_90", "sm_100", "sm_103", "sm_110",
                                                   "sm_120", "sm_121"));
  const auto number = [](const Architecture& row) { return row.major * 10 + row.minor; };
  EXPECT_TRUE(std::ranges::is_sorted(architectures(), {}, number));
}

TEST(Architectures, AreFoundByTheirFullNames) {
  for (const Architecture& one : architectures()) EXPECT_EQ(&architecture(one.name()), &one);
  EXPECT_EQ(find_architecture("sm_90a"), find_architecture("sm_90"));
  EXPECT_EQ(find_architecture("sm_100f"), find_architecture("sm_100"));
  EXPECT_EQ(find_architecture("sm_121a"), find_architecture("sm_121"));
}

TEST(Architectures, UnknownOnesAreRefused) {
  for (const char* unknown :
       {"", "sm_", "sm_70", "sm_91", "sm_9", "sm_90x", "sm_90aa", "90", "sm_-90", "compute_90",
        "sm_99999999999999999999", "sm_75a", "sm_89a", "sm_89f", "sm_90f", "sm_91a"}) {
    EXPECT_EQ(find_architecture(unknown), nullptr) << unknown;
    EXPECT_THROW(architecture(unknown), std::invalid_argument) << unknown;
  }
  try {
    architecture("90");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(),
                testing::StartsWith("unknown architecture '90', did you mean 'sm_90'?; choose one "
                                    "of sm_75, sm_80, "));
  }
}

}  // namespace
}  // namespace warpgauge::metrics
