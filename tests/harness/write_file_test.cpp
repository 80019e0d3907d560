// Files that are replaced as a whole, or stay as they were.
#include "harness/files/write_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <string>

namespace warpgauge::write_file_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WriteFile : public testing::Test {
 protected:
  WriteFile() {
    std::string name = (fs::temp_directory_path() / "warpgauge_write_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
    folder_ = name;
  }
  ~WriteFile() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static std::string why(const fs::path& path) {
    try {
      files::write_file(path, "x");
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  fs::path folder_;
};

TEST_F(WriteFile, ReplacesTheWholeFileAndLeavesNothingBeside) {
  const fs::path path = folder_ / "a";
  files::write_file(path, "a long first content");
  files::write_file(path, std::string("sh\0rt", 5));
  EXPECT_EQ(content(path), std::string("sh\0rt", 5));
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, TakesWhatIsWrittenIntoAStream) {
  files::write_file(folder_ / "a", [](std::ostream& out) { out << "one " << 2; });
  EXPECT_EQ(content(folder_ / "a"), "one 2");
}

TEST_F(WriteFile, LeavesTheOldFileWhereTheWriterThrows) {
  files::write_file(folder_ / "a", "old");
  const auto fails = [](std::ostream& out) {
    out << "half";
    throw std::domain_error("no more");
  };
  EXPECT_THROW(files::write_file(folder_ / "a", fails), std::domain_error);
  EXPECT_EQ(content(folder_ / "a"), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, GivesTheReasonOfTheFirstWriteThatFails) {
  const auto fills = [](std::ostream& out) {
    const std::string part(1 << 16, 'x');
    for (int i = 0; i < 4; ++i) out << part;
    errno = ENOENT;
  };
  try {
    files::write_file("/dev/full", fills);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/dev/full: cannot be written: No space left"));
  }
}

TEST_F(WriteFile, GoesThroughALink) {
  files::write_file(folder_ / "a", "old");
  fs::create_symlink("a", folder_ / "link");
  files::write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(content(folder_ / "a"), "new");
}

TEST_F(WriteFile, WritesIntoADevice) {
  files::write_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WriteFile, SaysWhereAndWhyItCannot) {
  EXPECT_THAT(why(folder_), HasSubstr(folder_.string() + ": cannot be written: it is a folder"));
  const fs::path lost = folder_ / "missing" / "a";
  EXPECT_THAT(why(lost), HasSubstr(lost.string() + ": cannot be written: No such file"));
  EXPECT_THAT(why("/dev/full"), HasSubstr("/dev/full: cannot be written"));
  EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace warpgauge::write_file_test
