// Text that is safe for a terminal: what is replaced, and what stays as it is.
#include "harness/files/printable.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace warpgauge::files::printable_test {
namespace {

/// A character in UTF-8.
std::string utf8(unsigned character) {
  const auto byte = [](unsigned bits) { return static_cast<char>(bits); };
  if (character < 0x80) return {byte(character)};
  const char last = byte(0x80 | (character & 0x3f));
  if (character < 0x800) return {byte(0xc0 | character >> 6), last};
  const char middle = byte(0x80 | (character >> 6 & 0x3f));
  if (character < 0x10000) return {byte(0xe0 | character >> 12), middle, last};
  return {byte(0xf0 | character >> 18), byte(0x80 | (character >> 12 & 0x3f)), middle, last};
}

void expect_hidden(unsigned first, unsigned last) {
  for (unsigned character = first; character <= last; ++character) {
    const std::string text = utf8(character);
    const Hidden hidden = hidden_at(text + "x");
    EXPECT_EQ(hidden.character, character) << fmt::format("{:x}", character);
    EXPECT_EQ(hidden.bytes, text.size()) << fmt::format("{:x}", character);
  }
  for (const unsigned beside : {first - 1, last + 1}) {
    if (first == 0 && beside != last + 1) continue;
    EXPECT_EQ(hidden_at(utf8(beside)).bytes, 0u) << fmt::format("{:x} is seen", beside);
    EXPECT_EQ(printable(utf8(beside)), utf8(beside));
  }
}

TEST(Printable, HidesWhatATerminalObeysOrDoesNotShowAndNothingBeside) {
  expect_hidden(0x00, 0x1f);
  expect_hidden(0x7f, 0x9f);
  expect_hidden(0xad, 0xad);
  expect_hidden(0x61c, 0x61c);
  expect_hidden(0x180e, 0x180e);
  expect_hidden(0x200b, 0x200f);
  expect_hidden(0x2028, 0x202e);
  expect_hidden(0x2060, 0x206f);
  expect_hidden(0xfeff, 0xfeff);
  expect_hidden(0xfff9, 0xfffb);
  expect_hidden(0xe0000, 0xe007f);
}

TEST(Printable, IsOneLineWithTheNumbersOfWhatItReplaces) {
  EXPECT_EQ(printable("a\nb\rc\td"), "a b c d");
  EXPECT_EQ(printable("\033[2J\x7f\xc2\x9b!"), "\\x1b[2J\\x7f\\x9b!");
  EXPECT_EQ(printable("x\u202ey\ufeff"), "x\\u202ey\\ufeff");
  EXPECT_EQ(printable("x\U000e0041y"), "x\\U000e0041y");
  EXPECT_EQ(printable(std::string("\0x", 2)), "\\x00x");
}

TEST(Printable, KeepsTheRest) {
  for (const char* text : {"", "transpose.tiled.f32@8x8", "±1 µs", "⁰ and 日本", "🙂", "\\x1b"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, KeepsBytesThatAreNoCharacters) {
  // Too short, and with bytes that do not continue a character.
  for (const char* text : {"\xe2", "\xe2\x80", "\xe2\x80!", "\xe2!\x8b", "\xc2", "\x80\x8b"}) {
    EXPECT_EQ(printable(text), text);
  }
}

}  // namespace
}  // namespace warpgauge::files::printable_test
