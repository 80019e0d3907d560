#include "harness/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "warpgauge/problem.h"
#include "warpgauge/registration.h"

namespace warpgauge {
namespace {

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
  for (const Case* one : cases) ids.push_back(one->id.str());
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
  EXPECT_THAT(ids(registry.select("", false)),
              ElementsAre("a.only.f32@64", "b.second.f32@64", "b.first.f32@64"));
}

TEST(Registry, SelectsByGlob) {
  Registry registry;
  registry.add(make_case("transpose", "padded"));
  registry.add(make_case("transpose", "tiled", "1000x700"));
  EXPECT_THAT(ids(registry.select("*.padded.*", false)), ElementsAre("transpose.padded.f32@64"));
  EXPECT_THAT(ids(registry.select("*@1000x700", false)),
              ElementsAre("transpose.tiled.f32@1000x700"));
  EXPECT_THAT([&] { registry.select("padded", true); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("selects no case; `")));
}

TEST(Registry, LargeCasesAreSelectedWhenAskedFor) {
  Registry registry;
  registry.add(make_case("a", "b"));
  Case big = make_case("a", "b", "16384");
  big.large = true;
  registry.add(big);
  EXPECT_THAT(ids(registry.select("", false)), ElementsAre("a.b.f32@64"));
  EXPECT_THAT(ids(registry.select("", true)), ElementsAre("a.b.f32@64", "a.b.f32@16384"));
  EXPECT_THAT([&] { registry.select("*@16384", false); },
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

}  // namespace
}  // namespace warpgauge
