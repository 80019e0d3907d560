// Who calls what: of a recorded cubin that the device linker has made, and of one of ptxas alone.
#include "metrics/machine_code/call_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::call_graph_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CallGraph, FollowsCallsAndPointers) {
  const std::string image = recorded_text("cubin/linked.sm_90.cubin");
  const CallGraph graph(Cubin(std::as_bytes(std::span(image))));
  constexpr const char *kInner = "_ZN6sample5innerEi", *kOuter = "_ZN6sample5outerEi";
  EXPECT_THAT(graph.called_by("_ZN6sample5chainEPi"), ElementsAre(kInner, kOuter));
  EXPECT_THAT(graph.called_by("_ZN6sample10by_pointerEPiPFiiE"), ElementsAre(kInner, kOuter));
  EXPECT_THAT(graph.called_by("_ZN6sample9recursionEPi"),
              ElementsAre("_ZN6sample14factorial_likeEi"));
  EXPECT_THAT(graph.called_by(kInner), IsEmpty());
  EXPECT_THAT(graph.called_by("no such function"), IsEmpty());
  EXPECT_TRUE(graph.find("_ZN6sample5chainEPi")->is_entry);
  EXPECT_FALSE(graph.find(kInner)->is_entry);
  EXPECT_EQ(graph.find("no such function"), nullptr);
}

TEST(CallGraph, FunctionsWithCodeOfTheirOwnCanBeShared) {
  const std::string linked = recorded_text("cubin/linked.sm_90.cubin");
  const auto shared = CallGraph(Cubin(std::as_bytes(std::span(linked)))).shared_functions();
  constexpr const char *kInner = "_ZN6sample5innerEi", *kOuter = "_ZN6sample5outerEi";
  EXPECT_THAT(shared.at("_ZN6sample5chainEPi"), ElementsAre(kInner, kOuter));
  EXPECT_THAT(shared.at("_ZN6sample10by_pointerEPiPFiiE"), ElementsAre(kInner, kOuter));
  const std::string copied = recorded_text("sass/order.sm_90.cubin");
  EXPECT_THAT(CallGraph(Cubin(std::as_bytes(std::span(copied)))).shared_functions(), IsEmpty());
}

TEST(CallGraph, KnowsTheKernelThatAFunctionWasCopiedInto) {
  const std::string image = recorded_text("sass/order.sm_90.cubin");
  const CallGraph graph(Cubin(std::as_bytes(std::span(image))));
  const Cubin::Function* function = graph.find("$called$taken");
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->kernel, "called");
  EXPECT_EQ(function->offset, 0x90u);
}

}  // namespace
}  // namespace warpgauge::metrics::call_graph_test
