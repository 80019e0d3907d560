// The order of a gate's facts, in whatever order its processes wrote them.
#include "harness/gate/fact_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warpgauge::fact_order_test {
namespace {

using metrics::Fact;

Case case_of(const std::string& variant) {
  Case test_case;
  test_case.id = {"family", variant, "f32", "1"};
  return test_case;
}

Fact fact(const Case& test_case, const std::string& arch, const std::string& metric) {
  Fact fact;
  fact.id = test_case.id;
  fact.arch = arch;
  fact.metric = metric;
  return fact;
}

std::vector<std::string> texts(const std::vector<Fact>& facts) {
  std::vector<std::string> texts;
  for (const Fact& fact : facts) {
    texts.push_back(fact.id.variant + " " + fact.arch + " " + fact.metric);
  }
  return texts;
}

TEST(FactOrder, IsOfArchitecturesThenCasesAndRunsComeLast) {
  // The order is not alphabetical.
  const Case first = case_of("b"), second = case_of("a");
  std::vector<Fact> facts = {
      fact(second, "sm_90", "registers"),     fact(second, "sm_90", "result.correct"),
      fact(first, "sm_90", "registers"),      fact(first, "sm_90", "barriers"),
      fact(first, "sm_90", "result.correct"), fact(second, "sm_100", "registers"),
      fact(second, "sm_75", "registers"),     fact(first, "sm_90", "spill.store_bytes")};
  gate::sort_by_case(facts, {&first, &second});
  const std::vector<std::string> wanted = {"a sm_75 registers",      "b sm_90 registers",
                                           "b sm_90 barriers",       "b sm_90 spill.store_bytes",
                                           "a sm_90 registers",      "a sm_100 registers",
                                           "b sm_90 result.correct", "a sm_90 result.correct"};
  EXPECT_EQ(texts(facts), wanted);
}

TEST(FactOrder, OfNothingIsNothing) {
  std::vector<Fact> facts;
  gate::sort_by_case(facts, {});
  EXPECT_TRUE(facts.empty());
}

}  // namespace
}  // namespace warpgauge::fact_order_test
