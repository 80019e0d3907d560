// Words of commands for a shell.
#include "harness/files/shell_word.h"

#include <gtest/gtest.h>

namespace warpgauge::files::shell_word_test {
namespace {

TEST(ShellWord, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_word("sm_90"), "sm_90");
  EXPECT_EQ(shell_word("a/b-1.5:x=%y,+@z"), "a/b-1.5:x=%y,+@z");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_word("a*"), "'a*'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("\x1b[31m'\n\\ \xe2\x80\xae"), R"($'\033[31m\047\012\134 \342\200\256')");
}

}  // namespace
}  // namespace warpgauge::files::shell_word_test
