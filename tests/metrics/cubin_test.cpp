// Looking into cubins: recorded ones of sm_75 and sm_90, and damaged copies of them.
#include "metrics/machine_code/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "metrics/machine_code/kernel_resources.h"
#include "metrics/machine_code/sass.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::cubin_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

constexpr const char* kSpills = "_Z6spillsPfPKf";
constexpr const char* kLean = "_Z4leanPf";

using Image = std::vector<std::byte>;

Image recorded_as(const std::string& name) { return recorded_file("cubin/" + name + ".cubin"); }

Image recorded(const std::string& arch) { return recorded_as("spills." + arch); }

/// The byte of `image` at `offset` of the code of `kernel`.
std::byte& code_byte(Image& image, const char* kernel, std::size_t offset) {
  return image[static_cast<std::size_t>(Cubin(image).code(kernel).data() - image.data()) + offset];
}

class CubinOf : public testing::TestWithParam<const char*> {};

TEST_P(CubinOf, NamesItsKernels) {
  const Image image = recorded(GetParam());
  EXPECT_THAT(Cubin(image).kernels(), ElementsAre(kLean, kSpills));
}

TEST_P(CubinOf, HasCodeInWholeInstructions) {
  const Image image = recorded(GetParam());
  const Cubin cubin(image);
  EXPECT_GT(cubin.code(kSpills).size(), cubin.code(kLean).size());
  EXPECT_EQ(cubin.code(kLean).size() % 16, 0u);
}

TEST_P(CubinOf, HashChangesExactlyWithTheCode) {
  Image image = recorded(GetParam());
  const std::string spills = Cubin(image).sass_hash(kSpills);
  const std::string lean = Cubin(image).sass_hash(kLean);
  EXPECT_THAT(spills, MatchesRegex("[0-9a-f]{16}"));
  EXPECT_NE(spills, lean);

  code_byte(image, kSpills, 5) ^= std::byte{1};
  EXPECT_NE(Cubin(image).sass_hash(kSpills), spills);
  EXPECT_EQ(Cubin(image).sass_hash(kLean), lean);

  code_byte(image, kSpills, 5) ^= std::byte{1};
  EXPECT_EQ(Cubin(image).sass_hash(kSpills), spills);
}

TEST_P(CubinOf, HasItsArchitecture) {
  const Image image = recorded(GetParam());
  EXPECT_EQ("sm_" + std::to_string(Cubin(image).sm()), GetParam());
  EXPECT_EQ(Cubin(image).arch(), GetParam());
}

TEST_P(CubinOf, FindsWhereTheLineTablePointsIntoCode) {
  const Image image = recorded(GetParam());
  const Cubin cubin(image);
  std::vector<std::string_view> kernels;
  for (const auto& [offset, kernel] : cubin.kernels_at(".debug_line")) {
    EXPECT_LT(offset, cubin.section(".debug_line").size());
    kernels.push_back(kernel);
  }
  EXPECT_THAT(kernels, testing::UnorderedElementsAre(kLean, kSpills));
  EXPECT_THAT(cubin.kernels_at(".debug_frame"), SizeIs(2));
  EXPECT_THAT(cubin.kernels_at(".text"), IsEmpty());
}

TEST_P(CubinOf, RefusesAnyPrefix) {
  const Image image = recorded(GetParam());
  for (std::size_t size = 0; size < image.size(); ++size) {
    const Image prefix(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(Cubin{prefix}, CubinError) << size << " bytes";
  }
}

// Any byte may be wrong: the image is refused or read, and nothing outside of it is touched (run
// with -fsanitize=address,undefined to see).
TEST_P(CubinOf, SurvivesAnyDamagedByte) {
  const Image image = recorded(GetParam());
  for (std::size_t at = 0; at < image.size(); ++at) {
    for (const std::byte damage : {std::byte{0x00}, std::byte{0x7f}, std::byte{0xff}}) {
      Image damaged = image;
      damaged[at] = damage;
      try {
        const Cubin cubin(damaged);
        for (const std::string& kernel : cubin.kernels()) {
          cubin.sass_hash(kernel);
          cubin.kernels_at(".debug_line");
        }
      } catch (const CubinError&) {
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, CubinOf, testing::Values("sm_75", "sm_90"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Cubin, HashIsTheSameOnEveryMachine) {
  const Image image = recorded("sm_90");
  EXPECT_EQ(Cubin(image).sass_hash(kLean), "04ed389af1a99d56");
}

TEST(Cubin, ConstantsOfAKernelAreItsParametersBehindTheDriversPart) {
  constexpr std::uint64_t kDriversPart75 = 0x160, kDriversPart90 = 0x210, kPointer = 8;
  for (const auto& [arch, drivers] :
       {std::pair{"sm_75", kDriversPart75}, {"sm_90", kDriversPart90}}) {
    const Image image = recorded(arch);
    EXPECT_EQ(Cubin(image).constant_bytes(kSpills), drivers + 2 * kPointer) << arch;
    EXPECT_EQ(Cubin(image).constant_bytes(kLean), drivers + kPointer) << arch;
    EXPECT_EQ(Cubin(image).constant_bytes("lean"), 0u) << arch;
  }
}

TEST(Cubin, AnUnknownKernelHasNothing) {
  const Image image = recorded("sm_90");
  const Cubin cubin(image);
  EXPECT_THAT(cubin.code("_Z7missingv"), IsEmpty());
  EXPECT_THAT(cubin.section(".debug_missing"), IsEmpty());
  EXPECT_EQ(cubin.sass_hash("_Z7missingv"), "");
}

TEST(Cubin, RefusesOtherFiles) {
  const auto error_of = [](const Image& image) -> std::string {
    try {
      Cubin{image};
    } catch (const CubinError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of(Image(4096)), testing::HasSubstr("does not begin with \\x7fELF"));
  EXPECT_THAT(error_of(Image(3)), testing::HasSubstr("beyond the end of the file (3 bytes)"));

  Image program = recorded("sm_90");
  program[18] = std::byte{62};  // e_machine: x86-64
  EXPECT_THAT(error_of(program), testing::HasSubstr("for ELF machine 62, not for CUDA (190)"));
}

TEST(Cubin, ANoteOfAnotherArchitectureIsNotBelieved) {
  Image image = recorded("sm_90");
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  const std::size_t at = text.find("-arch sm_90");
  ASSERT_NE(at, text.npos);
  image[at + 9] = std::byte{'8'};
  EXPECT_EQ(Cubin(image).arch(), "sm_90");
}

TEST(CubinToLink, SharedMemoryAndVariablesAreNotInTheFile) {
  const Image image = recorded_as("shared.sm_90");
  ASSERT_LT(image.size(), 4096u * 4) << "what the kernel has in shared memory";
  EXPECT_FALSE(Cubin(image).code("_Z7reversePf").empty());
}

TEST(LinkedCubin, HasTheArchitectureItWasLinkedFor) {
  EXPECT_EQ(Cubin(recorded_as("linked.sm_90")).arch(), "sm_90");
}

TEST(LinkedCubin, ConstantsAreThoseOfTheModule) {
  const Image image = recorded_as("linked.sm_90");
  EXPECT_EQ(Cubin(image).module_constant_bytes(), 256u) << "64 ints";
  EXPECT_EQ(Cubin(recorded("sm_90")).module_constant_bytes(), 0u) << "no __constant__ variable";
}

TEST(LinkedCubin, HasTheStackOfCallsUnlessTheyRecurse) {
  // nvlink -v printed "224 stack" (136 + 88, as in ptxas -v), and that the recursion's stack
  // "cannot be statically determined".
  auto kernels = resources_of_kernels(recorded_as("linked.sm_90"));
  EXPECT_EQ(kernels["_ZN6sample5chainEPi"].stack_bytes, 224u);
  EXPECT_EQ(kernels["_ZN6sample8weightedEPi"].stack_bytes, 0u);
  EXPECT_EQ(kernels["_ZN6sample9recursionEPi"].stack_bytes, std::nullopt);
  EXPECT_EQ(kernels["_ZN6sample5chainEPi"].frame_bytes, 0u) << "136 and 88 are what it calls";
}

TEST(HopperCubin, HasTheClusterThatAKernelIsMadeFor) {
  auto kernels = resources_of_kernels(recorded_as("hopper.sm_90a"));
  EXPECT_EQ(kernels["_Z10in_clusterPf"].cluster, (std::array<std::uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(kernels["_Z11specialisedPf"].cluster, std::nullopt);
}

TEST(HopperCubin, HasTheRegistersThatSetmaxnregChangesTo) {
  const Image image = recorded_as("hopper.sm_90a");
  auto kernels = resources_of_kernels(image);
  EXPECT_EQ(kernels["_Z11specialisedPf"].registers, 168u) << "65536 / 384, in units of 8";
  EXPECT_EQ(kernels["_Z11specialisedPf"].least_registers, 40u);
  EXPECT_EQ(kernels["_Z11specialisedPf"].most_registers, 232u);
  EXPECT_EQ(kernels["_Z10in_clusterPf"].least_registers, std::nullopt);
  EXPECT_EQ(kernels["_Z10in_clusterPf"].most_registers, std::nullopt);
  EXPECT_EQ(register_changes(Cubin(image), "_Z10in_clusterPf").size(), 0u);
}

}  // namespace
}  // namespace warpgauge::metrics::cubin_test
