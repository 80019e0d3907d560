// Reading ptxas messages: recorded output of CUDA 11.8 to 13.0, and text that must be refused.
#include "metrics/ptxas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace warpgauge::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr const char* kRecursive = "_ZN6sample9recursiveEPi";
constexpr const char* kSpilling = "_ZN6sample8spillingEPdPKd";
constexpr const char* kHistogram = "_ZN6sample9histogramIdLi24EEEvPT_PKii";
constexpr const char* kTiled = "_ZN6sample5tiledEPfPKf";

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

TEST(Ptxas, ReadsSharedMemoryBarriersAndConstants) {
  const auto kernels = parse_recorded("cuda-13.0.txt");
  const PtxasKernel tiled = find(kernels, kTiled, "sm_75");
  EXPECT_EQ(tiled.registers, 14u);
  EXPECT_EQ(tiled.barriers, 1u);
  EXPECT_EQ(tiled.shared_static_bytes, 4224u);
  EXPECT_EQ(tiled.stack_bytes, 0u);
  EXPECT_THAT(tiled.constant_bytes, ElementsAre(Pair(0, 368u)));
  EXPECT_THAT(find(kernels, kTiled, "sm_90").constant_bytes, IsEmpty());
}

TEST(Ptxas, ReadsSpills) {
  const PtxasKernel spilling = find(parse_recorded("cuda-13.0.txt"), kSpilling, "sm_75");
  EXPECT_EQ(spilling.registers, 64u);
  EXPECT_EQ(spilling.stack_bytes, 600u);
  EXPECT_EQ(spilling.spill_store_bytes, 716u);
  EXPECT_EQ(spilling.spill_load_bytes, 1180u);
}

TEST(Ptxas, AStackIsNotASpill) {
  const PtxasKernel histogram = find(parse_recorded("cuda-13.0.txt"), kHistogram, "sm_90");
  EXPECT_EQ(histogram.stack_bytes, 192u);
  EXPECT_EQ(histogram.spill_store_bytes, 0u);
  EXPECT_EQ(histogram.spill_load_bytes, 0u);
}

TEST(Ptxas, StackAndSpillsOfADeviceFunctionBelongToNoKernel) {
  for (const char* file : {"cuda-11.8.txt", "cuda-13.0.txt"}) {
    const PtxasKernel recursive = find(parse_recorded(file), kRecursive, "sm_75");
    EXPECT_EQ(recursive.stack_bytes, 0u) << file;
    EXPECT_EQ(recursive.spill_store_bytes, 0u) << file;
  }
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
  EXPECT_THAT(tiled.constant_bytes, ElementsAre(Pair(0, 368u)));
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

TEST(Ptxas, SumsOfBanksStayApart) {
  const auto kernels = parse_ptxas(kOne, "build.log");
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_THAT(kernels[0].constant_bytes, ElementsAre(Pair(0, 372u), Pair(2, 12u)));
}

TEST(Ptxas, ReadsThroughABuildLog) {
  std::string log = "[1/2] Building CUDA object a.o\n1>" + std::string(kOne) + "[2/2] Linking\n";
  EXPECT_EQ(parse_ptxas(log, "build.log"), parse_ptxas(kOne, "build.log"));
  for (std::size_t at = 0; (at = log.find('\n', at)) != log.npos; at += 2) log.insert(at, "\r");
  EXPECT_EQ(parse_ptxas(log, "build.log"), parse_ptxas(kOne, "build.log"));
}

TEST(Ptxas, AKernelPrintedTwiceWithTheSameNumbersIsListedOnce) {
  EXPECT_THAT(parse_ptxas(std::string(kOne) + std::string(kOne), "build.log"), SizeIs(1));
}

TEST(Ptxas, AKernelPrintedTwiceWithOtherNumbersIsAnError) {
  std::string other(kOne);
  other.replace(other.find("30"), 2, "31");
  EXPECT_THAT(error_of(std::string(kOne) + other),
              HasSubstr("build.log:5: kernel '_Z1kPf' for sm_90 has other numbers here than in "
                        "line 1"));
}

TEST(Ptxas, AnItemOfALaterVersionIsPassedOver) {
  std::string later(kOne);
  later.replace(later.find("used 2"), 0, "used 3 mailboxes, 5 bytes tmem, 1 textures, ");
  EXPECT_EQ(parse_ptxas(later, "build.log"), parse_ptxas(kOne, "build.log"));
}

TEST(Ptxas, TextWithoutAKernelIsAnError) {
  for (std::string_view text :
       {"", "\n", "nvcc warning : nothing\n",
        "ptxas info : 0 bytes gmem\nptxas info : Something else",
        "ptxas info : Something else\nptxas info : 0 bytes gmem", "ptxas info :  bytes gmem"}) {
    EXPECT_THAT(error_of(text), HasSubstr("build.log: no kernel recognised")) << text;
    EXPECT_THAT(error_of(text), HasSubstr("-Xptxas -v")) << text;
  }
}

TEST(Ptxas, DeviceFunctionsThatAreCompiledApartAreNoKernels) {
  // The output of ptxas 13.0 for tone.cu in examples/consumer, for two architectures.
  const std::string one =
      "ptxas info    : 0 bytes gmem, 16 bytes cmem[3]\n"
      "ptxas info    : Function properties for _ZN7imaging4toneEfi\n"
      "    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Compile time = 3.148 ms\n";
  EXPECT_THAT(parse_ptxas(one + one, "build.log"), IsEmpty());
  EXPECT_THAT(error_of(one + "ptxas info    : Used 30 registers\n"), HasSubstr("no kernel"))
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
  const std::string expected = "build.log:1: kernel '_Z1kPf' for sm_90 has no \"Used ...";
  EXPECT_THAT(error_of(head), HasSubstr(expected));
  EXPECT_THAT(error_of(head + std::string(kOne)), HasSubstr(expected));
}

TEST(Ptxas, AKernelWithoutItsStackLineIsAnError) {
  std::string text(kOne);
  const std::size_t properties = text.find("ptxas info    : Function");
  text.erase(properties, text.find("ptxas info    : Used") - properties);
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
TEST(Ptxas, CutTextNeverYieldsWrongNumbers) {
  const PtxasKernel whole = parse_ptxas(kOne, "build.log").front();
  for (std::size_t size = 0; size < kOne.size(); ++size) {
    try {
      for (const PtxasKernel& kernel : parse_ptxas(kOne.substr(0, size), "build.log")) {
        EXPECT_EQ(kernel.registers, whole.registers);
        EXPECT_EQ(kernel.spill_load_bytes, whole.spill_load_bytes);
      }
    } catch (const PtxasError&) {
    }
  }
}

}  // namespace
}  // namespace warpgauge::metrics
