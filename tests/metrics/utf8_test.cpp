// Characters of UTF-8: the first and the last of each length, and what is none.
#include "metrics/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace warpgauge::metrics::utf8_test {
namespace {

TEST(Utf8, ReadsTheFirstCharacterAndItsBytes) {
  const struct {
    std::string text;
    char32_t value;
    std::size_t bytes;
  } cases[] = {
      {std::string("\0x", 2), 0, 1},
      {"\x7fx", 0x7f, 1},
      {"\xc2\x80", 0x80, 2},
      {"\xdf\xbf!", 0x7ff, 2},
      {"\xe0\xa0\x80", 0x800, 3},
      {"\xed\x9f\xbf", 0xd7ff, 3},
      {"\xee\x80\x80", 0xe000, 3},
      {"\xef\xbf\xbf", 0xffff, 3},
      {"\xf0\x90\x80\x80", 0x10000, 4},
      {"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
  };
  for (const auto& [text, value, bytes] : cases) {
    const Utf8Character read = utf8_character(text);
    EXPECT_EQ(read.value, value);
    EXPECT_EQ(read.bytes, bytes) << std::hex << static_cast<unsigned>(value);
  }
}

TEST(Utf8, KnowsWhatIsNoCharacter) {
  const std::string none[] = {
      "",  // nothing
      "\x80",
      "\xbf\xbf",
      "\xf8\x88\x80\x80\x80",  // no beginning
      "\xc2",
      "\xe2\x80",
      "\xf0\x9f\x99",  // cut off
      "\xc2!",
      "\xe2\x80!",
      "\xe2!\x8b",
      "\xf0\x9f!\x82",  // broken off
      "\xc1\xbf",
      "\xe0\x9f\xbf",
      "\xf0\x8f\xbf\xbf",  // longer than needed
      "\xed\xa0\x80",
      "\xed\xbf\xbf",      // surrogates
      "\xf4\x90\x80\x80",  // beyond Unicode
  };
  for (const std::string& text : none) EXPECT_EQ(utf8_character(text).bytes, 0u) << text;
}

}  // namespace
}  // namespace warpgauge::metrics::utf8_test
