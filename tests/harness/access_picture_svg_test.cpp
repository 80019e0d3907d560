// Pictures of accesses as SVG: a whole file, its form, names that mean harm. That an XML parser
// takes them is shown by tests/cli/test_explain_pictures.py.
#include "harness/explain/access_picture_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/harness/picture_accesses.h"

namespace warpgauge::access_picture_svg_test {
namespace {

namespace fs = std::filesystem;
using metrics::AccessKind;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Tags of our own making: every one is closed, in the right order; no < stands for itself.
void expect_well_formed(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    ASSERT_NE(end, text.npos);
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), tag.npos) << tag;
    if (tag.starts_with('?') || tag.ends_with('/')) continue;
    const std::string name(tag.substr(0, tag.find(' ')));
    if (!tag.starts_with('/')) {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << tag;
    EXPECT_EQ("/" + open.back(), name);
    open.pop_back();
  }
  EXPECT_THAT(open, IsEmpty());
}

/// Compares with a whole file.
void expect_file(const std::string& name, const std::string& svg) {
  std::ifstream stream(fs::path(WARPGAUGE_TEST_DATA) / "picture" / name);
  const std::string expected(std::istreambuf_iterator<char>(stream), {});
  if (svg == expected) return;
  const fs::path left = fs::path(testing::TempDir()) / ("warpgauge_" + name);
  std::ofstream(left) << svg;
  EXPECT_EQ(svg, expected) << "what came is in " << left;
}

TEST(PictureSvg, OfATileHasItsChunksBelowTheirBanks) {
  const std::string svg =
      explain::picture_svg(drawn(column_of({1024, 64, 128, metrics::Swizzle::span_128})));
  expect_well_formed(svg);
  EXPECT_THAT(svg, HasSubstr("64 rows of 128 bytes, CU_TENSOR_MAP_SWIZZLE_128B"));
  // Chunk 2 of row 1 lies where chunk 3 would be, in the middle of 92 + 4 * 3 * 27 ... + 108.
  EXPECT_THAT(svg, ContainsRegex("x=\"470\" y=\"[0-9]+\">12-15</text>"));
  EXPECT_THAT(svg, ContainsRegex("x=\"470\" y=\"[0-9]+\">1.2: 1</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">1.2</text>"))) << "it is drawn once";
  expect_file("tile.svg", svg);
}

TEST(PictureSvg, OfConflictsAndSharedWords) {
  const auto access =
      access_at(metrics::WarpAccess::Space::shared, AccessKind::shared_load, 4, 0xff,
                [](std::uint32_t lane) { return lane < 3 ? 0 : 128 * (lane % 4) + lane / 4 * 4; });
  expect_file("conflict.svg", explain::picture_svg(drawn(access)));
}

TEST(PictureSvg, OfSectors) {
  expect_file("sectors.svg", explain::picture_svg(drawn(global_stride(4, 12, 0xff))));
}

TEST(PictureSvg, IsWellFormed) {
  expect_well_formed(explain::picture_svg(drawn(shared_stride(AccessKind::shared_load, 4, 128))));
  expect_well_formed(explain::picture_svg(drawn(shared_stride(AccessKind::shared_store, 16, 16))));
  expect_well_formed(explain::picture_svg(drawn(shared_stride(AccessKind::async_copy, 4, 8))));
  expect_well_formed(explain::picture_svg(drawn(global_stride(4, 160))));
}

TEST(PictureSvg, HasConflictsInOrangeAndBroadcastsInGreen) {
  const std::string column =
      explain::picture_svg(drawn(shared_stride(AccessKind::shared_load, 4, 128)));
  EXPECT_THAT(column, HasSubstr("<rect class=\"conflict\""));
  const std::string word =
      explain::picture_svg(drawn(shared_stride(AccessKind::shared_load, 4, 0)));
  EXPECT_THAT(word, HasSubstr(">0-31</text>"));
  EXPECT_THAT(word, HasSubstr("wavefront 1: bank 0 lanes 0-31"));
}

TEST(PictureSvg, NamesAreNoMarkup) {
  explain::AccessPicture picture = drawn(shared_stride(AccessKind::shared_load, 4, 4));
  picture.source = picture.id = picture.file = picture.arch = picture.caption =
      "</text><script>alert(\"1\" && '2')</script>\033\xff";
  picture.notes = {picture.source};
  const std::string svg = explain::picture_svg(picture);
  expect_well_formed(svg);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\033")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;alert(&quot;1&quot; &amp;&amp; &apos;2&apos;)"));
}

TEST(XmlText, HasOnlyCharactersOfXml) {
  EXPECT_EQ(explain::xml_text("größer 核 😀"), "größer 核 😀");
  for (const char* const bad : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xef\xbf\xbf", "\x80",
                                "\xf5\x80\x80\x80", "\xe0\x80\x80"}) {
    EXPECT_THAT(explain::xml_text(bad), HasSubstr("\xef\xbf\xbd"));
    EXPECT_THAT(explain::xml_text(bad), Not(HasSubstr(bad)));
  }
  EXPECT_EQ(explain::xml_text(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace warpgauge::access_picture_svg_test
