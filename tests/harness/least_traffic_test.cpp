// The bytes that counts stand for.
#include "harness/measuring/least_traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpgauge::least_traffic_test {
namespace {

using testing::StartsWith;

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

TEST(WhyTooLittle, SaysWhatAKernelMovedWhoseAccessesAllCount) {
  const LaunchLog log(LaunchLog::Mode::dry);
  metrics::LineCounts line{.kernel = "_ZN5lucky11first_aloneEPfPKf",
                           .counts = {.global_load_sectors = 1, .global_store_sectors = 1}};
  EXPECT_THAT(why_too_little(65, log, {line}, "sm_90"),
              StartsWith("it moved 64 bytes of the 65 that any solution must move (sectors: 1 "
                         "loaded, 1 stored, 0 of atomics; bulk copies: 0 bytes)"));
  EXPECT_EQ(why_too_little(64, log, {line}, "sm_90"), "");
  metrics::LineCounts estimated = line;
  estimated.trust["global"] = {metrics::Confidence::estimate, "some are removed"};
  EXPECT_EQ(why_too_little(65, log, {estimated}, "sm_90"), "");
  const metrics::LineCounts of_a_library{.kernel = "of_a_library"};
  EXPECT_EQ(why_too_little(65, log, {line, of_a_library}, "sm_90"), "");
}

}  // namespace
}  // namespace warpgauge::least_traffic_test
