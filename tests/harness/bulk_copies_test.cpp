// Bulk copies that counts of global memory leave out, in every output.
#include "harness/outcome/bulk_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/outcome/finding_text.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/results_json.h"
#include "tests/harness/outcome_facts.h"

namespace warpgauge::outcome::bulk_copies_test {
namespace {

using metrics::Fact;
using metrics::Verdict;
using testing::HasSubstr;
using testing::Not;

Fact count(std::string metric, std::uint64_t leaves_out, std::string variant = "tma") {
  Fact value = on(fact(Verdict::unbudgeted, std::move(metric), std::move(variant)), "sm_90");
  value.value = 0.0;
  value.confidence = "exact";
  value.leaves_out = leaves_out;
  return value;
}

TEST(BulkCopies, AreNamedByEveryOutput) {
  const Outcome outcome = outcome_of(
      {count("global.load.sectors", 6), count("global.sectors_ideal", 8),
       count("global.sectors_ideal", 1, "tensor"), count("global.sectors_ideal", 0, "plain")});
  const std::string text =
      "Left out: global.* is the load and store unit's, without 8 bulk copies of "
      "transpose.tma.f32@64x64 on sm_90, and those of 1 more; bulk.* has them";
  EXPECT_THAT(terminal_text(outcome, false), HasSubstr("\n" + text + "\n"));
  EXPECT_THAT(markdown_text(outcome), HasSubstr("without 8 bulk copies of"));
  const auto json = results_json(outcome, true);
  EXPECT_EQ(json.at("bulk_copies").at("text"), text);
  EXPECT_EQ(json.at("bulk_copies").at("copies"), 8);
  EXPECT_EQ(json.at("bulk_copies").at("cases"), 2);
}

TEST(BulkCopies, StandBesideTheValue) {
  EXPECT_EQ(value_text(count("global.load.sectors", 8)), "0 sectors, leaves out 8 bulk copies");
  EXPECT_EQ(value_text(count("global.load.sectors", 1)), "0 sectors, leaves out 1 bulk copy");
  EXPECT_EQ(value_text(count("global.load.sectors", 0)), "0 sectors");
}

TEST(BulkCopies, AreNotMentionedWhereThereAreNone) {
  const Outcome outcome = outcome_of({count("global.sectors_ideal", 0)});
  EXPECT_FALSE(bulk_copies_of(outcome.values()));
  EXPECT_THAT(terminal_text(outcome, false), Not(HasSubstr("Left out")));
  EXPECT_FALSE(results_json(outcome, false).contains("bulk_copies"));
}

}  // namespace
}  // namespace warpgauge::outcome::bulk_copies_test
