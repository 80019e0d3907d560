// Folders of results after earlier, killed and concurrent runs.
#include "harness/outcome/out_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

#include "harness/files/temporary_path.h"

namespace warpgauge::out_folder_test {
namespace {

namespace fs = std::filesystem;
using outcome::OutFolder;
using testing::UnorderedElementsAre;

class OutFolderTest : public testing::Test {
 protected:
  void write(const std::string& name) const { std::ofstream(path() / name) << "x"; }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path())) names.insert(entry.path().filename());
    return names;
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  const files::TemporaryPath folder_ =
      files::TemporaryPath::folder_in(testing::TempDir(), "out-folder-");
};

TEST_F(OutFolderTest, BeginsWithoutWhatAnEarlierRunLeft) {
  for (const char* name : {"facts.jsonl", "results.json", "summary.md", "junit.xml"}) write(name);
  const OutFolder out(path());
  EXPECT_THAT(names(), UnorderedElementsAre(".lock", "junit.xml"));
}

TEST_F(OutFolderTest, BeginsWithoutThePartsThatAKilledRunLeft) {
  for (const char* name : {"results.json.half-17", "summary.md.half-18"}) write(name);
  fs::create_directory(path() / ".counts-Ab3dEf");
  write(".counts-Ab3dEf/launches");
  for (const char* name : {"notes.md.half-1", "results.json.bak"}) write(name);  // of the user
  const OutFolder out(path());
  EXPECT_THAT(names(), UnorderedElementsAre(".lock", "notes.md.half-1", "results.json.bak"));
}

TEST_F(OutFolderTest, IsOfOneRunAtATime) {
  write("results.json.half-17");
  const OutFolder out(path());
  write("results.json.half-18");  // of the run that is writing
  EXPECT_THROW(OutFolder{path()}, std::runtime_error);
  EXPECT_THAT(names(), UnorderedElementsAre(".lock", "results.json.half-18"));
}

TEST_F(OutFolderTest, HasTheFilesThatRunsWrite) {
  const OutFolder out(path());
  for (const char* name : {"facts.jsonl", "results.json", "summary.md", ".lock"}) {
    EXPECT_TRUE(out.has(path() / name)) << name;
    EXPECT_FALSE(out.has(path().parent_path() / name)) << name;
    EXPECT_FALSE(out.has(path() / "none" / name)) << name;
    EXPECT_FALSE(out.has(name)) << "a file of the folder that the process is in";
  }
  EXPECT_FALSE(out.has(path() / "junit.xml"));
  const fs::path before = fs::current_path();
  fs::current_path(path());
  EXPECT_TRUE(out.has("facts.jsonl"));
  fs::current_path(before);
}

}  // namespace
}  // namespace warpgauge::out_folder_test
