// Dependences on the order of threads: recorded machine code against the marks in its source.
#include "metrics/machine_code/order_dependence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "metrics/machine_code/line_table.h"
#include "metrics/machine_code/sass_code.h"
#include "tests/metrics/recorded_file.h"
#include "tests/metrics/written_code.h"

namespace warpgauge::metrics::order_dependence_test {
namespace {

using Effect = OrderDependence::Effect;
using Source = OrderDependence::Source;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Lines = std::set<int>;

/// The marked lines of each kernel of a source.
std::map<std::string, Lines> marked(const std::string& source) {
  std::istringstream in(recorded_text("sass/" + source));
  std::map<std::string, Lines> marks;
  std::string line, kernel;
  for (int number = 1; std::getline(in, line); ++number) {
    if (const auto at = line.find("__global__ void "); at != line.npos) {
      std::istringstream words(line.substr(at + 16));
      std::getline(words, kernel, '(');
      marks[kernel];
    }
    if (line.ends_with("// depends")) marks[kernel].insert(number);
  }
  return marks;
}

std::vector<OrderDependence> dependences_of(const Cubin& cubin, std::string_view kernel,
                                            const PtxLines* ptx_lines,
                                            Circumstances circumstances = {}) {
  return OrderOfThreads(cubin, kernel, ptx_lines).influence(circumstances).dependences;
}

class OrderOf : public testing::TestWithParam<const char*> {
 protected:
  std::vector<OrderDependence> found(const char* kernel) const {
    return dependences_of(cubin_, kernel, &ptx_lines_);
  }
  /// Lines with accesses that depend on something.
  Lines lines(const std::string& kernel, Circumstances circumstances = {}) const {
    Lines lines;
    for (const OrderDependence& dependence :
         dependences_of(cubin_, kernel, &ptx_lines_, circumstances)) {
      const bool is_access = std::ranges::any_of(dependence.groups, [](auto group) {
        return group != "instructions" && group != "branches";
      });
      if (is_access) lines.insert(sources_.find(kernel, dependence.pc).value().line);
    }
    return lines;
  }

  const std::vector<std::byte> image_ = recorded(GetParam());
  const Cubin cubin_{image_};
  const SourceLines sources_{cubin_};
  const PtxLines ptx_lines_{cubin_};
};

TEST_P(OrderOf, AccessesAreThoseThatTheSourceMarks) {
  const auto marks = marked("order.cu");
  EXPECT_GT(marks.size(), 15u);
  for (const auto& [kernel, expected] : marks) {
    if (cubin_.code(kernel).empty()) {
      EXPECT_EQ(kernel, "waits") << "is missing";  // sm_75 has no such barriers
    } else {
      EXPECT_EQ(lines(kernel), expected) << kernel;
    }
  }
}

TEST_P(OrderOf, TheSourceIsNamed) {
  EXPECT_EQ(found("swap_in_global").front().source, Source::atomic);
  EXPECT_EQ(found("spin").front().source, Source::load);
  EXPECT_EQ(found("allocated").front().source, Source::allocation);
  for (const OrderDependence& dependence : found("one_atomic_a_block")) {
    EXPECT_EQ(sources_.find("one_atomic_a_block", dependence.source_pc).value().line, 111);
  }
  const OrderDependence allocated = found("allocated").front();
  EXPECT_LT(allocated.source_pc, allocated.pc);
  EXPECT_THAT(allocated.trust(sources_.find("allocated", allocated.source_pc).value()).reason,
              StartsWith("where malloc finds memory at order.cu:161 decides what this accesses, "));
}

TEST_P(OrderOf, WhatIsLoadedFromUnsettledMemoryIsASource) {
  const Circumstances unsettled{.memory = Memory::unsettled};
  EXPECT_THAT(lines("histogram"), IsEmpty());
  EXPECT_EQ(lines("histogram", unsettled), Lines{32}) << "the bin";
  EXPECT_EQ(lines("compaction", unsettled), (Lines{103, 104})) << "what a lane finds decides it";
  EXPECT_THAT(lines("result_stored", unsettled), IsEmpty());
  for (const auto& dependence : dependences_of(cubin_, "histogram", &ptx_lines_, unsettled)) {
    EXPECT_EQ(dependence.source, Source::memory);
    EXPECT_THAT(dependence.trust(sources_.find("histogram", dependence.source_pc).value()).reason,
                StartsWith("what memory holds at order.cu:32 decides what this accesses, "));
  }
}

TEST_P(OrderOf, ResultsOfAtomicsThatAreStoredReachGlobalMemory) {
  const auto reaches = [&](const char* kernel) {
    return OrderOfThreads(cubin_, kernel, &ptx_lines_).influence().reaches_global_memory;
  };
  EXPECT_TRUE(reaches("result_stored"));
  EXPECT_TRUE(reaches("compaction")) << "at an address";
  EXPECT_FALSE(reaches("histogram")) << "sums are the same";
  EXPECT_FALSE(reaches("no_such_kernel"));
}

TEST_P(OrderOf, OneReadingAnswersForAllCircumstances) {
  const OrderOfThreads order(cubin_, "histogram", &ptx_lines_);
  const Circumstances unsettled{.memory = Memory::unsettled};
  const auto of_memory = order.influence(unsettled).dependences;
  EXPECT_FALSE(of_memory.empty());
  EXPECT_THAT(order.influence().dependences, IsEmpty()) << "after the other";
  EXPECT_EQ(order.influence(unsettled).dependences, of_memory);
}

TEST_P(OrderOf, ALoopThatRunsAgainCountsInAllItsMetrics) {
  const auto found = this->found("spin");
  for (const OrderDependence& dependence : found) EXPECT_EQ(dependence.effect, Effect::execution);
  const auto counts_for = [](auto... groups) {
    return Field(&OrderDependence::groups, ElementsAre(groups...));
  };
  EXPECT_THAT(found, Contains(counts_for("instructions", "global"))) << "the load";
  EXPECT_THAT(found, Contains(counts_for("instructions"))) << "the comparison";
  EXPECT_THAT(found, Contains(counts_for("instructions", "branches")));
}

TEST_P(OrderOf, AnAddressSaysNothingOfHowOftenItIsUsed) {
  const auto found = this->found("compaction");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().effect, Effect::access);
  EXPECT_THAT(found.front().groups, ElementsAre("global"));
}

TEST_P(OrderOf, ABranchThatAlwaysExecutesOnlyDiverges) {
  const auto found = this->found("votes");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().effect, Effect::divergence);
  EXPECT_THAT(found.front().groups, ElementsAre("branches"));
}

TEST_P(OrderOf, OnlyPtxTellsAVolatileLoadOfSharedMemory) {
  EXPECT_THAT(dependences_of(cubin_, "spin_in_shared", nullptr), IsEmpty());
}

TEST_P(OrderOf, AnUnknownKernelHasNone) { EXPECT_THAT(found("nowhere"), IsEmpty()); }

TEST_P(OrderOf, AnUnknownArchitectureIsRefused) {
  std::vector<std::byte> image = image_;
  constexpr std::size_t kFlags = 48, kAbi = 8;  // of Elf64_Ehdr
  constexpr std::byte kNewAbi{8};
  image[kFlags + (image[kAbi] >= kNewAbi ? 1 : 0)] = std::byte{130};
  EXPECT_THROW(dependences_of(Cubin(image), "spin", nullptr), CubinError);
}

INSTANTIATE_TEST_SUITE_P(Recorded, OrderOf, testing::Values("sm_75", "sm_90", "sm_120"),
                         [](const auto& suite) { return std::string(suite.param); });

class ApproximationOf : public testing::TestWithParam<const char*> {
 protected:
  std::vector<OrderDependence> found(const std::string& kernel,
                                     Approximations approximations) const {
    return dependences_of(cubin_, kernel, &ptx_lines_, {approximations});
  }
  Lines lines(const std::string& kernel) const {
    Lines lines;
    for (const auto& dependence : found(kernel, Approximations::of_another_architecture)) {
      EXPECT_EQ(dependence.source, Source::approximation);
      if (std::ranges::find(dependence.groups, "global") != dependence.groups.end()) {
        lines.insert(sources_.find(kernel, dependence.pc).value().line);
      }
    }
    return lines;
  }

  const std::vector<std::byte> image_ = recorded(GetParam(), "approximation");
  const Cubin cubin_{image_};
  const SourceLines sources_{cubin_};
  const PtxLines ptx_lines_{cubin_};
};

TEST_P(ApproximationOf, AccessesAreThoseThatTheSourceMarks) {
  const auto marks = marked("approximation.cu");
  EXPECT_EQ(marks.size(), 4u);
  for (const auto& [kernel, expected] : marks) EXPECT_EQ(lines(kernel), expected) << kernel;
}

TEST_P(ApproximationOf, TheDevicesOwnValuesAreNoSource) {
  EXPECT_THAT(found("looked_up", Approximations::own), IsEmpty());
  EXPECT_THAT(found("until_close", Approximations::own), IsEmpty());
}

TEST_P(ApproximationOf, TheReasonNamesTheFunctionAndWhereItsValuesWereSeen) {
  const auto found = this->found("looked_up", Approximations::of_another_architecture);
  ASSERT_FALSE(found.empty());
  const Trust trust =
      found.front().trust(sources_.find("looked_up", found.front().source_pc).value());
  EXPECT_EQ(trust.confidence, Confidence::estimate);
  EXPECT_EQ(trust.reason,
            "what an approximate function gives at approximation.cu:7 decides what this accesses, "
            "but its values are known for sm_90 only");
}

INSTANTIATE_TEST_SUITE_P(Recorded, ApproximationOf, testing::Values("sm_80", "sm_90"),
                         [](const auto& suite) { return std::string(suite.param); });

TEST(Order, AWaitForABarrierInMemoryIsASource) {
  const auto image = recorded("sm_90");
  const auto found = dependences_of(Cubin(image), "waits", nullptr);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().source, Source::barrier);
}

/// Behind a wait for a barrier, or for registers, all goes on as it would have without.
TEST(Order, AWaitDecidesNothingButHowOftenItLooks) {
  const auto image = recorded("sm_90a", "../oracle/product");
  const auto found = dependences_of(Cubin(image), "product", nullptr);
  std::set<Source> sources;
  for (const OrderDependence& dependence : found) {
    sources.insert(dependence.source);
    for (const std::string_view group : dependence.groups) {
      EXPECT_THAT(group, testing::AnyOf("instructions", "branches")) << std::hex << dependence.pc;
    }
  }
  EXPECT_THAT(sources, ElementsAre(Source::barrier, Source::registers));
}

/// The last bits of a sum are a GPU's own.
TEST(Order, SumsThatAreNotAGpusUnsettleMemory) {
  const auto unsettles = [](const std::vector<std::byte>& image, std::string_view kernel) {
    const OrderOfThreads order(Cubin(image), kernel, nullptr);
    EXPECT_FALSE(order.influence().reaches_global_memory);
    return order.influence({.products = Products::of_the_emulator}).reaches_global_memory;
  };
  EXPECT_TRUE(unsettles(recorded("sm_90a", "../oracle/product"), "product"));
  EXPECT_TRUE(unsettles(recorded("sm_90", "../oracle/wmma"), "tile"));
  EXPECT_FALSE(unsettles(recorded("sm_90", "../oracle/wmma"), "tile_or_ones")) << "integers";
}

using Pair = std::pair<std::uint64_t, std::uint64_t>;

TEST(Order, ABarrierOfTheWarpShowsWhatOtherThreadsStoredBeforeTheirs) {
  const auto code = [](unsigned barrier) {
    Written code;
    code.go_if(0, 5);
    code(barrier)(Written::kLoadShared, 8, 6)(Written::kStore, 0, 8, 10)(Written::kExit);
    code(Written::kAtomicShared, 4, 2, 3)(Written::kStoreShared, 0, 6, 4)(barrier);
    return code(Written::kExit).dependences();
  };
  constexpr unsigned kNop = 0x918;
  EXPECT_THAT(code(Written::kBarrierOfWarp), ElementsAre(Pair(3, 5)));
  EXPECT_THAT(code(kNop), IsEmpty());
}

TEST(Order, AnAtomicWithAResultShowsWhatOtherThreadsStored) {
  Written code;
  code.go_if(0, 5);
  code(Written::kAtomic, 12, 2, 3)(Written::kLoad, 8, 6)(Written::kStore, 0, 8, 10)(Written::kExit);
  code(Written::kAtomic, 4, 2, 3)(Written::kStore, 0, 6, 4)(Written::kExit);
  EXPECT_THAT(code.dependences(), ElementsAre(Pair(3, 5)));
}

/// Values go from the last part's threads to the second's, and from these to the first's.
TEST(Order, ValuesAreFollowedFromThreadToThread) {
  Written code;
  code.go_if(0, 6).go_if(1, 10);
  code(Written::kFence)(Written::kLoad, 8, 6)(Written::kStore, 0, 8, 10)(Written::kExit);
  code(Written::kBarrierOfWarp)(Written::kLoadShared, 4, 6);
  code(Written::kStore, 0, 6, 4)(Written::kExit);
  code(Written::kAtomicShared, 4, 2, 3)(Written::kStoreShared, 0, 6, 4);
  code(Written::kBarrierOfWarp)(Written::kExit);
  EXPECT_THAT(code.dependences(), ElementsAre(Pair(4, 10)));
}

constexpr SassWord kR4IsNot0{.low = 0xff0400720c, .high = 0x3f25270},  // P1 is whether it is
    kR10IsNot0{.low = 0xff0a00720c, .high = 0x3f05270},                // P0 is whether it is
    kSet{.low = 0x781c, .high = 0x3f0f070},    // PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0
    kClear{.low = 0x781c, .high = 0x3f0e170},  // PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0
    kSetUniform{.low = 0x789c, .high = 0x3f0f070}, kClearP1{.low = 0x781c, .high = 0x3f2e170};

/// A bulk copy as ptxas compiles it: each lane for which P0 holds has its turn, marked by P1.
/// Before that P1 has the result of an atomic.
bool turns_depend(const std::vector<SassWord>& before, const SassWord& after_each = kClearP1) {
  Written code;
  code(Written::kAtomicShared, 4, 2, 3)(kR4IsNot0);
  for (const SassWord& word : before) code(word);
  code({.low = 0x3f082f, .high = 0x3820000});     // @P0 ELECT P1, URZ, PT
  code({.low = 0xc060073ba, .high = 0x8000205});  // UBLKCP.S.G [UR12], [UR6], UR5
  code({.low = 0x181c, .high = 0xf0e170});        // @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0
  code(after_each);
  code({.low = 0xfffffffd00ec0947, .high = 0x393ffff});  // @P0 BRA.U.ANY
  return !code(Written::kExit).found().empty();
}

TEST(Order, LanesThatTakeTurnsKeepNothingOfWhatWasBefore) {
  EXPECT_FALSE(turns_depend({kSet}));
  EXPECT_FALSE(turns_depend({kSet, kSetUniform})) << "another predicate";
}

TEST(Order, WhereTheGuardMayNotHoldTheOldValueIsLeft) {
  EXPECT_TRUE(turns_depend({})) << "P0 is not known";
  EXPECT_TRUE(turns_depend({kR10IsNot0}));
  EXPECT_TRUE(turns_depend({kClear}));
  EXPECT_TRUE(turns_depend({kSetUniform})) << "another predicate";
  EXPECT_TRUE(turns_depend({kSet, kR10IsNot0})) << "it was set before";
}

TEST(Order, WhatATurnLeavesIsThereInTheNext) {
  EXPECT_TRUE(turns_depend({kSet}, kR4IsNot0));
  EXPECT_FALSE(turns_depend({kSet}, kSetUniform)) << "P1 is who was elected";
}

/// R8 is what an atomic returned, until it is written where P0 holds and where it does not.
TEST(Order, WritesUnderAGuardAndItsOppositeLeaveNothing) {
  const auto move = [](std::uint64_t guard) {  // MOV R8, 0x400
    return SassWord{.low = 0x40000080802 | guard << 12, .high = 0xf00};
  };
  const auto depends = [](const std::vector<SassWord>& writes) {
    Written code;
    code(Written::kAtomicShared, 8, 2, 3);
    for (const SassWord& word : writes) code(word);
    return !code(Written::kStore, 0, 8, 10)(Written::kExit).dependences().empty();
  };
  const SassWord where_p0 = move(0), where_not_p0 = move(8);
  EXPECT_FALSE(depends({where_p0, where_not_p0}));
  EXPECT_TRUE(depends({where_p0, where_p0}));
  EXPECT_TRUE(depends({where_p0, kR10IsNot0, where_not_p0})) << "P0 has changed";
  EXPECT_FALSE(depends({kSet, where_p0}));
  EXPECT_TRUE(depends({kSet, where_not_p0}));
  EXPECT_FALSE(depends({kClear, where_not_p0}));
}

TEST(Order, WhatIsWrittenUnderAnotherGuardMayBeReadToo) {
  constexpr SassWord kIfP0{.low = 0x40000080802, .high = 0xf00},  // @P0 MOV R8, 0x400
      kIfP1{.low = 0x900081202, .high = 0xf00},                   // @P1 MOV R8, R9
      kStoreIfP0{.low = 0xa08000386, .high = 0x38e0800};          // @P0 STG [R8], R10
  const auto start = [] {
    return Written()(Written::kAtomicShared, 8, 2, 3)(Written::kAtomicShared, 9, 2, 3);
  };
  EXPECT_THAT(start()(kIfP0)(kStoreIfP0)(Written::kExit).dependences(), IsEmpty());
  EXPECT_THAT(start()(kIfP0)(kIfP1)(kStoreIfP0)(Written::kExit).dependences(),
              ElementsAre(Pair(4, 1)));
}

}  // namespace
}  // namespace warpgauge::metrics::order_dependence_test
