// What depends on the order of threads: recorded machine code against the marks in its source.
#include "metrics/order_dependence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/line_table.h"

namespace warpgauge::metrics {
namespace {

using Effect = OrderDependence::Effect;
using Source = OrderDependence::Source;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using Lines = std::set<int>;

std::vector<std::byte> recorded(const std::string& architecture) {
  std::ifstream in(WARPGAUGE_TEST_DATA "/sass/order." + architecture + ".cubin", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  EXPECT_FALSE(bytes.empty());
  std::vector<std::byte> image(bytes.size());
  std::memcpy(image.data(), bytes.data(), bytes.size());
  return image;
}

/// The marked lines of each kernel in order.cu.
std::map<std::string, Lines> marked() {
  std::ifstream in(WARPGAUGE_TEST_DATA "/sass/order.cu");
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

class OrderOf : public testing::TestWithParam<const char*> {
 protected:
  std::vector<OrderDependence> found(const char* kernel) const {
    return order_dependences(cubin_, kernel, &ptx_lines_);
  }
  /// Lines with accesses that depend on something.
  Lines lines(const std::string& kernel) const {
    Lines lines;
    for (const OrderDependence& one : order_dependences(cubin_, kernel, &ptx_lines_)) {
      const bool is_access = std::ranges::any_of(
          one.groups, [](auto group) { return group != "instructions" && group != "branches"; });
      if (is_access) lines.insert(sources_.find(kernel, one.pc).value().line);
    }
    return lines;
  }

  const std::vector<std::byte> image_ = recorded(GetParam());
  const Cubin cubin_{image_};
  const SourceLines sources_{cubin_};
  const PtxLines ptx_lines_{cubin_};
};

TEST_P(OrderOf, AccessesAreThoseThatTheSourceMarks) {
  const auto marks = marked();
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
  for (const OrderDependence& one : found("one_atomic_a_block")) {
    EXPECT_EQ(sources_.find("one_atomic_a_block", one.source_pc).value().line, 111);
  }
  EXPECT_LT(found("allocated").front().source_pc, found("allocated").front().pc);
}

TEST_P(OrderOf, ALoopThatRunsAgainCountsInAllItsMetrics) {
  const auto found = this->found("spin");
  for (const OrderDependence& one : found) EXPECT_EQ(one.effect, Effect::execution);
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
  EXPECT_THAT(order_dependences(cubin_, "spin_in_shared", nullptr), IsEmpty());
}

TEST_P(OrderOf, AnUnknownKernelHasNone) { EXPECT_THAT(found("nowhere"), IsEmpty()); }

TEST_P(OrderOf, AnUnknownArchitectureIsRefused) {
  std::vector<std::byte> image = image_;
  constexpr std::size_t kFlags = 48, kAbi = 8;  // of Elf64_Ehdr
  constexpr std::byte kNewAbi{8};
  image[kFlags + (image[kAbi] >= kNewAbi ? 1 : 0)] = std::byte{130};
  EXPECT_THROW(order_dependences(Cubin(image), "spin", nullptr), CubinError);
}

INSTANTIATE_TEST_SUITE_P(Recorded, OrderOf, testing::Values("sm_75", "sm_90", "sm_120"),
                         [](const auto& suite) { return std::string(suite.param); });

TEST(Order, AWaitForABarrierInMemoryIsASource) {
  const auto image = recorded("sm_90");
  const auto found = order_dependences(Cubin(image), "waits", nullptr);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().source, Source::barrier);
}

}  // namespace
}  // namespace warpgauge::metrics
