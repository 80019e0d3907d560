// Reading static archives: as GNU's and BSD's ar write them, and damaged ones.
#include "metrics/machine_code/archive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics::archive_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kMagic = "!<arch>\n";

/// A file of an archive, with the byte that fills it up to an even size.
std::string member(std::string_view name, std::string_view content) {
  return fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{}{}", name, 0, 0, 0, 644, content.size(),
                     content, content.size() % 2 == 1 ? "\n" : "");
}

std::vector<ArchiveMember> read(const std::string& text) {
  return read_archive(std::as_bytes(std::span(text)));
}

std::string text_of(const ArchiveMember& member) {
  return member.name + ": " +
         std::string(reinterpret_cast<const char*>(member.bytes.data()), member.bytes.size());
}

/// "name: content" of each.
std::vector<std::string> texts(const std::string& archive) {
  std::vector<std::string> all;
  for (const ArchiveMember& member : read(archive)) {
    if (!member.is_table) all.push_back(text_of(member));
  }
  return all;
}

std::string error_of(const std::string& archive) {
  try {
    read(archive);
  } catch (const ArchiveError& error) {
    return error.what();
  }
  return "";
}

TEST(Archive, GnuHasTablesOfSymbolsAndOfLongNames) {
  const std::string archive = kMagic + member("/", "symbols") + member("/SYM64/", "more") +
                              member("//", "a_name_of_18_bytes.o/\nanother_long_name.o/\n") +
                              member("short.o/", "odd") + member("/0", "first") +
                              member("/22", "second");
  EXPECT_THAT(texts(archive), ElementsAre("short.o: odd", "a_name_of_18_bytes.o: first",
                                          "another_long_name.o: second"));
  EXPECT_EQ(archive.substr(read(archive)[3].offset, 3), "odd");
}

TEST(Archive, BsdWritesLongNamesInFrontOfTheFile) {
  using namespace std::string_literals;
  const std::string archive = kMagic + member("#1/20", "__.SYMDEF SORTED\0\0\0\0table"s) +
                              member("#1/24", "a name with blanks.o\0\0\0\0content"s) +
                              member("plain.o", "rest");
  EXPECT_THAT(texts(archive), ElementsAre("a name with blanks.o: content", "plain.o: rest"));
}

TEST(Archive, OneWithoutFilesIsWhole) { EXPECT_THAT(texts(kMagic), IsEmpty()); }

TEST(Archive, KnowsWhatBeginsAsOne) {
  const auto begins = [](std::string_view text) {
    return is_archive(std::as_bytes(std::span(text)));
  };
  EXPECT_TRUE(begins("!<arch>\n"));
  EXPECT_TRUE(begins("!<thin>\n"));
  EXPECT_FALSE(begins("!<arch>"));
  EXPECT_FALSE(begins(""));
}

TEST(Archive, DamageIsSaidWithItsPlace) {
  const std::string whole = kMagic + member("a.o/", "1234");
  EXPECT_THAT(error_of(whole.substr(0, whole.size() - 1)),
              HasSubstr("at offset 68, a file of 4 bytes reaches beyond the end (71). Make it "
                        "again with ar"));
  EXPECT_THAT(error_of(whole.substr(0, 30)), HasSubstr("at offset 8, the header of a file is cut"));
  std::string other = whole;
  other[8 + 58] = 'x';
  EXPECT_THAT(error_of(other), HasSubstr("at offset 8, there is no header of a file"));
  other = whole;
  other[8 + 48] = '-';
  EXPECT_THAT(error_of(other), HasSubstr("at offset 8, there is no header of a file"));
  EXPECT_THAT(error_of("text"), HasSubstr("it does not begin with !<arch>"));
}

TEST(Archive, NamesThatAreNotThereAreDamage) {
  EXPECT_THAT(error_of(kMagic + member("/7", "1234")),
              HasSubstr("the name '/7' is not in the table of long names (0 bytes)"));
  EXPECT_THAT(error_of(kMagic + member("#1/9", "1234")),
              HasSubstr("a name of '9' bytes does not fit into the 4 of its file"));
  EXPECT_THAT(error_of(kMagic + member("#1/x", "1234")), HasSubstr("a name of 'x' bytes"));
}

TEST(Archive, AThinOneHasNoFiles) {
  EXPECT_THAT(error_of("!<thin>\n" + member("a.o/", "")), HasSubstr("a thin archive"));
}

}  // namespace
}  // namespace warpgauge::metrics::archive_test
