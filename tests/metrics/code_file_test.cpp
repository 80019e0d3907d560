// Finding machine code in files: cubins, fat binaries, this program, archives, and what is damaged.
#include "metrics/machine_code/code_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/machine_code/cubin.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::code_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Read {
  CodeFile file;
  std::vector<std::string> found;  ///< "sm_90 place"
};

Read read(std::string_view text, std::string_view only = "") {
  Read out;
  out.file = read_code_file(
      std::as_bytes(std::span(text)),
      [&](std::string_view arch) { return only.empty() || arch == only; },
      [&](const FoundCubin& cubin) {
        EXPECT_THAT(Cubin(cubin.image).kernels(), Not(IsEmpty()));
        out.found.push_back(fmt::format("{} {}", cubin.arch, cubin.place));
      });
  return out;
}

std::string member(std::string_view name, std::string_view content) {
  return fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{}{}", name, 0, 0, 0, 644, content.size(),
                     content, content.size() % 2 == 1 ? "\n" : "");
}

TEST(CodeFile, CodeInTheTablesOfAnArchiveIsRead) {
  const std::string cubin = recorded_text("cubin/spills.sm_90.cubin");
  for (const char* table : {"/", "/SYM64/", "//", "__.SYMDEF", "__.SYMDEF_k.o/"}) {
    EXPECT_THAT(read("!<arch>\n" + member(table, cubin)).found, SizeIs(1)) << table;
  }
  const CodeFile plain = read("!<arch>\n" + member("/", "symbols") + member("//", "a.o/\n")).file;
  EXPECT_THAT(plain.skipped, IsEmpty());
  EXPECT_THAT(plain.damaged, IsEmpty());
}

TEST(CodeFile, AFileBehindAProgramIsNotLookedInto) {
  const std::string program = file("/bin/true"), cubin = recorded_text("cubin/spills.sm_90.cubin");
  EXPECT_THAT(read(program + std::string(100, '\0')).file.damaged, IsEmpty());
  EXPECT_THAT(read(program + "settings of the program").file.damaged, IsEmpty());
  for (const std::string& behind :
       {cubin, std::string(7, '\0') + cubin, "!<arch>\n" + member("k.o", cubin), program,
        std::string("PK\x03\x04")}) {
    EXPECT_THAT(read(program + behind).file.damaged,
                ElementsAre(HasSubstr("another file stands behind its end, and is not looked")));
  }
}

TEST(CodeFile, PackedFilesAreNamedAndNotLookedInto) {
  using namespace std::string_literals;
  for (const char* name : {"a.tar", "a.tar.gz", "a.TGZ", "a.tar.xz", "a.txz", "a.tar.bz2", "a.7z",
                           "a.so.gz", "my.cubin.zst", "a.so.1.xz", "a.rar", "a.rpm"}) {
    EXPECT_TRUE(is_named_as_code(name)) << name;
  }
  for (const char* name : {"a.gz", "a.txt.gz", "manual.1.gz", "tar", "star", "a.xz"}) {
    EXPECT_FALSE(is_named_as_code(name)) << name;
  }
  for (const std::string& begin :
       {"\x1f\x8b\x08"s, "\xfd"s + "7zXZ\0"s, "BZh9"s, "\x28\xb5\x2f\xfd"s,
        std::string(257, 'x') + "ustar"s, "7z\xbc\xaf\x27\x1c"s}) {
    EXPECT_THAT(why_no_code_file(std::as_bytes(std::span(begin))),
                Optional(HasSubstr("it is packed, and is not looked into; unpack it")));
  }
  const CodeFile package = read("!<arch>\n" + member("data.tar.xz", "\xfd"s + "7zXZ\0"s)).file;
  EXPECT_THAT(package.damaged, ElementsAre(HasSubstr("data.tar.xz: it is packed")));
}

TEST(CodeFile, ACubinIsItsOwnCode) {
  EXPECT_THAT(read(recorded_text("cubin/hopper.sm_90a.cubin")).found, ElementsAre("sm_90a "));
}

TEST(CodeFile, AFatBinaryHasCodeForArchitectures) {
  for (const std::string name : {"none", "lz4", "zstd"}) {
    const Read all = read(recorded_text("fat_binary/" + name + ".fatbin"));
    EXPECT_THAT(all.file.damaged, IsEmpty());
    EXPECT_GT(all.file.ptx, 0u) << name;
    EXPECT_EQ(all.file.cubins, all.found.size());
  }
}

TEST(CodeFile, OnlyWhatIsWantedIsUnpacked) {
  const std::string family = recorded_text("fat_binary/family.fatbin");
  EXPECT_THAT(read(family, "sm_103f").found, ElementsAre("sm_103f "));
  const Read other = read(family, "sm_103");
  EXPECT_THAT(other.found, IsEmpty());
  EXPECT_EQ(other.file.cubins, 1u);
}

TEST(CodeFile, AnArchiveHasFiles) {
  const std::string archive =
      "!<arch>\n" + member("a.o/", recorded_text("cubin/spills.sm_90.cubin")) +
      member("notes.txt/", "text") + member("b.o/", recorded_text("cubin/spills.sm_75.cubin"));
  EXPECT_THAT(read(archive).found, ElementsAre("sm_90 a.o", "sm_75 b.o"));
}

TEST(CodeFile, WhatIsDamagedDoesNotStopTheOthers) {
  std::string cut = recorded_text("cubin/spills.sm_90.cubin");
  cut.resize(cut.size() / 2);
  const std::string archive = "!<arch>\n" + member("cut.o/", cut) +
                              member("whole.o/", recorded_text("cubin/spills.sm_75.cubin"));
  const Read out = read(archive);
  EXPECT_THAT(out.found, ElementsAre("sm_75 whole.o"));
  EXPECT_THAT(out.file.damaged, ElementsAre(StartsWith("cut.o: ")));
}

TEST(CodeFile, AnArchiveInAnArchiveIsLookedInto) {
  const std::string inner = "!<arch>\n" + member("a.o/", recorded_text("cubin/spills.sm_90.cubin"));
  EXPECT_THAT(read("!<arch>\n" + member("inner.a/", inner)).found,
              ElementsAre("sm_90 inner.a, a.o"));
  std::string nested = inner;
  for (int i = 0; i < 9; ++i) nested = "!<arch>\n" + member("inner.a/", nested);
  EXPECT_THAT(read(nested).file.damaged, ElementsAre(HasSubstr("are looked into 8 deep")));
}

TEST(CodeFile, FilesOfAnArchiveThatShouldHaveCodeAreDamaged) {
  const std::string archive =
      "!<arch>\n" + member("zeros.o/", std::string(64, '\0')) + member("empty.o/", "") +
      member("nothing/", "") + member("text.o/", "no object") + member("my.whl/", "PK\x03\x04") +
      member("notes.txt/", "text") + member("whole.o/", recorded_text("cubin/spills.sm_90.cubin"));
  const Read out = read(archive);
  EXPECT_THAT(out.found, ElementsAre("sm_90 whole.o"));
  EXPECT_THAT(out.file.damaged,
              ElementsAre(StartsWith("zeros.o: it has nothing but zeros"),
                          StartsWith("empty.o: it is empty"), StartsWith("nothing: it is empty"),
                          StartsWith("text.o: its first bytes are none of"),
                          StartsWith("my.whl: a zip in an archive is not looked into")));
  EXPECT_THAT(out.file.skipped, ElementsAre("notes.txt"));
}

TEST(CodeFile, NamesSayWhatShouldHaveCode) {
  for (const char* name : {"a.so", "libmy.so.1.2", "my/A.WHL", "a.b.o", "x.a", "k.cubin", "k.ptx",
                           "k.fatbin", "-a.zip"}) {
    EXPECT_TRUE(is_named_as_code(name)) << name;
  }
  for (const char* name : {"README.md", "a.py", "so", "my.so/a.py", "a.so.txt", "12", "a.1", ""}) {
    EXPECT_FALSE(is_named_as_code(name)) << name;
  }
}

TEST(CodeFile, AScriptOfTheLinkerHasNoCode) {
  const std::string script = "/* GNU ld script */ INPUT(libmy.so.1)";
  EXPECT_FALSE(why_no_code_file(std::as_bytes(std::span(script))));
}

TEST(CodeFile, CodeWithoutItsSectionIsFound) {
  std::string program = file("/bin/true");
  const std::string fat_binary = recorded_text("fat_binary/lz4.fatbin");
  const std::size_t cubins = read(fat_binary).found.size();
  EXPECT_EQ(read(program + fat_binary).found.size(), cubins);
  EXPECT_EQ(read("MZ, a program for Windows" + fat_binary).found.size(), cubins);
  // The magic number alone, as a program has it that reads fat binaries.
  EXPECT_THAT(read(program + fat_binary.substr(0, 4) + std::string(100, 'x')).file.damaged,
              IsEmpty());
}

/// A byte turned in the headers of a fat binary costs no code: it is damage, or means nothing.
TEST(CodeFile, AHeaderWithAByteTurnedIsDamagedOrMeansNothing) {
  constexpr std::size_t kHeaders = 16 + 64;
  for (const std::string name : {"none", "lz4", "zstd"}) {
    const std::string whole = recorded_text("fat_binary/" + name + ".fatbin");
    const std::size_t cubins = read(whole).found.size();
    for (std::size_t at = 0; at < kHeaders; ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string turned = whole;
        turned[at] = static_cast<char>(value);
        const Read out = read(turned);
        const bool is_noticed =
            !out.file.is_known || !out.file.damaged.empty() || !out.file.to_link.empty();
        EXPECT_TRUE(is_noticed || out.found.size() == cubins) << name << ' ' << at << ' ' << value;
      }
    }
  }
}

TEST(CodeFile, ACubinOfAnotherMachineIsDamaged) {
  std::string cubin = recorded_text("cubin/spills.sm_90.cubin");
  cubin[18] = 62;  // e_machine: x86-64
  EXPECT_THAT(read(cubin).file.damaged, ElementsAre(HasSubstr("the sections of a cubin")));
}

TEST(CodeFile, SectionsWithoutNamesAreDamage) {
  std::string program = file("/bin/true");
  program[62] = program[63] = '\xff';  // e_shstrndx
  EXPECT_THAT(read(program).file.damaged, ElementsAre(HasSubstr("the names of sections are said")));
}

TEST(CodeFile, AProgramWithoutCodeIsKnown) {
  const Read out = read(file("/bin/true"));
  EXPECT_TRUE(out.file.is_known);
  EXPECT_EQ(out.file.cubins, 0u);
}

TEST(CodeFile, AnElfFileThatIsCutOffIsDamaged) {
  EXPECT_THAT(
      read(file("/bin/true").substr(0, 1000)).file.damaged,
      ElementsAre(HasSubstr("the header of section 0 reaches beyond the end (1000 bytes)")));
  EXPECT_THAT(read(file("/bin/true").substr(0, 20)).file.damaged,
              ElementsAre(HasSubstr("the header is cut off")));
}

TEST(CodeFile, OtherFilesAreOfNoKnownKind) {
  EXPECT_FALSE(read("text").file.is_known);
  EXPECT_FALSE(may_have_code({}));
}

}  // namespace
}  // namespace warpgauge::metrics::code_file_test
