// The trials of a case, and how a failing one is made smaller.
#include "harness/fuzz/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/fuzz/fuzz.h"
#include "harness/fuzz/shrink.h"

namespace warpgauge::trial_test {
namespace {

using fuzz::Trial;
using testing::_;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Case make_case(const Size& size, std::optional<SizeRange> other_sizes = std::nullopt,
               std::string variant = "plain") {
  return {.id = {"copy", std::move(variant), "f32", size.str()},
          .file = "kernels/x.cu",
          .line = 7,
          .make_problem = nullptr,
          .launch = nullptr,
          .size = size,
          .other_sizes = std::move(other_sizes)};
}

Case vector_case() { return make_case({1000}, SizeRange{{1}, {100'000}, {1}}); }
Case matrix_case() { return make_case({1000, 704}, SizeRange{{1, 8}, {4096, 4096}, {1, 8}}); }

std::vector<std::string> texts(const std::vector<Trial>& trials) {
  std::vector<std::string> texts;
  for (const Trial& trial : trials) texts.push_back(trial.str());
  return texts;
}

TEST(Trial, IsWrittenAndRead) {
  for (const char* text : {"33x65,7", "1,0", "0,4294967295", "1x2x3,4"}) {
    const auto trial = fuzz::parse_trial(text);
    ASSERT_TRUE(trial) << text;
    EXPECT_EQ(trial->str(), text);
  }
}

TEST(Trial, OtherTextIsNone) {
  for (const char* text :
       {"", ",", "33", "33x65", "33x65,", ",7", "33x,7", "x65,7", "33x65,7,", "33x65,-1", "-33,1",
        "33 ,7", "33x65,4294967296", "33x65;7", "3y3,7", "99999999999999999999,1"}) {
    EXPECT_FALSE(fuzz::parse_trial(text)) << text;
  }
}

TEST(Trials, BeginAtTheLowestAndTakeWarpsAndBlocksAndRandomOnesByTurns) {
  EXPECT_THAT(texts(fuzz::trials_of(vector_case(), 10)),
              ElementsAre("1,1", "33,2", _, "1001,4", "31,5", _, _, _, "2,9", "129,10"));
}

TEST(Trials, AreTheSameAtEachCallAndGoOnWithMore) {
  const std::vector<std::string> many = texts(fuzz::trials_of(matrix_case(), 60));
  EXPECT_EQ(texts(fuzz::trials_of(matrix_case(), 60)), many);
  const std::vector<std::string> few = texts(fuzz::trials_of(matrix_case(), 10));
  EXPECT_TRUE(std::ranges::equal(few, std::vector(many.begin(), many.begin() + 10)));
}

TEST(Trials, ComeToTheEndOfTheRange) {
  const Case small = make_case({1000}, SizeRange{{1}, {1500}, {1}});
  EXPECT_THAT(texts(fuzz::trials_of(small, 50)), Contains(testing::StartsWith("1500,")));
}

/// Of these trials the size with most elements.
std::int64_t most_elements(const Case& tried, std::size_t trials) {
  std::int64_t most = 0;
  for (const Trial& trial : fuzz::trials_of(tried, trials)) {
    most = std::max(most, trial.size.count());
  }
  return most;
}

TEST(Trials, AreUpToTwiceAsLargeAsTheirCase) {
  const SizeRange range{{1}, {1 << 24}, {1}};
  EXPECT_GT(most_elements(make_case({1'000'000}, range), 100), 1 << 17);
  EXPECT_LE(most_elements(make_case({1'000'000}, range), 1000), 2'000'000);
  EXPECT_LE(most_elements(make_case({100}, range), 100), 1 << 13) << "in time and memory";
}

TEST(Trials, ChangeEachExtentOfLargeTiles) {
  const Case tiles =
      make_case({128, 128, 64}, SizeRange{{64, 64, 32}, {512, 512, 512}, {64, 64, 32}});
  std::set<std::string> sizes;
  bool differ = false;
  for (const Trial& trial : fuzz::trials_of(tiles, 20)) {
    EXPECT_TRUE(tiles.other_sizes->has(trial.size)) << trial.str();
    EXPECT_LE(trial.size.count(), 192 * 192 * 96) << "the third of each: " << trial.str();
    differ |= trial.size[0] != trial.size[1];
    sizes.insert(trial.size.str());
  }
  EXPECT_TRUE(differ);
  EXPECT_GE(sizes.size(), 15);
}

TEST(Trials, ComeAgainOnlyWhereThereAreNoOthers) {
  const Case few = make_case({8}, SizeRange{{1}, {8}, {1}});
  std::set<std::string> sizes;
  for (const Trial& trial : fuzz::trials_of(few, 20)) sizes.insert(trial.size.str());
  EXPECT_EQ(sizes.size(), 8);
  for (const Trial& trial : fuzz::trials_of(vector_case(), 300)) sizes.insert(trial.size.str());
  EXPECT_GT(sizes.size(), 290);
}

TEST(Trials, AreWhatTheProblemAllowsAndSmall) {
  const Case tried = matrix_case();
  std::set<std::string> sizes;
  bool has_wide = false, has_high = false;
  for (const Trial& trial : fuzz::trials_of(tried, 200)) {
    EXPECT_TRUE(tried.other_sizes->has(trial.size)) << trial.str();
    EXPECT_LE(trial.size.count(), 2 * tried.size.count()) << trial.str();
    has_wide |= trial.size[1] > 4 * trial.size[0];
    has_high |= trial.size[0] > 4 * trial.size[1];
    sizes.insert(trial.size.str());
  }
  EXPECT_TRUE(has_wide);
  EXPECT_TRUE(has_high);
  EXPECT_GT(sizes.size(), 100);
}

TEST(Trials, OfAProblemThatHasNoSmallSizesAreItsSmallest) {
  const Case large = make_case({1 << 20}, SizeRange{{1 << 20}, {1 << 22}, {1}});
  for (const Trial& trial : fuzz::trials_of(large, 5)) EXPECT_LE(trial.size[0], 1 << 21);
  const Case empty = make_case({8}, SizeRange{{0}, {8}, {4}});
  for (const Trial& trial : fuzz::trials_of(empty, 9)) EXPECT_LE(trial.size[0], 8);
}

TEST(Trials, OfOneSizeHaveOtherSeedsAlone) {
  EXPECT_THAT(texts(fuzz::trials_of(make_case({10, 20}), 3)),
              ElementsAre("10x20,1", "10x20,2", "10x20,3"));
}

TEST(Trials, ASizeThatIsNotAllowedIsRefused) {
  EXPECT_EQ(fuzz::why_not_allowed(matrix_case(), {{33, 64}, 7}), "");
  EXPECT_EQ(fuzz::why_not_allowed(make_case({10}), {{10}, 7}), "");
  EXPECT_THAT(fuzz::why_not_allowed(matrix_case(), {{33, 65}, 7}),
              HasSubstr("--fuzz-at 33x65,7: the problem of copy.plain.f32@1000x704 allows sizes "
                        "from 1x8 to 4096x4096 in multiples of 1x8;"));
  EXPECT_THAT(fuzz::why_not_allowed(make_case({10}), {{11}, 7}),
              HasSubstr("that are its own, 10;"));
}

TEST(CasesToFuzz, OfAVariantWithOtherSizesTheLargestIsEnough) {
  const SizeRange range{{1}, {100}, {1}};
  const Case small = make_case({10}, range), largest = make_case({20}, range);
  const Case other = make_case({10}, range, "other");
  const Case alone = make_case({30}, std::nullopt, "alone"),
             also_alone = make_case({40}, std::nullopt, "alone");
  const Cases fuzzed = fuzz::cases_to_fuzz({&small, &largest, &other, &alone, &also_alone});
  EXPECT_THAT(fuzzed, ElementsAre(&largest, &other, &alone, &also_alone));
  EXPECT_EQ(fuzz::count_seeds_alone(fuzzed), 2);
}

/// The smallest trial, and how many were run to find it.
std::pair<std::string, int> smallest(const Case& tried, const Trial& failing,
                                     const std::function<bool(const Trial&)>& fails) {
  int runs = 0;
  const Trial found = fuzz::smallest(tried, failing, [&](const Trial& trial) {
    ++runs;
    if (tried.other_sizes) {
      EXPECT_TRUE(tried.other_sizes->has(trial.size)) << trial.str();
    }
    return fails(trial);
  });
  return {found.str(), runs};
}

TEST(Smallest, GoesDownToTheFirstSizeThatFails) {
  const auto [found, runs] = smallest(vector_case(), {{100'000}, 3},
                                      [](const Trial& trial) { return trial.size[0] > 256; });
  EXPECT_EQ(found, "257,0");
  EXPECT_LT(runs, 150);
}

TEST(Smallest, TakesEachExtentByItself) {
  const auto found = smallest(matrix_case(), {{129, 1024}, 5}, [](const Trial& trial) {
    return trial.size[0] >= 33 && trial.size[1] >= 65;
  });
  EXPECT_EQ(found.first, "33x72,0");
}

TEST(Smallest, KeepsAFailureThatNeedsItsSizeAndSeed) {
  const auto found = smallest(vector_case(), {{1025}, 2}, [](const Trial& trial) {
    return trial.size[0] % 128 == 1 && trial.seed == 2;
  });
  EXPECT_EQ(found.first, "1,2");
  const auto alone =
      smallest(make_case({64}), {{64}, 9}, [](const Trial& trial) { return trial.seed >= 4; });
  EXPECT_EQ(alone.first, "64,4");
}

TEST(Smallest, WhatNeverFailsAgainStaysAsItIs) {
  EXPECT_EQ(smallest(vector_case(), {{1025}, 2}, [](const Trial&) { return false; }).first,
            "1025,2");
}

}  // namespace
}  // namespace warpgauge::trial_test
