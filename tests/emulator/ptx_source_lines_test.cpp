// Lines of source from .loc and .file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/emulator/ptx/source_lines.h"
#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::ptx::ptx_source_lines_test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr const char* kFiles =
    "\n.file 1 \"a.cu\"\n.file 2 \"/usr/local/cuda/bin/../targets/x86_64-linux/include/fp16.hpp\"\n"
    ".file 3 \"own.h\"\n.section .debug_str { $L: .b8 0 }\n";

/// "file:line" of each instruction of all functions; "-" where it has none.
std::vector<std::string> lines(const Module& module) {
  std::vector<std::string> all;
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) {
      const metrics::SourceLine line = line_of(instruction, module);
      all.push_back(line.file.empty() ? "-" : line.file + ":" + std::to_string(line.line));
    }
  }
  return all;
}

std::vector<std::string> lines(const std::string& body) {
  return lines(parse_items(".entry k() {\n" + body + "\n}" + kFiles));
}

/// The chain of the first instruction of a kernel.
std::vector<metrics::CallSite> chain(const std::string& body) {
  const Module module = parse_items(".entry k() {\n" + body + "\n}" + kFiles);
  return line_of(module.functions.at(0).body.at(0), module).inlined;
}

TEST(PtxSourceLines, ALocHoldsUntilTheNext) {
  EXPECT_THAT(lines("a;\n.loc 1 7 3\nb; c;\n.loc 3 2 1\nd;"),
              ElementsAre("-", "a.cu:7", "a.cu:7", "own.h:2"));
}

TEST(PtxSourceLines, LineZeroChangesNothing) {
  EXPECT_THAT(lines(".loc 1 0 3\na;\n.loc 1 7 3\nb;\n.loc 1 0 3\nc;"),
              ElementsAre("-", "a.cu:7", "a.cu:7"));
}

TEST(PtxSourceLines, AFunctionBeginsWithoutLine) {
  const Module module =
      parse_items(std::string(".entry k() { .loc 1 7 3\na; }\n.entry l() { b; }") + kFiles);
  EXPECT_THAT(lines(module), ElementsAre("a.cu:7", "-"));
}

TEST(PtxSourceLines, InlinedFromAHeaderOfTheToolkitIsTheCallersLine) {
  EXPECT_THAT(lines(".loc 1 7 3\n.loc 2 90 1, function_name $L, inlined_at 1 7 3\na;"),
              ElementsAre("a.cu:7"));
}

TEST(PtxSourceLines, InlinedFromAnOwnHeaderIsTheLineOfTheHeader) {
  EXPECT_THAT(lines(".loc 1 7 3\n.loc 3 90 1, function_name $L+4, inlined_at 1 7 3\na;"),
              ElementsAre("own.h:90"));
}

TEST(PtxSourceLines, ChainsAreWalkedToTheFirstLineOutside) {
  EXPECT_THAT(lines(".loc 1 7 3\n.loc 3 20 1, function_name $L, inlined_at 1 7 3\n"
                    ".loc 2 90 1, function_name $L, inlined_at 3 20 1\n"
                    ".loc 2 50 2, function_name $L, inlined_at 2 90 1\na;"),
              ElementsAre("own.h:20"));
}

TEST(PtxSourceLines, AChainMeansTheLastLocWithItsNumbers) {
  // One line of the header, inlined into two lines of the kernel.
  EXPECT_THAT(lines(".loc 1 7 3\n.loc 2 90 1, function_name $L, inlined_at 1 7 3\n"
                    ".loc 2 50 2, function_name $L, inlined_at 2 90 1\na;\n"
                    ".loc 1 8 3\n.loc 2 90 1, function_name $L, inlined_at 1 8 3\n"
                    ".loc 2 50 2, function_name $L, inlined_at 2 90 1\nb;"),
              ElementsAre("a.cu:7", "a.cu:8"));
}

TEST(PtxSourceLines, AnUnannouncedCallerCounts) {
  EXPECT_THAT(lines(".loc 2 50 2, function_name $L, inlined_at 1 9 4\na;"), ElementsAre("a.cu:9"));
}

TEST(PtxSourceLines, TheWholeChainIsKept) {
  const metrics::CallSite header = {"/usr/local/cuda/targets/x86_64-linux/include/fp16.hpp", 90};
  EXPECT_THAT(chain(".loc 1 7 3\n.loc 3 20 1, function_name $L, inlined_at 1 7 3\n"
                    ".loc 2 90 1, function_name $L, inlined_at 3 20 1\na;"),
              ElementsAre(header, metrics::CallSite{"own.h", 20}, metrics::CallSite{"a.cu", 7}));
  EXPECT_THAT(chain(".loc 1 7 3\na;"), ::testing::IsEmpty()) << "nothing was inlined";
}

TEST(PtxSourceLines, AnUnknownFileIsLeftOutOfTheChain) {
  EXPECT_THAT(lines(".loc 1 7 3\n.loc 9 20 1, function_name $L, inlined_at 1 7 3\na;"),
              ElementsAre("a.cu:7"));
}

TEST(PtxSourceLines, AHeaderWithoutCallerStaysItself) {
  EXPECT_THAT(lines(".loc 2 50 2\na;"),
              ElementsAre("/usr/local/cuda/targets/x86_64-linux/include/fp16.hpp:50"));
}

TEST(PtxSourceLines, AFileThatIsNotThereGivesNoLine) {
  EXPECT_THAT(lines(".loc 9 50 2\na;"), ElementsAre("-"));
}

TEST(PtxSourceLines, EachPlaceIsListedOnce) {
  const Module module = parse_items(
      std::string(".entry k() { .loc 1 7 3\na;\n.loc 1 8 1\nb;\n.loc 1 7 3\nc;\n.loc 3 1 1\n }") +
      kFiles);
  EXPECT_THAT(module.source_lines, SizeIs(2));
  EXPECT_THAT(lines(module), ElementsAre("a.cu:7", "a.cu:8", "a.cu:7"));
}

}  // namespace
}  // namespace warpgauge::emulator::ptx::ptx_source_lines_test
