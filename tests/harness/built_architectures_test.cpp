// The architecture of a build that is emulated where none is chosen, and the cases that exist on
// it.
#include "harness/cases/built_architectures.h"

#include <gtest/gtest.h>

#include "harness/cases/registry.h"
#include "harness/devices.h"

namespace warpgauge::built_architectures_test {
namespace {

using Archs = std::vector<std::string>;

TEST(DefaultEmulatedArch, IsOfHopperOrOfTheNewestChip) {
  EXPECT_EQ(default_emulated_arch(Archs{"sm_75", "sm_90", "sm_90a", "sm_120"}), "sm_90");
  EXPECT_EQ(default_emulated_arch(Archs{"sm_75", "sm_90a", "sm_100"}), "sm_90a");
  EXPECT_EQ(default_emulated_arch(Archs{"sm_90a"}), "sm_90a");
  EXPECT_EQ(default_emulated_arch(Archs{"sm_75", "sm_100", "sm_100a", "sm_100f"}), "sm_100");
  EXPECT_EQ(default_emulated_arch(Archs{"sm_75", "sm_100a", "sm_100f"}), "sm_100a");
  EXPECT_EQ(default_emulated_arch(Archs{"what"}), "what");
}

// This program has code for 7.5 and 9.0, and perhaps for the GPU of this machine.
TEST(RunningArch, IsThatOfTheCodeOnAGpu) {
  EXPECT_EQ(running_arch({.compute_capability = "7.5"}), "sm_75");
  EXPECT_EQ(running_arch({.compute_capability = "9.0"}), "sm_90");
  EXPECT_EQ(running_arch({.compute_capability = "6.1"}), "sm_61") << "no code of ours runs there";
}

TEST(ExistsOn, ACaseIsThereFromTheFirstArchitectureOn) {
  const Case of_all, of_later{.needs = "sm_90"}, of_one{.needs = "sm_90a"};
  for (const char* arch : {"sm_75", "sm_90", "sm_120", ""}) EXPECT_TRUE(exists_on(of_all, arch));
  for (const char* arch : {"sm_90", "sm_90a", "sm_100", "sm_100f"}) {
    EXPECT_TRUE(exists_on(of_later, arch)) << arch;
  }
  for (const char* arch : {"sm_75", "sm_89", ""}) EXPECT_FALSE(exists_on(of_later, arch)) << arch;
  EXPECT_TRUE(exists_on(of_one, "sm_90a"));
  for (const char* arch : {"sm_75", "sm_90", "sm_100", "sm_100a"}) {
    EXPECT_FALSE(exists_on(of_one, arch)) << arch;
  }
}

}  // namespace
}  // namespace warpgauge::built_architectures_test
