// The name that was probably meant.
#include "metrics/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpgauge::metrics::nearest_test {
namespace {

const std::vector<std::string> kNames = {"naive", "padded", "swizzled", "tiled"};

TEST(Nearest, FindsSmallSlips) {
  EXPECT_EQ(nearest("paded", kNames), "padded");       // left out
  EXPECT_EQ(nearest("tilled", kNames), "tiled");       // put in
  EXPECT_EQ(nearest("swissled", kNames), "swizzled");  // replaced
  EXPECT_EQ(nearest("naive", kNames), "naive");
}

TEST(Nearest, FindsNothingFarAway) {
  EXPECT_EQ(nearest("cooperative", kNames), "");
  EXPECT_EQ(nearest("", kNames), "");
  EXPECT_EQ(nearest("tiled", {}), "");
}

TEST(Nearest, ShortNamesMayDifferByOneLetter) {
  const std::vector<std::string> sizes = {"32", "4096"};
  EXPECT_EQ(nearest("33", sizes), "32");
  EXPECT_EQ(nearest("45", sizes), "");
}

TEST(Nearest, TheFirstOfEquallyNearWins) {
  const std::vector<std::string> names = {"f32", "f64"};
  EXPECT_EQ(nearest("f34", names), "f32");
}

TEST(Nearest, TheStartOfANameMeansTheFirstThatBeginsWithIt) {
  const std::vector<std::string> ids = {"copy.f32@1", "transpose.naive.f32@1024x1024",
                                        "transpose.naive.f32@512x2048"};
  EXPECT_EQ(nearest("transpose.naive", ids), "transpose.naive.f32@1024x1024");
  EXPECT_EQ(nearest("co", ids), "");
}

TEST(DidYouMean, IsReadyToBeAppended) {
  EXPECT_EQ(did_you_mean("paded", kNames), ", did you mean 'padded'?");
  EXPECT_EQ(did_you_mean("cooperative", kNames), "");
}

}  // namespace
}  // namespace warpgauge::metrics::nearest_test
