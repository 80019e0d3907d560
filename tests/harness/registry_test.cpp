// Sizes, registration, and selection of cases by globs.
#include "harness/cases/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "warpgauge/problem.h"
#include "warpgauge/registration.h"

namespace warpgauge::registry_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Case make_case(std::string family, std::string variant, std::string size = "64") {
  return {.id = {std::move(family), std::move(variant), "f32", std::move(size)},
          .file = "kernels/x.cu",
          .line = 7,
          .make_problem = nullptr,
          .launch = nullptr};
}

std::vector<std::string> ids(const std::vector<const Case*>& cases) {
  std::vector<std::string> ids;
  for (const Case* test_case : cases) ids.push_back(test_case->id.str());
  return ids;
}

TEST(Size, IsWrittenSlowestFirst) {
  EXPECT_EQ(Size({1000, 700}).str(), "1000x700");
  EXPECT_EQ(Size({1000, 700}).count(), 700000);
  EXPECT_EQ(Size({33}).str(), "33");
}

TEST(Registry, KeepsFamiliesTogetherInOrderOfRegistration) {
  Registry registry;
  registry.add(make_case("b", "second"));
  registry.add(make_case("a", "only"));
  registry.add(make_case("b", "first"));
  EXPECT_THAT(ids(registry.select({})),
              ElementsAre("a.only.f32@64", "b.second.f32@64", "b.first.f32@64"));
}

TEST(Registry, SelectsByGlob) {
  Registry registry;
  registry.add(make_case("transpose", "padded"));
  registry.add(make_case("transpose", "tiled", "1000x700"));
  EXPECT_THAT(ids(registry.select({.filter = {"*.padded.*"}})),
              ElementsAre("transpose.padded.f32@64"));
  EXPECT_THAT(ids(registry.select({.filter = {"*@1000x700"}})),
              ElementsAre("transpose.tiled.f32@1000x700"));
  EXPECT_THAT([&] { registry.select({.filter = {"padded"}, .large = true}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("selects no case; `")));
}

TEST(Registry, SeveralGlobsSelectAndExclude) {
  Registry registry;
  for (const char* name : {"padded", "tiled", "naive"}) registry.add(make_case("transpose", name));
  EXPECT_THAT(ids(registry.select({.filter = {"*.padded.*", "*.naive.*"}})),
              ElementsAre("transpose.padded.f32@64", "transpose.naive.f32@64"));
  const Selection excluding{.exclude = {"*.padded.*", "*.naive.*"}};
  EXPECT_THAT(ids(registry.select(excluding)), ElementsAre("transpose.tiled.f32@64"));
  EXPECT_EQ(registry.count_excluded(excluding), 2);
  EXPECT_EQ(registry.count_excluded({.filter = {"*.tiled.*"}, .exclude = {"*.padded.*"}}), 0);
  EXPECT_THAT([&] { registry.select({.filter = {"*.tiled.*"}, .exclude = {"transpose.*"}}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("--exclude 'transpose.*' leaves none of 1 cases")));
}

TEST(Registry, EachGlobMatchesSomeCase) {
  Registry registry;
  registry.add(make_case("transpose", "padded"));
  EXPECT_THAT(
      [&] { registry.select({.filter = {"*.padded.*", "*.tild.*"}}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("--filter '*.tild.*' selects no case")));
  EXPECT_THAT(
      [&] { registry.select({.exclude = {"*.tild.*"}}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("--exclude '*.tild.*' matches no case")));
}

TEST(Registry, LargeCasesAreSelectedWhenAskedFor) {
  Registry registry;
  registry.add(make_case("a", "b"));
  Case big = make_case("a", "b", "16384");
  big.large = true;
  registry.add(big);
  EXPECT_THAT(ids(registry.select({})), ElementsAre("a.b.f32@64"));
  EXPECT_THAT(ids(registry.select({.large = true})), ElementsAre("a.b.f32@64", "a.b.f32@16384"));
  EXPECT_THAT([&] { registry.select({.filter = {"*@16384"}}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("1 large ones with --large")));
}

TEST(Registry, AYardstickIsOfTheSameTypeAndSize) {
  Registry registry;
  Case own = make_case("a", "own");
  own.yardstick = "library";
  registry.add(own);
  registry.add(make_case("a", "library", "128"));
  EXPECT_EQ(registry.yardstick_of(own), nullptr);
  registry.add(make_case("a", "library"));
  ASSERT_NE(registry.yardstick_of(own), nullptr);
  EXPECT_EQ(registry.yardstick_of(own)->id.str(), "a.library.f32@64");
  EXPECT_EQ(registry.yardstick_of(registry.cases()[1]), nullptr);
}

TEST(Registry, RefusesTheSameIdTwiceAndSaysWhere) {
  Registry registry;
  registry.add(make_case("a", "b"));
  EXPECT_THAT(
      [&] { registry.add(make_case("a", "b")); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("kernels/x.cu:7: a.b.f32@64 is registered")));
}

TEST(Registry, RefusesNamesThatWouldNotSurviveFilters) {
  Registry registry;
  for (const char* name : {"", "a.b", "a b", "a/b", "a@b", "<script>", "a\nb"}) {
    EXPECT_THROW(registry.add(make_case("family", name)), std::invalid_argument) << name;
  }
}

void register_nothing(const Family&) {}

TEST(Registry, AFamilyWithoutACaseIsAnError) {
  const Announcement announced("bare", register_nothing);
  EXPECT_THAT([] { Registry::instance(); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("family 'bare' has no case")));
}

struct Unsized : Problem {
  explicit Unsized(const Size&) {}
  void check(Comparison&) const override {}
};

TEST(Registry, AVariantWithoutASizeIsAnError) {
  const Variants<Unsized> variants = Family("a").problem<Unsized>("f32", {});
  EXPECT_THAT([&] { variants.variant("b", [](Unsized&) {}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("a.b.f32 has no size")));
}

TEST(Registry, GpuOnlyNeedsAReason) {
  const Variants<Unsized> variants = Family("a").problem<Unsized>("f32", {{1}});
  for (const char* reason : {"", " ", "\t\n", "\u200b"}) {
    EXPECT_THAT([&] { variants.gpu_only(reason); },
                ThrowsMessage<std::invalid_argument>(
                    AllOf(HasSubstr("registry_test.cpp:"), HasSubstr("gpu_only() has no reason"))));
  }
}

TEST(Registry, NeedsNamesAnArchitecture) {
  const Variants<Unsized> variants = Family("a").problem<Unsized>("f32", {{1}});
  for (const char* arch : {"", "90", "sm_9", "Hopper"}) {
    EXPECT_THAT([&] { variants.needs(arch); },
                ThrowsMessage<std::invalid_argument>(
                    AllOf(HasSubstr("registry_test.cpp:"), HasSubstr("names no architecture"))));
  }
}

TEST(Registry, OtherSizesAreARangeWithTheRegisteredOnes) {
  const Variants<Unsized> variants = Family("a").problem<Unsized>("f32", {{8, 16}, {100, 32}});
  const std::vector<std::tuple<Size, Size, Size, std::string>> wrong = {
      {{}, {}, {}, "has no extents"},
      {{1, 1}, {100}, {}, "has sizes of 2 and 1 extents"},
      {{1, 1}, {100, 100}, {1}, "has sizes of 2 and 1 extents"},
      {{1}, {100}, {}, "leaves out the size 8x16"},
      {{1, 1}, {99, 100}, {}, "leaves out the size 100x32"},
      {{1, 1}, {100, 100}, {1, 3}, "leaves out the size 8x16"},
      {{-1, 1}, {100, 100}, {}, "begins with -1"},
      {{101, 1}, {100, 100}, {}, "has no multiple of 1 from 101 to 100"},
      {{1, 1}, {100, 100}, {1, 101}, "has no multiple of 101 from 1 to 100"},
      {{1, 1}, {100, 100}, {1, 0}, "has multiples of 0"}};
  for (const auto& [lowest, highest, multiples, why] : wrong) {
    EXPECT_THAT([&] { variants.sizes_between(lowest, highest, multiples); },
                ThrowsMessage<std::invalid_argument>(
                    AllOf(HasSubstr("registry_test.cpp:"), HasSubstr("sizes_between() " + why))));
  }
  EXPECT_NO_THROW(variants.sizes_between({1, 1}, {100, 100}));
  EXPECT_NO_THROW(variants.sizes_between({1, 1}, {100, 100}, {4, 16}));
}

TEST(SizeRange, HasMultiplesOfEachExtent) {
  const SizeRange range{{2, 3}, {10, 20}, {1, 8}};
  EXPECT_TRUE(range.has({2, 8}));
  EXPECT_TRUE(range.has({10, 16}));
  for (const Size& other :
       {Size{1, 8}, Size{11, 8}, Size{2, 3}, Size{2, 24}, Size{2}, Size{2, 8, 1}}) {
    EXPECT_FALSE(range.has(other)) << other.str();
  }
  EXPECT_EQ(range.count(0), 9);
  EXPECT_EQ(range.count(1), 2);
  EXPECT_EQ(range.at(1, 1), 16);
  EXPECT_EQ(range.number_of(1, 19), 1);
  EXPECT_EQ(range.number_of(1, 1), 0);
  EXPECT_EQ(range.number_of(0, 1000), 8);
  EXPECT_EQ(range.str(), "from 2x3 to 10x20 in multiples of 1x8");
}

TEST(Case, AtAnotherSizeIsTheSameVariant) {
  Case test_case = make_case("transpose", "padded");
  test_case.size = {64};
  const Case other = test_case.at({65});
  EXPECT_EQ(other.id.str(), "transpose.padded.f32@65");
  EXPECT_EQ(other.size[0], 65);
  EXPECT_EQ(test_case.id.str(), "transpose.padded.f32@64");
}

}  // namespace
}  // namespace warpgauge::registry_test
