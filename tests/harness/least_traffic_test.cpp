// The bytes that counts stand for.
#include "harness/measuring/least_traffic.h"

#include <gtest/gtest.h>

namespace warpgauge::least_traffic_test {
namespace {

TEST(MovedBytes, AreSectorsOnceAndAtomicsBothWays) {
  EXPECT_EQ(moved_bytes({}), 0);
  EXPECT_EQ(moved_bytes({.global_load_sectors = 3, .global_store_sectors = 2}), 5 * 32);
  EXPECT_EQ(moved_bytes({.global_atomic_sectors = 3}), 6 * 32);
}

TEST(MovedBytes, OfBulkCopiesCount) {
  EXPECT_EQ(moved_bytes({.bulk_load_bytes = 48}), 48);
  EXPECT_EQ(moved_bytes({.bulk_store_bytes = 48}), 96);
}

TEST(WhyTooLittle, NothingWhereEnoughWasMoved) {
  const LaunchLog log(LaunchLog::Mode::dry);
  const metrics::LineCounts line{.kernel = "copy", .counts = {.global_load_sectors = 4}};
  EXPECT_EQ(why_too_little(128, log, {line}, "sm_90"), "");
}

TEST(WhyTooLittle, NothingIsSaidOfKernelsWhoseCodeIsNotKnown) {
  const LaunchLog log(LaunchLog::Mode::dry);
  const metrics::LineCounts line{.kernel = "of_a_library", .counts = {.global_load_sectors = 1}};
  EXPECT_EQ(why_too_little(128, log, {line}, "sm_90"), "");
}

}  // namespace
}  // namespace warpgauge::least_traffic_test
