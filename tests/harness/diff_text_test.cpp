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

std::string text_of(ChangeKind kind, bool colours) {
  Change change;
  change.id = std::string("transpose.tiled.f32@8x8");
  change.arch = std::string("sm_90");
  change.metric = &metrics::metric("registers");
  change.kind = kind;
  return changes_text({change}, {}, {}, {.everything = true, .colours = colours});
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

}  // namespace
}  // namespace warpgauge::diff::diff_text_test
