// Reading ptxas messages: recorded output of CUDA 11.8 to 13.0, and text that must be refused.
#include "metrics/machine_code/ptxas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace warpgauge::metrics::ptxas_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kRecursive = "_ZN6sample9recursiveEPi";
constexpr const char* kSpilling = "_ZN6sample8spillingEPdPKd";
constexpr const char* kHistogram = "_ZN6sample9histogramIdLi24EEEvPT_PKii";
constexpr const char* kTiled = "_ZN6sample5tiledEPfPKf";
constexpr const char* kChain = "_ZN6sample5chainEPi";
constexpr const char* kRecursion = "_ZN6sample9recursionEPi";

std::string recorded(const std::string& name) {
  std::ifstream in(std::string(WARPGAUGE_TEST_DATA) + "/ptxas/" + name);
  EXPECT_TRUE(in) << name;
  return (std::stringstream() << in.rdbuf()).str();
}

std::vector<PtxasKernel> parse_recorded(const std::string& name) {
  return parse_ptxas(recorded(name), name);
}

PtxasKernel find(const std::vector<PtxasKernel>& kernels, std::string_view name,
                 std::string_view arch) {
  const auto found = std::ranges::find_if(
      kernels, [&](const PtxasKernel& k) { return k.name == name && k.arch == arch; });
  if (found != kernels.end()) return *found;
  ADD_FAILURE() << "no " << name << " for " << arch;
  return {};
}

std::string error_of(std::string_view text) {
  try {
    parse_ptxas(text, "build.log");
  } catch (const PtxasError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Ptxas, ListsTheKernelsOfEachArchitectureInOrder) {
  const auto kernels = parse_recorded("cuda-13.0.txt");
  ASSERT_THAT(kernels, SizeIs(20));  // 5 kernels, 4 architectures; the device function is none
  EXPECT_EQ(kernels[0].name, kRecursive);
  EXPECT_EQ(kernels[0].arch, "sm_75");
  EXPECT_EQ(kernels[19].name, kTiled);
  EXPECT_EQ(kernels[19].arch, "sm_120");
}

TEST(Ptxas, ReadsSharedMemoryAndBarriers) {
  const auto kernels = parse_recorded("cuda-13.0.txt");
  const PtxasKernel tiled = find(kernels, kTiled, "sm_75");
  EXPECT_EQ(tiled.registers, 14u);
  EXPECT_EQ(tiled.barriers, 1u);
  EXPECT_EQ(tiled.shared_static_bytes, 4224u);
  EXPECT_EQ(tiled.stack_bytes(), 0u);
}

TEST(Ptxas, ReadsSpills) {
  const PtxasKernel spilling = find(parse_recorded("cuda-13.0.txt"), kSpilling, "sm_75");
  EXPECT_EQ(spilling.registers, 64u);
  EXPECT_EQ(spilling.stack_bytes(), 600u);
  EXPECT_EQ(spilling.spill_store_bytes, 716u);
  EXPECT_EQ(spilling.spill_load_bytes, 1180u);
}

TEST(Ptxas, AStackIsNotASpill) {
  const PtxasKernel histogram = find(parse_recorded("cuda-13.0.txt"), kHistogram, "sm_90");
  EXPECT_EQ(histogram.stack_bytes(), 192u);
  EXPECT_EQ(histogram.spill_store_bytes, 0u);
  EXPECT_EQ(histogram.spill_load_bytes, 0u);
}

TEST(Ptxas, SpillsOfACalledFunctionAreNotThoseOfTheKernel) {
  for (const char* file : {"cuda-11.8.txt", "cuda-13.0.txt"}) {
    const PtxasKernel recursive = find(parse_recorded(file), kRecursive, "sm_75");
    EXPECT_EQ(recursive.frame_bytes, 0u) << file;
    EXPECT_EQ(recursive.spill_store_bytes, 0u) << file;
    EXPECT_THAT(recursive.called, ElementsAre(CalledFunction{"_ZN6sample9ackermannEii", 40}));
    EXPECT_EQ(recursive.stack_bytes(), 40u) << file;
  }
}

TEST(Ptxas, TheStackOfAChainOfCallsIsThatOfAllItsFrames) {
  const PtxasKernel chain = find(parse_recorded("cuda-13.0-calls.txt"), kChain, "sm_75");
  EXPECT_THAT(chain.called, ElementsAre(CalledFunction{"_ZN6sample5innerEi", 184},
                                        CalledFunction{"_ZN6sample5outerEi", 104}));
  EXPECT_EQ(chain.stack_bytes(), 184u + 104u);
}

TEST(Ptxas, OfARecursionEachFrameCountsOnce) {
  for (const char* arch : {"sm_75", "sm_90"}) {
    const PtxasKernel kernel = find(parse_recorded("cuda-13.0-calls.txt"), kRecursion, arch);
    EXPECT_EQ(kernel.frame_bytes, 24u) << "6 words of its own";
    EXPECT_EQ(kernel.cumulative_stack_bytes, 24u) << "what is not known is left out";
    EXPECT_EQ(kernel.stack_bytes(), 24u + 64u);
  }
}

TEST(Ptxas, FunctionsOfBranchesDoNotAddUp) {
  PtxasKernel kernel{.frame_bytes = 8, .cumulative_stack_bytes = 8 + 100};
  kernel.called = {{"deep", 100}, {"shallow", 40}};
  EXPECT_EQ(kernel.stack_bytes(), 108u);
}

TEST(Ptxas, FunctionsThatAreCompiledApartBelongToNoKernel) {
  const auto kernels = parse_recorded("cuda-13.0-separate.txt");
  for (const PtxasKernel& kernel : kernels) EXPECT_THAT(kernel.called, IsEmpty()) << kernel.name;
}

TEST(Ptxas, SeparateCompilationAndArchitectureSuffixes) {
  const auto kernels = parse_recorded("cuda-13.0-separate.txt");
  ASSERT_THAT(kernels, SizeIs(6));
  EXPECT_EQ(find(kernels, "swap_neighbours", "sm_90a").barriers, 4u);
  EXPECT_EQ(find(kernels, "swap_neighbours", "sm_100f").shared_static_bytes, 256u);
  EXPECT_EQ(find(kernels, "_Z9weigh_allPf", "sm_75").registers, 24u);
}

TEST(Ptxas, WarningsAreNotTakenForProperties) {
  const auto kernels = parse_recorded("cuda-13.0-warnings.txt");
  ASSERT_THAT(kernels, SizeIs(5));
  EXPECT_EQ(find(kernels, kHistogram, "sm_90").registers, 22u);
  EXPECT_EQ(find(kernels, kSpilling, "sm_90").spill_store_bytes, 696u);
}

// The same PTX through other versions: other words (no barriers before 12.8), same kernels.
struct Version {
  const char* file;
  std::uint32_t barriers;
  std::uint64_t spill_load_bytes;
};

class PtxasVersions : public testing::TestWithParam<Version> {};

TEST_P(PtxasVersions, AreAllRead) {
  const auto kernels = parse_recorded(GetParam().file);
  ASSERT_THAT(kernels, SizeIs(10));
  const PtxasKernel tiled = find(kernels, kTiled, "sm_75");
  EXPECT_EQ(tiled.registers, 14u);
  EXPECT_EQ(tiled.barriers, GetParam().barriers);
  EXPECT_EQ(tiled.shared_static_bytes, 4224u);
  EXPECT_EQ(find(kernels, kSpilling, "sm_90").spill_load_bytes, GetParam().spill_load_bytes);
}

INSTANTIATE_TEST_SUITE_P(Recorded, PtxasVersions,
                         testing::Values(Version{"cuda-11.8.txt", 0, 1340},
                                         Version{"cuda-12.0.txt", 0, 1340},
                                         Version{"cuda-12.8.txt", 1, 1160},
                                         Version{"cuda-12.9.txt", 1, 1160}));

// --- Text in other surroundings ---------------------------------------------------------------

constexpr std::string_view kOne =
    "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z1kPf\n"
    "    0 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads\n"
    "ptxas info    : Used 30 registers, used 2 barriers, 372 bytes cmem[0], 12 bytes cmem[2]\n";

TEST(Ptxas, ReadsThroughABuildLog) {
  PtxasKernel expected = parse_ptxas(kOne, "build.log").front();
  expected.line = 2;
  std::string log = "[1/2] Building CUDA object a.o\n1>" + std::string(kOne) + "[2/2] Linking\n";
  EXPECT_THAT(parse_ptxas(log, "build.log"), ElementsAre(expected));
  for (std::size_t at = 0; (at = log.find('\n', at)) != log.npos; at += 2) log.insert(at, "\r");
  EXPECT_THAT(parse_ptxas(log, "build.log"), ElementsAre(expected));
}

TEST(Ptxas, WhatToolsPutInFrontOfLinesAndColoursAreNoPartOfThem) {
  std::string log;
  std::istringstream lines{std::string(kOne)};
  for (std::string line; std::getline(lines, line);) {
    log += "#12 34.56 \033[32m" + line + "\033[0m\033[K\n";
  }
  EXPECT_EQ(parse_ptxas(log, "build.log"), parse_ptxas(kOne, "build.log"));
}

TEST(Ptxas, AKernelOfSeveralFilesHasSeveralReports) {
  std::string other(kOne);
  other.replace(other.find("30"), 2, "31");
  const auto kernels = parse_ptxas(std::string(kOne) + other, "build.log");
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].registers, 30u);
  EXPECT_EQ(kernels[1].registers, 31u);
  EXPECT_EQ(kernels[1].line, 5);
}

TEST(Ptxas, ADemangledNameMayHaveQuotes) {
  const std::string name = "void f<g(int)::'lambda'(int)>(int)";
  std::string text(kOne);
  for (std::size_t at; (at = text.find("_Z1kPf")) != text.npos;) text.replace(at, 6, name);
  const auto kernels = parse_ptxas(text, "build.log");
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].name, name);
  EXPECT_EQ(kernels[0].arch, "sm_90");
}

TEST(Ptxas, AnItemOfALaterVersionIsPassedOver) {
  std::string later(kOne);
  later.replace(later.find("used 2"), 0, "used 3 mailboxes, 5 bytes tmem, 1 textures, ");
  EXPECT_EQ(parse_ptxas(later, "build.log"), parse_ptxas(kOne, "build.log"));
}

TEST(Ptxas, TextWithoutAKernelIsAnError) {
  for (std::string_view text :
       {"", "\n", "nvcc warning : nothing\n", "ptxas info : Something else\n",
        "ptxas info :  bytes gmem\n", "ptxas info is what 0 bytes gmem\n"}) {
    EXPECT_THAT(error_of(text), HasSubstr("build.log: no line of ptxas -v")) << text;
    EXPECT_THAT(error_of(text), HasSubstr("-Xptxas -v")) << text;
  }
}

TEST(Ptxas, DeviceFunctionsThatAreCompiledApartAreNoKernels) {
  // The output of ptxas 13.0 for tone.cu in examples/consumer, for two architectures.
  const std::string report =
      "ptxas info    : 0 bytes gmem, 16 bytes cmem[3]\n"
      "ptxas info    : Function properties for _ZN7imaging4toneEfi\n"
      "    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Compile time = 3.148 ms\n";
  EXPECT_THAT(parse_ptxas(report + report, "build.log"), IsEmpty());
  EXPECT_THAT(error_of(report + "ptxas info    : Used 30 registers\n"), HasSubstr("no kernel"))
      << "a kernel whose first line is lost";
}

TEST(Ptxas, AFileMayHaveNoKernelIfThatIsSaid) {
  for (std::string_view text : {"ptxas info : 0 bytes gmem",
                                "ptxas info    : 0 bytes gmem\nptxas info    : 8 bytes gmem, 3 "
                                "bytes cmem[3]\nnvcc warning : nothing\n"}) {
    EXPECT_TRUE(parse_ptxas(text, "build.log").empty()) << text;
  }
}

TEST(Ptxas, AKernelWithoutItsRegisterLineIsAnError) {
  const std::string head(kOne.substr(0, kOne.find("ptxas info    : Used")));
  const std::string expected = "kernel '_Z1kPf' for sm_90 has no \"Used ...";
  EXPECT_THAT(error_of(head), HasSubstr("build.log:1: " + expected));
  EXPECT_THAT(error_of(head + std::string(kOne)), HasSubstr(expected))
      << "another report of the same kernel";
}

TEST(Ptxas, AKernelWithoutItsStackLineIsAnError) {
  std::string text(kOne);
  const std::size_t properties = text.find("ptxas info    : Function");
  text.erase(properties, text.find("ptxas info    : Used") - properties);
  EXPECT_THAT(error_of(text), HasSubstr("no kernel in front of it waits for its registers"));
  text.resize(text.find("ptxas info    : Used"));
  EXPECT_THAT(error_of(text), HasSubstr("has no \"... bytes stack frame\" line"));
}

TEST(Ptxas, CutNumbersAreErrorsWithTheirLine) {
  const auto cut_behind = [](std::string_view part) {
    return std::string(kOne.substr(0, kOne.find(part) + part.size()));
  };
  EXPECT_THAT(error_of(cut_behind("Used 3")), HasSubstr("build.log:4: cannot read"));
  EXPECT_THAT(error_of(cut_behind("barriers, 37")), HasSubstr("build.log:4: cannot read"));
  EXPECT_THAT(error_of(cut_behind("372 bytes cmem[")), HasSubstr("build.log:4: cannot read"));
  EXPECT_THAT(error_of(cut_behind("stack frame, 8")), HasSubstr("build.log:3: cannot read"));
  EXPECT_THAT(error_of(cut_behind("for 'sm_9")), HasSubstr("build.log:1: cannot read"));
  EXPECT_THAT(error_of("ptxas info : Compiling entry function '_Z1k"), HasSubstr("build.log:1: "));
  std::string huge(kOne);
  huge.replace(huge.find("30"), 2, "99999999999");
  EXPECT_THAT(error_of(huge), HasSubstr("build.log:4: cannot read"));
}

// Cut anywhere, the text yields whole kernels or an error, never a kernel with other numbers.
TEST(Ptxas, ACalledFunctionWithoutItsStackLineIsAnError) {
  const std::string cut = std::string(kOne) + "ptxas info    : Function properties for _Z1fi\n";
  EXPECT_THAT(error_of(cut), HasSubstr("build.log:5: \"Function properties for _Z1fi\" has no"));
}

TEST(Ptxas, CutTextNeverYieldsWrongNumbers) {
  const PtxasKernel whole = parse_ptxas(kOne, "build.log").front();
  for (std::size_t size = 0; size < kOne.size(); ++size) {
    try {
      for (const PtxasKernel& kernel : parse_ptxas(kOne.substr(0, size), "build.log")) {
        EXPECT_EQ(kernel, whole);
      }
    } catch (const PtxasError&) {
    }
  }
}

// --- Compilers that ran at once -----------------------------------------------------------------

/// The lines of a report: its first, its names and its stack frame, its registers, and its time.
std::vector<std::string> report(const std::string& name, const std::string& arch, int registers,
                                int frame = 0) {
  const std::string info = "ptxas info    : ";
  return {info + "Compiling entry function '" + name + "' for '" + arch + "'\n",
          info + "Function properties for " + name + "\n",
          "    " + std::to_string(frame) +
              " bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n",
          info + "Used " + std::to_string(registers) + " registers, used 0 barriers\n",
          info + "Compile time = 1.5 ms\n"};
}

const std::string kModule = "ptxas info    : 0 bytes gmem\n";

std::string function(const std::string& name, int frame) {
  return "ptxas info    : Function properties for " + name + "\n    " + std::to_string(frame) +
         " bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
}

TEST(Ptxas, LinesThatMixAreGivenToTheirKernels) {
  const auto a = report("a", "sm_90", 10, 8), b = report("b", "sm_90", 20, 16);
  for (const std::string& log :
       {a[0] + b[0] + a[1] + a[2] + a[3] + b[1] + b[2] + a[4] + b[3] + b[4],
        a[0] + a[1] + b[0] + a[2] + a[3] + b[1] + b[2] + b[3] + b[4] + a[4],
        b[0] + a[0] + b[1] + b[2] + b[3] + b[4] + a[1] + kModule + a[2] + a[3] + a[4]}) {
    const auto kernels = parse_ptxas(kModule + kModule + log, "build.log");
    ASSERT_THAT(kernels, SizeIs(2)) << log;
    EXPECT_EQ(find(kernels, "a", "sm_90").registers, 10u) << log;
    EXPECT_EQ(find(kernels, "a", "sm_90").frame_bytes, 8u) << log;
    EXPECT_EQ(find(kernels, "b", "sm_90").registers, 20u) << log;
    EXPECT_EQ(find(kernels, "b", "sm_90").frame_bytes, 16u) << log;
  }
}

TEST(Ptxas, ALineThatMayBeOfTwoKernelsIsAnError) {
  const auto a = report("a", "sm_90", 10), b = report("b", "sm_90", 20);
  EXPECT_EQ(
      error_of(a[0] + b[0] + a[1] + a[2] + b[1] + b[2] + a[3] + b[3]),
      "build.log:7: \"ptxas info    : Used 10 registers, used 0 barriers\": it may be of a for "
      "sm_90 (line 1) or of b for sm_90 (line 2). Compilers that ran at once wrote this log: "
      "build again with make -O or -j1, or inspect the files that were compiled");
  EXPECT_THAT(error_of(a[0] + b[0] + a[1] + b[1] + a[2] + b[2] + a[3] + b[3]),
              HasSubstr("build.log:5: \"0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
                        "loads\": it may be of a (line 3) or of b (line 4)"));
  const auto other = report("a", "sm_75", 20);
  EXPECT_THAT(error_of(a[0] + other[0] + a[1] + a[2] + a[3]),
              HasSubstr("build.log:3: \"ptxas info    : Function properties for a\": it may be of "
                        "a for sm_90 (line 1) or "
                        "of a for sm_75 (line 2)"));
}

TEST(Ptxas, LinesWithoutTheirKernelAreErrors) {
  const auto a = report("a", "sm_90", 10);
  EXPECT_THAT(error_of(kModule + a[3]), HasSubstr("build.log:2: "));
  EXPECT_THAT(error_of(kModule + a[2]), HasSubstr("no function in front of it waits"));
  EXPECT_THAT(error_of(a[0] + a[1] + a[2] + a[3] + a[3]), HasSubstr("build.log:5: "));
  EXPECT_THAT(error_of("ptxas info    : ptxas info    : 0 bytes gmem\n"), HasSubstr("cannot read"));
  EXPECT_THAT(error_of(kModule + "ptxas info    : Compiling entry fu\n"),
              HasSubstr("build.log:2: cannot read"));
}

TEST(Ptxas, OneTemplateOfTwoFilesMayMix) {
  const auto a = report("a", "sm_90", 10), b = report("a", "sm_90", 12);
  const auto kernels =
      parse_ptxas(a[0] + b[0] + a[1] + a[2] + b[1] + b[2] + a[3] + b[3], "build.log");
  EXPECT_THAT(kernels, SizeIs(2)) << "of which the worst counts";
}

TEST(Ptxas, WhoCallsAFunctionWithStackIsNotGuessedWhereReportsMix) {
  const auto a = report("a", "sm_90", 10), b = report("b", "sm_90", 20);
  const std::string mixed = a[0] + b[0] + a[1] + a[2] + a[3] + b[1] + b[2] + b[3];
  EXPECT_THAT(error_of(mixed + function("f", 8)),
              HasSubstr("build.log:9: \"Function properties for f\": which kernel calls it is not "
                        "known where reports mix"));
  EXPECT_THAT(error_of(a[0] + a[1] + a[2] + a[3] + function("f", 8) + b[0] + a[0] + b[1] + b[2] +
                       b[3] + a[1] + a[2] + a[3]),
              HasSubstr("build.log:5: "))
      << "they may have mixed before, too";
  EXPECT_EQ(error_of(mixed + function("f", 0)), "no error") << "it needs no stack";
}

TEST(Ptxas, OfARecursionTheStackIsDoubtful) {
  const auto join = [](const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
  };
  const std::string log = kModule + join(report("early", "sm_90", 8)) +
                          join(report("last", "sm_90", 9)) + kModule +
                          join(report("recursive", "sm_90", 10)) + function("f", 24) +
                          join(report("after", "sm_90", 11));
  const auto kernels = parse_ptxas(log, "build.log");
  EXPECT_EQ(find(kernels, "recursive", "sm_90").stack_bytes(), 24u);
  EXPECT_THAT(find(kernels, "recursive", "sm_90").stack_doubt, HasSubstr("f calls itself, or"));
  EXPECT_THAT(find(kernels, "last", "sm_90").stack_doubt, HasSubstr("f calls itself, or"))
      << "it may be of the module before, if its compiler ran at the same time";
  EXPECT_EQ(find(kernels, "early", "sm_90").stack_doubt, "");
  EXPECT_EQ(find(kernels, "after", "sm_90").stack_doubt, "");
}

}  // namespace
}  // namespace warpgauge::metrics::ptxas_test
