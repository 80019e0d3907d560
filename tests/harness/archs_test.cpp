// Which of the architectures of a build is emulated where nothing is chosen.
#include "harness/archs.h"

#include <gtest/gtest.h>

#include "harness/devices.h"

namespace warpgauge {
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

}  // namespace
}  // namespace warpgauge
