// Loads with the pragma "used_bytes_mask", which nvcc makes of three values beside each other: only
// some bytes are used, and the others may lie behind the end of the memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::used_bytes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kThree = ".pragma \"used_bytes_mask 4095\";\n";
const std::string kLast = ".pragma \"used_bytes_mask 0xf000\";\n";

/// Lane 0 loads from byte 0 of shared memory; `mask` is in front of the load.
std::string load_of_shared(const std::string& mask) {
  return kernel_text(R"(
    mov.u32 %r10, buffer;
    setp.eq.u32 %p1, %r0, 0;
    @!%p1 bra end;
    )" + mask + R"(
    ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r10];
    end: ret;)",
                     ".extern .shared .align 16 .b8 buffer[];\n");
}

Shape with_shared(std::uint64_t bytes) {
  Shape shape;
  shape.dynamic_shared_bytes = bytes;
  return shape;
}

TEST(UsedBytes, OnlyTheseMustBeInSharedMemory) {
  EXPECT_FALSE(fault_of(load_of_shared(kThree), with_shared(12)));
  const auto fault = fault_of(load_of_shared(kThree), with_shared(8));
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->what(), HasSubstr("the block has 8 bytes of shared memory"));
  EXPECT_TRUE(fault_of(load_of_shared(""), with_shared(12)));
  EXPECT_TRUE(fault_of(load_of_shared(kLast), with_shared(12)));
}

TEST(UsedBytes, OfNoneAreLikeNoMask) {
  const std::string none = ".pragma \"used_bytes_mask 0\";\n";
  EXPECT_FALSE(fault_of(load_of_shared(none), with_shared(16)));
  EXPECT_TRUE(fault_of(load_of_shared(none), with_shared(12)));
}

TEST(UsedBytes, TheWholeAccessCounts) {
  const LaunchOutcome outcome = run_kernel(load_of_shared(kThree), with_shared(12)).outcome;
  EXPECT_EQ(totals_of(outcome, AccessTotals::Space::shared).requests, 1u);
}

TEST(UsedBytes, OnlyTheseMustBeInAnAllocation) {
  const auto load = [](const std::string& mask) {
    return kernel_text("setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra end;\n" + mask +
                       "ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd2];\n"
                       "st.global.u32 [%rd1], %r22;\nend: ret;");
  };
  EXPECT_EQ(run_kernel(load(kThree), {}, {1, 2, 3}).output.at(0), 3u);
  EXPECT_THROW(run_kernel(load(""), {}, {1, 2, 3}), Fault);
}

/// Warp 0 loads 16 bytes, warp 1 stores their last word.
TEST(UsedBytes, OnlyTheseRace) {
  const auto found = [](const std::string& mask) {
    return findings_of(kernel_text(R"(
    .shared .align 16 .b32 words[4];
    mov.u32 %r10, words;
    setp.eq.u32 %p1, %r0, 0;
    setp.eq.u32 %p2, %r0, 32;
    @%p2 st.shared.u32 [%r10+12], %r0;
    @!%p1 bra end;
    )" + mask + R"(
    ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r10];
    end: ret;)"),
                       {{1, 1, 1}, {64, 1, 1}}, "races");
  };
  EXPECT_THAT(found(kThree), IsEmpty());
  EXPECT_THAT(found(kLast), ElementsAre(HasSubstr("race")));
  EXPECT_THAT(found(""), ElementsAre(HasSubstr("race")));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::used_bytes_test
