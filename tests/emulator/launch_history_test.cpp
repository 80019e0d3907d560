// The order of blocks by fences, which the checks of a launch share.
#include "harness/emulator/machine/checks/launch_history.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

namespace warpgauge::emulator::machine::checks::launch_history_test {
namespace {

class NoMemory final : public WatchedMemory {
 public:
  Range written_range(std::uint64_t, std::uint64_t) const override { return {}; }
  std::string describe(const void*, std::uint64_t) const override { return ""; }
  GlobalTraces& traces() override { return traces_; }
  void forget_traces() override { traces_.forget_all(); }

 private:
  GlobalTraces traces_;
};

class BlocksWithFences : public testing::Test {
 protected:
  NoMemory memory_;
  KernelCode kernel_;
  Launch launch_;
  Findings findings_{kernel_, launch_, memory_};
  LaunchHistory history_{checks_called("races"), memory_, findings_, 2};
};

TEST_F(BlocksWithFences, AreOrderedForThoseThatLearnLater) {
  const std::uint64_t before = history_.fenced();
  history_.fence(0, std::array{std::uint64_t{10}}, Scope::grid);
  const std::uint64_t behind = history_.fenced();
  EXPECT_TRUE(history_.orders(0, 0, 9, Scope::grid, behind));
  EXPECT_FALSE(history_.orders(0, 0, 10, Scope::grid, behind)) << "what comes behind the fence";
  EXPECT_FALSE(history_.orders(0, 0, 9, Scope::grid, before));
  EXPECT_FALSE(history_.orders(1, 0, 9, Scope::grid, behind)) << "a block without a fence";
}

TEST_F(BlocksWithFences, AreNotOrderedForThoseThatHaveLearntOfNone) {
  const std::uint64_t before = history_.fenced();
  for (const std::uint64_t time : {10, 20, 30})
    history_.fence(0, std::array{std::uint64_t{time}}, Scope::grid);
  EXPECT_FALSE(history_.orders(0, 0, 5, Scope::grid, before));
  EXPECT_TRUE(history_.orders(0, 0, 5, Scope::grid, before + 1)) << "of old fences any one will do";
  EXPECT_FALSE(history_.orders(0, 0, 25, Scope::grid, before + 1))
      << "of the last one its number counts";
}

TEST_F(BlocksWithFences, TellOfWhatTheirMakersKnow) {
  history_.fence(0, std::array<std::uint64_t, 3>{20, 5, 10}, Scope::grid);
  const std::uint64_t behind = history_.fenced();
  EXPECT_TRUE(history_.orders(0, 0, 19, Scope::grid, behind));
  EXPECT_TRUE(history_.orders(0, 1, 4, Scope::grid, behind));
  EXPECT_FALSE(history_.orders(0, 1, 5, Scope::grid, behind)) << "it has not met warp 1 since";
  EXPECT_TRUE(history_.orders(0, 2, 9, Scope::grid, behind));
  EXPECT_FALSE(history_.orders(0, 2, 10, Scope::grid, behind));
}

TEST_F(BlocksWithFences, HaveNarrowScopesIfTheKernelHas) {
  EXPECT_FALSE(history_.has_narrow_scope());
  kernel_.has_narrow_scope = true;
  EXPECT_TRUE(LaunchHistory(checks_called("races"), memory_, findings_, 2).has_narrow_scope());
}

TEST(BlocksOfClusters, LearnOfFencesOfBothScopes) {
  NoMemory memory;
  const KernelCode kernel;
  Launch launch;
  launch.cluster = {2, 1, 1};
  Findings findings(kernel, launch, memory);
  LaunchHistory history(checks_called("races"), memory, findings, 2);
  history.fence(0, std::array{std::uint64_t{10}}, Scope::cluster);
  const std::uint64_t behind = history.fenced();
  EXPECT_TRUE(history.orders(0, 0, 9, Scope::cluster, behind));
  EXPECT_FALSE(history.orders(0, 0, 9, Scope::grid, behind));
  history.fence(0, std::array{std::uint64_t{20}}, Scope::grid);
  EXPECT_TRUE(history.orders(0, 0, 15, Scope::cluster, history.fenced()));
  EXPECT_TRUE(history.orders(0, 0, 15, Scope::grid, history.fenced()));
  EXPECT_FALSE(history.orders(0, 0, 15, Scope::cluster, behind));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::checks::launch_history_test
