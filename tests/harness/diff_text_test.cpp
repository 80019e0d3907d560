// The changes between two runs as a terminal shows them: colours.
#include "harness/diff/diff_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "metrics/facts/catalog.h"

namespace warpgauge::diff::diff_text_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Change change_of(ChangeKind kind, const std::string& size = "8x8") {
  Change change;
  change.id = "transpose.tiled.f32@" + size;
  change.arch = std::string("sm_90");
  change.metric = &metrics::metric("registers");
  change.kind = kind;
  return change;
}

std::string text_of(ChangeKind kind, bool colours) {
  return changes_text({change_of(kind)}, {}, {}, {.everything = true, .colours = colours});
}

/// One display of a kernel whose sizes changed so.
std::string screen_of(ChangeKind kind, const std::vector<std::string>& sizes) {
  std::vector<Change> changes;
  for (const std::string& size : sizes) changes.push_back(change_of(kind, size));
  return changes_text(changes, by_kernel(changes, {}), {}, {});
}

TEST(DiffText, WhatAPersonLooksForIsInColour) {
  constexpr int kRed = 31, kGreen = 32, kYellow = 33, kCyan = 36;
  for (const auto& [kind, colour] :
       {std::pair(ChangeKind::worse, kRed), std::pair(ChangeKind::lost, kYellow),
        std::pair(ChangeKind::moved, kCyan), std::pair(ChangeKind::changed, kCyan),
        std::pair(ChangeKind::better, kGreen), std::pair(ChangeKind::added, kCyan)}) {
    EXPECT_THAT(text_of(kind, true), HasSubstr(fmt::format("\n  \033[{}m{:<7}\033[0m registers",
                                                           colour, to_string(kind))));
  }
  for (const ChangeKind kind : {ChangeKind::gone, ChangeKind::unsure, ChangeKind::same}) {
    EXPECT_THAT(text_of(kind, true), HasSubstr(fmt::format("\n  {:<7} registers", to_string(kind))))
        << "and what is none of it is not";
  }
}

TEST(DiffText, WithoutColoursAllIsPlain) {
  for (std::size_t i = 0; i < kChangeKinds; ++i) {
    const auto kind = static_cast<ChangeKind>(i);
    const std::string text = text_of(kind, false);
    EXPECT_THAT(text, HasSubstr(fmt::format("\n  {:<7} registers", to_string(kind))));
    EXPECT_THAT(text, Not(HasSubstr("\033")));
  }
}

TEST(DiffText, TheRowOfAKernelNamesOneCaseAndCountsTheOthers) {
  const std::string worse = "worse   transpose.tiled.f32@8x8 on sm_90";
  EXPECT_THAT(screen_of(ChangeKind::worse, {"8x8"}), HasSubstr(worse + "\n"));
  EXPECT_THAT(screen_of(ChangeKind::worse, {"8x8", "9x9"}), HasSubstr(worse + " and 1 more\n"));
  const std::string lost = "lost    transpose.tiled.f32@8x8 on sm_90";
  const std::string values = ": the whole case, 1 value\n";
  EXPECT_THAT(screen_of(ChangeKind::lost, {"8x8"}), HasSubstr(lost + values));
  EXPECT_THAT(screen_of(ChangeKind::lost, {"8x8", "9x9"}),
              HasSubstr(lost + " and 1 more" + values));
}

}  // namespace
}  // namespace warpgauge::diff::diff_text_test
