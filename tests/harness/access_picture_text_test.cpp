// Pictures of accesses in a terminal: whole texts, their width, colour, names that mean harm.
#include "harness/explain/access_picture_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "harness/files/text_lines.h"
#include "tests/harness/picture_accesses.h"

namespace warpgauge::access_picture_text_test {
namespace {

namespace fs = std::filesystem;
using metrics::AccessKind;
using metrics::WarpAccess;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

void expect_golden(const std::string& text, const std::string& file) {
  std::ifstream stream(fs::path(WARPGAUGE_TEST_DATA) / "picture" / file);
  const std::string expected(std::istreambuf_iterator<char>(stream), {});
  if (text == expected) return;
  const fs::path left = fs::path(testing::TempDir()) / ("warpgauge_" + file);
  std::ofstream(left) << text;
  EXPECT_EQ(text, expected) << "what came is in " << left;
}

TEST(PictureText, OfConflictsAmongHalfWarps) {
  expect_golden(explain::picture_text(drawn(shared_stride(AccessKind::shared_store, 8, 64)), false),
                "halves.txt");
}

TEST(PictureText, OfWordsThatLanesShare) {
  expect_golden(explain::picture_text(drawn(shared_stride(AccessKind::shared_load, 1, 1)), false),
                "shared_words.txt");
}

TEST(PictureText, OfSectors) {
  expect_golden(explain::picture_text(drawn(global_stride(4, 20)), false), "sectors.txt");
}

TEST(PictureText, OfATileWithoutASwizzleAndWithIt) {
  using metrics::Swizzle;
  expect_golden(
      explain::picture_text(drawn(column_of({1024, 64, 128, Swizzle::none})), false) + '\n' +
          explain::picture_text(drawn(column_of({1024, 64, 128, Swizzle::span_128})), false),
      "tiles.txt");
}

TEST(PictureText, OfATileOfShortRowsLeavesTheGapsBlank) {
  const explain::AccessPicture picture = drawn(column_of({0, 8, 96, metrics::Swizzle::span_128}));
  ASSERT_TRUE(picture.tile);
  ASSERT_EQ(picture.tile->lines.size(), 8u);
  for (std::uint32_t row = 0; row < 8; ++row) {
    const auto& line = picture.tile->lines[row];
    EXPECT_EQ(std::ranges::count_if(line, &explain::AccessPicture::Tile::Chunk::is_gap), 2);
    const auto& read = line.at(2 ^ row);
    EXPECT_EQ(read.lanes, 1u << row);
    EXPECT_EQ(read.row, row);
    EXPECT_EQ(read.number, 2u);
  }
}

TEST(PictureText, FitsAHundredColumns) {
  std::mt19937 generator(3);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  for (int round = 0; round < 400; ++round) {
    const int width = 1 << random() % 5;
    const std::uint32_t slots = 1u << random() % 9;
    const auto space = round % 2 == 0 ? WarpAccess::Space::shared : WarpAccess::Space::global_store;
    const auto kind = static_cast<AccessKind>(random() % 5);
    auto line = access_at(space, kind, width, random() | 1, [&](std::uint32_t) {
      return random() % slots * static_cast<std::uint32_t>(width);
    });
    line.trust = {metrics::Confidence::estimate, std::string(150, 'x') + " y " + "and so on"};
    line.trust.reason = line.trust.reason.substr(80);
    explain::AccessPicture picture = drawn(line);
    picture.source = std::string(300, 'x');
    std::istringstream lines(explain::picture_text(picture, false));
    for (std::string text; std::getline(lines, text);) ASSERT_LE(text.size(), 100u) << text;
  }
}

TEST(PictureText, HasColourOnlyWhenAsked) {
  const explain::AccessPicture picture = drawn(shared_stride(AccessKind::shared_load, 4, 128));
  EXPECT_THAT(explain::picture_text(picture, false), Not(HasSubstr("\033")));
  EXPECT_THAT(explain::picture_text(picture, true), HasSubstr("   2\033[33m 01\033[0m  ."));
}

TEST(PictureText, ObeysNoName) {
  explain::AccessPicture picture = drawn(shared_stride(AccessKind::shared_load, 4, 4));
  picture.source = picture.id = picture.file = "\033[2J\n\xc2\x9b";
  picture.notes.push_back("\033[2J");
  const std::string text = explain::picture_text(picture, false);
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b")));
  EXPECT_THAT(text, HasSubstr("\\x1b[2J"));
}

TEST(TextLines, BreakAtBlanks) {
  EXPECT_THAT(files::wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(files::wrapped("overlong two", 4), ElementsAre("overlong", "two"));
  EXPECT_THAT(files::wrapped("", 4), ElementsAre());
}

TEST(TextLines, AreShortenedBetweenCharacters) {
  EXPECT_EQ(files::shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(files::shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(files::shortened("ab\xc3\xbc\xc3\xbc\xc3\xbc", 6), "ab...");
}

}  // namespace
}  // namespace warpgauge::access_picture_text_test
