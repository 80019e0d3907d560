// Files and folders that are removed with their owner.
#include "harness/files/temporary_path.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace warpgauge::temporary_path_test {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryPath, IsThereAsLongAsTheObject) {
  fs::path file, folder;
  {
    const files::TemporaryPath temporary = files::TemporaryPath::file(),
                               other = files::TemporaryPath::file();
    EXPECT_NE(temporary.path(), other.path());
    file = temporary.path();
    EXPECT_TRUE(fs::is_regular_file(file));
    const files::TemporaryPath inner =
        files::TemporaryPath::folder_in(testing::TempDir(), ".begins-");
    folder = inner.path();
    EXPECT_THAT(folder.filename().string(), testing::StartsWith(".begins-"));
    EXPECT_TRUE(folder.is_absolute());
    std::ofstream(folder / "something") << "in it";
  }
  EXPECT_FALSE(fs::exists(file));
  EXPECT_FALSE(fs::exists(folder));
}

TEST(TemporaryPath, SaysWhereNoneCanBeMade) {
  try {
    files::TemporaryPath::folder_in("/no/such/folder", "x");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/no/such/folder/x"));
  }
}

}  // namespace
}  // namespace warpgauge::temporary_path_test
