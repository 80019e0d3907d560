// Reading zips: stored and deflated files, damaged and hostile ones.
#include "metrics/machine_code/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics::zip_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "hello hello hello hello\n" as python3's zlib.compress(..., wbits=-15) writes it.
const std::string kText = "hello hello hello hello\n";
const std::string kDeflatedText("\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\xb9\x00", 11);
constexpr std::uint32_t kSumOfText = 0x0b598800;

template <typename Number>
void append(std::string& text, Number number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

struct Member {
  std::string name;
  std::string stored = kDeflatedText;
  std::uint32_t bytes = static_cast<std::uint32_t>(kText.size());
  std::uint32_t crc = kSumOfText;
  std::uint16_t method = 8, flags = 0;
  std::string local_name = name;
};

/// What both headers of a member have in common, from the version on.
std::string common(const Member& member, const std::string& name) {
  std::string text;
  append<std::uint16_t>(text, 20);
  append(text, member.flags);
  append(text, member.method);
  append<std::uint32_t>(text, 0);  // time and date
  append(text, member.crc);
  append(text, static_cast<std::uint32_t>(member.stored.size()));
  append(text, member.bytes);
  append(text, static_cast<std::uint16_t>(name.size()));
  append<std::uint16_t>(text, 0);
  return text;
}

std::string table_entry(const Member& member, std::uint32_t offset) {
  std::string text = std::string("PK\x01\x02") + std::string(2, '\0') + common(member, member.name);
  text.append(10, '\0');  // comment, disk, attributes
  append(text, offset);
  return text + member.name;
}

std::string end_record(std::size_t entries, std::size_t table, std::size_t offset) {
  std::string text = std::string("PK\x05\x06") + std::string(4, '\0');
  append(text, static_cast<std::uint16_t>(entries));
  append(text, static_cast<std::uint16_t>(entries));
  append(text, static_cast<std::uint32_t>(table));
  append(text, static_cast<std::uint32_t>(offset));
  append<std::uint16_t>(text, 0);
  return text;
}

std::string zip(const std::vector<Member>& members) {
  std::string text, table;
  for (const Member& member : members) {
    table += table_entry(member, static_cast<std::uint32_t>(text.size()));
    text += "PK\x03\x04" + common(member, member.local_name) + member.local_name + member.stored;
  }
  return text + table + end_record(members.size(), table.size(), text.size());
}

/// "name: content" of each. Throws ZipError.
std::vector<std::string> texts(std::string_view bytes) {
  std::vector<std::string> all;
  for (const ZipMember& member : read_zip(std::as_bytes(std::span(bytes)))) {
    std::string text = member.name + ": ";
    member.unpack([&](std::span<const std::byte> piece) {
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    all.push_back(text);
  }
  return all;
}

std::string error_of(std::string_view bytes) {
  try {
    texts(bytes);
  } catch (const ZipError& error) {
    return error.what();
  }
  return "";
}

Member stored(const std::string& name) { return {.name = name, .stored = kText, .method = 0}; }

TEST(Zip, FilesAreStoredOrDeflated) {
  EXPECT_THAT(texts(zip({{.name = "a.txt"}, stored("my/b")})),
              ElementsAre("a.txt: " + kText, "my/b: " + kText));
  EXPECT_THAT(texts(zip({})), IsEmpty());
}

TEST(Zip, FoldersAreLeftOutAndNamesAreOnlyTexts) {
  const Member folder = {.name = "my/", .stored = "", .bytes = 0, .crc = 0, .method = 0};
  EXPECT_THAT(texts(zip({folder, stored("-rf"), stored("../../etc/x"), stored("/abs")})),
              ElementsAre("-rf: " + kText, "../../etc/x: " + kText, "/abs: " + kText));
}

TEST(Zip, KnowsWhatBeginsAsOne) {
  const auto begins = [](std::string_view text) { return is_zip(std::as_bytes(std::span(text))); };
  EXPECT_TRUE(begins("PK\x03\x04"));
  EXPECT_TRUE(begins(zip({})));
  EXPECT_FALSE(begins("PK\x03"));
  EXPECT_FALSE(begins(""));
}

TEST(Zip, SizesOfStreamsMayStandBehindTheFile) {
  std::string bytes = zip({{.name = "a", .flags = 1 << 3}});
  bytes.replace(14, 12, std::string(12, '\0'));  // checksum and sizes of the file's own header
  EXPECT_THAT(texts(bytes), ElementsAre("a: " + kText));
}

TEST(Zip, ANameThatIsThereTwiceIsRefused) {
  EXPECT_THAT(error_of(zip({{.name = "a.so"}, stored("a.so")})),
              HasSubstr("a.so is there twice, and readers differ in which counts"));
}

TEST(Zip, HeadersThatDifferFromTheTableAreRefused) {
  EXPECT_THAT(error_of(zip({{.name = "a.so", .local_name = "b.so"}})),
              HasSubstr("at offset 0, the header of a.so differs from the table of files"));
  std::string bytes = zip({stored("a.so")});
  bytes[8] = 8;  // its own header says deflated
  EXPECT_THAT(error_of(bytes), HasSubstr("the header of a.so differs"));
  for (const std::size_t field : {14, 18, 22}) {  // its own checksum and sizes
    bytes = zip({stored("a.so")});
    ++bytes[field];
    EXPECT_THAT(error_of(bytes), HasSubstr("the header of a.so differs")) << field;
  }
  bytes = zip({stored("a.so")});
  bytes[0] = 'Q';
  EXPECT_THAT(error_of(bytes), HasSubstr("at offset 0, there is no header of a.so"));
}

TEST(Zip, WhatIsNotReadIsNamed) {
  EXPECT_THAT(error_of(zip({stored(std::string("a.so\0.py", 8))})), HasSubstr("has a zero byte"));
  EXPECT_THAT(error_of(zip({{.name = "a.so", .flags = 1}})),
              HasSubstr("a.so in a zip: it is encr"));
  EXPECT_THAT(error_of(zip({{.name = "a.so", .method = 12}})),
              HasSubstr("a.so in a zip: it is compressed by method 12, of which only"));
  EXPECT_THAT(error_of(zip({{.name = "a.so", .bytes = 0xffffffff}})),
              HasSubstr("a.so has more bytes than a zip has without zip64"));
}

TEST(Zip, SizesAndChecksumsAreCompared) {
  EXPECT_THAT(error_of(zip({{.name = "a.so", .crc = 1}})), HasSubstr("its checksum is wrong"));
  EXPECT_THAT(error_of(zip({{.name = "a.so", .bytes = 25}})), HasSubstr("it has 24 bytes, not 25"));
  EXPECT_THAT(error_of(zip({{.name = "a.so", .bytes = 23}})), HasSubstr("it has more than 23"));
  EXPECT_THAT(error_of(zip({{.name = "a.so", .stored = kDeflatedText + "x"}})),
              HasSubstr("its compressed bytes are damaged"));
  EXPECT_THAT(error_of(zip({{.name = "a.so", .stored = kDeflatedText.substr(0, 8)}})),
              HasSubstr("its compressed bytes are damaged"));
  EXPECT_THAT(error_of(zip({{.name = "a.so", .bytes = 24 * 1032}})),
              HasSubstr("a.so cannot have 24768 bytes in 11"));
}

TEST(Zip, FilesThatShareTheirBytesAreRefused) {
  const Member one = stored("a");
  const std::string local = "PK\x03\x04" + common(one, "a") + "a" + one.stored;
  Member other = one;
  const std::string table = table_entry(one, 0) + table_entry({.name = "b", .stored = kText}, 0);
  const std::string bytes = local + table + end_record(2, table.size(), local.size());
  EXPECT_THAT(error_of(bytes), HasSubstr("the header of b differs"));
  // A file in the bytes of another one.
  Member outer = {.name = "outer", .stored = local, .bytes = 0, .crc = 0, .method = 0};
  outer.bytes = static_cast<std::uint32_t>(local.size());
  const std::string whole = "PK\x03\x04" + common(outer, "outer") + "outer" + local;
  const auto inner = static_cast<std::uint32_t>(whole.size() - local.size());
  const std::string both = table_entry(outer, 0) + table_entry(one, inner);
  EXPECT_THAT(error_of(whole + both + end_record(2, both.size(), whole.size())),
              HasSubstr("two files share their bytes"));
}

TEST(Zip, FilesThatTheTableDoesNotListAreRefused) {
  const std::string whole = zip({stored("a"), stored("b"), stored("c")});
  std::vector<std::string> entries;
  for (std::size_t at = 0; (at = whole.find("PK\x01\x02", at)) != whole.npos; ++at) {
    entries.push_back(whole.substr(at, table_entry(stored("a"), 0).size()));
  }
  ASSERT_EQ(entries.size(), 3);
  const std::string files = whole.substr(0, whole.find(entries.front()));
  for (const std::vector<int>& listed : {std::vector{0, 1}, {0, 2}, {1, 2}, {}}) {
    std::string table;
    for (const int entry : listed) table += entries[static_cast<std::size_t>(entry)];
    EXPECT_THAT(error_of(files + table + end_record(listed.size(), table.size(), files.size())),
                HasSubstr("there is a file that the table of files does not list"));
  }
}

TEST(Zip, AFolderHasNoBytes) {
  const Member folder = {.name = "my.so/", .bytes = 0, .crc = 0};
  EXPECT_THAT(error_of(zip({folder})), HasSubstr("my.so/ in a zip: it has more than 0 bytes"));
}

TEST(Zip, OneThatIsCutOffIsRefused) {
  const std::string whole = zip({{.name = "a.so"}, stored("my/b.so")});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)), "") << size;
  }
}

/// Any byte but those that mean nothing here: versions, times, attributes.
TEST(Zip, AByteThatIsTurnedIsRefusedOrMeansNothing) {
  const std::string whole = zip({{.name = "a.so"}, stored("my/b.so")});
  const auto expected = texts(whole);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string turned = whole;
    turned[at] = static_cast<char>(~turned[at]);
    EXPECT_TRUE(!error_of(turned).empty() || texts(turned) == expected) << at;
  }
}

}  // namespace
}  // namespace warpgauge::metrics::zip_test
