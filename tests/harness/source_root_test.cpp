// The folder that files in facts are relative to, and their names.
#include "harness/files/source_root.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace warpgauge::source_root_test {
namespace {

namespace fs = std::filesystem;
using files::SourceFolder;

std::string folder_of(const std::vector<std::string>& sources, const std::string& project = "") {
  SourceFolder folder(project);
  for (const std::string& source : sources) folder.add(source);
  return folder.path();
}

TEST(RelativeTo, LeavesWhatLiesElsewhere) {
  EXPECT_EQ(files::relative_to("/a/b", "/a/b/c/d.cu"), "c/d.cu");
  EXPECT_EQ(files::relative_to("/a/b", "/a/bc/d.cu"), "/a/bc/d.cu");
  EXPECT_EQ(files::relative_to("/a/b", "c/d.cu"), "c/d.cu");
  EXPECT_EQ(files::relative_to("", "/a/d.cu"), "/a/d.cu");
  EXPECT_EQ(files::relative_to("/a/b", ""), "");
}

TEST(WithRelativePaths, FindsThemInSentences) {
  EXPECT_EQ(files::with_relative_paths("/a/b", "at /a/b/c.cu:3, which (/a/b/d.h:4) wrote"),
            "at c.cu:3, which (d.h:4) wrote");
  EXPECT_EQ(files::with_relative_paths("/a/b", "/a/b/c.cu, /x/a/b/c.cu, /a/bc/d.cu, /a/b"),
            "c.cu, /x/a/b/c.cu, /a/bc/d.cu, /a/b");
  EXPECT_EQ(files::with_relative_paths("", "/a/b/c.cu"), "/a/b/c.cu");
}

TEST(SourceFolder, IsWhatAllSourcesHaveInCommon) {
  EXPECT_EQ(folder_of({"/no/x/src/a.cu"}), "/no/x/src");
  EXPECT_EQ(folder_of({"/no/x/src/a.cu", "/no/x/include/b.h", "/no/x/src/c/d.cu"}), "/no/x");
  EXPECT_EQ(folder_of({"/no/x/a.cu", "/no/xy/a.cu"}), "/no");
  EXPECT_EQ(folder_of({"/no/a.cu", "/none/a.cu"}), "") << "everything lies in /";
  EXPECT_EQ(folder_of({"/no/a.cu", "/none/a.cu", "/no/b.cu"}), "");
  EXPECT_EQ(folder_of({}), "");
}

TEST(SourceFolder, IsNotThatOfToolkits) {
  EXPECT_EQ(folder_of({"/usr/local/cuda-13.0/targets/x86_64-linux/include/cuda_fp16.hpp",
                       "/no/x/a.cu", "/usr/include/c++/12/cmath", "relative.cu", ""}),
            "/no/x");
}

TEST(SourceFolder, IsTheProjectWhereASourceLiesInIt) {
  EXPECT_EQ(folder_of({"/opt/other/a.h", "/no/x/src/a.cu"}, "/no/x"), "/no/x");
  EXPECT_EQ(folder_of({"/no/x/src/a.cu", "/opt/other/a.h"}, "/no/x"), "/no/x");
  EXPECT_EQ(folder_of({"/no/y/src/a.cu"}, "/no/x"), "/no/y/src");
}

TEST(SourceFolder, IsTheCheckoutAroundTheSources) {
  const fs::path root = fs::path(testing::TempDir()) / "warpgauge_checkout";
  fs::create_directories(root / ".git");
  fs::create_directories(root / "src" / "deep");
  EXPECT_EQ(folder_of({root / "src" / "deep" / "a.cu"}), root);
  EXPECT_EQ(files::checkout_around(root / "src"), root);
  EXPECT_EQ(files::checkout_around(root / "not_there"), "");
  fs::remove_all(root);
}

}  // namespace
}  // namespace warpgauge::source_root_test
