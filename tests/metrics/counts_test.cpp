// Counts: sums, the metrics that follow, and how the SASS metrics of an instruction become counts.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "metrics/counting/line_counts.h"
#include "metrics/cupti/counter_median.h"
#include "metrics/cupti/sass_metrics.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::metrics::counts_test {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

std::map<std::string_view, double> values_of(const Counts& counts) {
  const auto values = metric_values(counts);
  return {values.begin(), values.end()};
}

// Each member different, so that a sum that mixes two up shows.
Counts distinct() {
  Counts counts;
  counts.instructions = 1;
  counts.divergent_branches = 2;
  counts.shared_requests = 3;
  counts.shared_wavefronts = 100;
  counts.shared_wavefronts_ideal = 5;
  counts.global_load_requests = 6;
  counts.global_load_sectors = 24;
  counts.global_store_requests = 8;
  counts.global_store_sectors = 256;
  counts.global_atomic_requests = 10;
  counts.global_atomic_sectors = 11;
  counts.global_sectors_ideal = 67;
  counts.global_l1_tags = 12;
  counts.local_requests = 13;
  counts.local_sectors = 14;
  counts.bulk_load_instructions = 15;
  counts.bulk_load_bytes = 16;
  counts.bulk_store_instructions = 17;
  counts.bulk_store_bytes = 18;
  counts.bulk_sectors = 19;
  counts.wgmma_instructions = 20;
  counts.wgmma_wavefronts = 21;
  counts.cluster_requests = 22;
  return counts;
}

TEST(Counts, AddMemberByMember) {
  Counts sum = distinct();
  sum += distinct();
  const auto once = values_of(distinct());
  const auto twice = values_of(sum);
  for (const auto& [id, value] : once) {
    const double factor = id.ends_with("sectors_per_request") ? 1 : 2;
    EXPECT_EQ(twice.at(id), factor * value) << id;
  }
  EXPECT_EQ(sum.instructions, 2u);
  EXPECT_NE(sum, distinct());
}

TEST(Counts, AnswerTheirMetrics) {
  const auto values = values_of(distinct());
  EXPECT_EQ(values.at("shared.wavefronts"), 100);
  EXPECT_EQ(values.at("shared.wavefronts_ideal"), 5);
  EXPECT_EQ(values.at("shared.bank_conflicts"), 95);
  EXPECT_EQ(values.at("shared.requests"), 3);
  EXPECT_EQ(values.at("global.load.sectors_per_request"), 4);
  EXPECT_EQ(values.at("global.store.sectors_per_request"), 32);
  EXPECT_DOUBLE_EQ(values.at("global.atomic.sectors_per_request"), 1.1);
  EXPECT_EQ(values.at("global.excess_sectors"), 24 + 256 + 11 - 67);
  EXPECT_EQ(values.at("global.l1_tags"), 12);
  EXPECT_EQ(values.at("local.sectors"), 14);
  EXPECT_EQ(values.at("instructions"), 1);
  EXPECT_EQ(values.at("branches.divergent"), 2);
  EXPECT_EQ(values.at("bulk.load.instructions"), 15);
  EXPECT_EQ(values.at("bulk.load.bytes"), 16);
  EXPECT_EQ(values.at("bulk.store.instructions"), 17);
  EXPECT_EQ(values.at("bulk.store.bytes"), 18);
  EXPECT_EQ(values.at("bulk.sectors"), 19);
  EXPECT_EQ(values.at("wgmma.instructions"), 20);
  EXPECT_EQ(values.at("wgmma.wavefronts"), 21);
  EXPECT_EQ(values.at("cluster.requests"), 22);
}

TEST(Counts, OfGlobalMemoryLeaveOutBulkCopies) {
  EXPECT_EQ(copies_left_out(distinct(), "global.load.sectors"), 15u);
  EXPECT_EQ(copies_left_out(distinct(), "global.store.sectors_per_request"), 17u);
  EXPECT_EQ(copies_left_out(distinct(), "global.excess_sectors"), 15u + 17u);
  for (const char* const id : {"global.atomic.sectors", "bulk.sectors", "shared.requests"}) {
    EXPECT_EQ(copies_left_out(distinct(), id), 0u) << id;
  }
}

TEST(Counts, AnswerEveryCountOfTheCatalogExceptBankWays) {
  std::set<std::string_view> expected;
  for (const Metric& metric : catalog()) {
    const bool counted = metric.source == Source::sass || metric.source == Source::emulator;
    if (counted) expected.insert(metric.id);
  }
  expected.erase("shared.bank_ways");
  std::set<std::string_view> answered;
  for (const auto& [id, value] : metric_values(distinct())) answered.insert(id);
  EXPECT_EQ(answered, expected);
}

TEST(Counts, LeaveOutRatiosOfNothing) {
  const auto values = values_of(Counts{});
  EXPECT_THAT(values, Not(Contains(Key("global.load.sectors_per_request"))));
  EXPECT_THAT(values, Not(Contains(Key("global.store.sectors_per_request"))));
  EXPECT_THAT(values, Not(Contains(Key("global.atomic.sectors_per_request"))));
  EXPECT_EQ(values.at("global.load.sectors"), 0);
}

TEST(Counts, BroadcastsAreBelowIdealRatherThanHugelyAbove) {
  Counts counts;
  counts.global_load_requests = 1;
  counts.global_load_sectors = 1;
  counts.global_sectors_ideal = 4;
  EXPECT_EQ(values_of(counts).at("global.excess_sectors"), -3);
}

TEST(Counts, BankWays) {
  const auto bank_ways = [](const Counts& counts) {
    const auto values = line_metric_values(counts);
    return std::map(values.begin(), values.end()).at("shared.bank_ways");
  };
  Counts counts;
  EXPECT_EQ(bank_ways(counts), 0);
  counts.shared_wavefronts = 1'048'576;
  counts.shared_wavefronts_ideal = 32'768;
  EXPECT_EQ(bank_ways(counts), 32);
}

TEST(LineCounts, AreTrustedByGroupsOfMetrics) {
  LineCounts line;
  line.trust["shared"] = {Confidence::estimate, "a loop around atomics"};
  line.trust["instructions"] = {Confidence::predicted, "no machine code"};
  EXPECT_EQ(trust_in(line, "shared.bank_ways").confidence, Confidence::estimate);
  EXPECT_EQ(trust_in(line, "shared.wavefronts").reason, "a loop around atomics");
  EXPECT_EQ(trust_in(line, "instructions").confidence, Confidence::predicted);
  EXPECT_EQ(trust_in(line, "global.load.sectors"), Trust{});
  EXPECT_EQ(trust_in(line, "branches.divergent").confidence, Confidence::exact);
}

TEST(LineCounts, AreNeverSureOfBytesThatNoGpuCounts) {
  LineCounts line;
  EXPECT_EQ(trust_in(line, "bulk.load.bytes"), Trust{}) << "no copy has none";
  line.counts.bulk_load_instructions = 1;
  EXPECT_EQ(trust_in(line, "bulk.load.bytes").confidence, Confidence::predicted);
  EXPECT_EQ(trust_in(line, "bulk.sectors").confidence, Confidence::predicted);
  EXPECT_EQ(trust_in(line, "bulk.load.instructions"), Trust{});
  line.trust["bulk"] = {Confidence::estimate, "a loop"};
  EXPECT_EQ(trust_in(line, "bulk.load.bytes").reason, "a loop");
}

TEST(Confidence, NamesReadBack) {
  for (const Confidence confidence :
       {Confidence::exact, Confidence::predicted, Confidence::estimate}) {
    EXPECT_EQ(confidence_from(to_string(confidence)), confidence);
  }
  EXPECT_LT(Confidence::exact, Confidence::predicted);
  EXPECT_LT(Confidence::predicted, Confidence::estimate);
  EXPECT_FALSE(confidence_from("Exact"));
  EXPECT_FALSE(confidence_from(""));
}

TEST(SassMetrics, AreThoseOfTheCatalog) {
  const auto names = cupti_names(Source::sass);
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()),
            std::set<std::string_view>(kSassMetrics.begin(), kSassMetrics.end()));
}

TEST(SassMetrics, OpCountDecidesWhereSectorsBelong) {
  const auto sectors_of = [](SassMetric op) {
    SassValues values;
    values[op] = 2;
    values[SassMetric::global_sectors] = 8;
    return counts_of(values).value();
  };
  EXPECT_EQ(sectors_of(SassMetric::global_loads).global_load_sectors, 8u);
  EXPECT_EQ(sectors_of(SassMetric::global_stores).global_store_sectors, 8u);
  EXPECT_EQ(sectors_of(SassMetric::global_atomics).global_atomic_sectors, 8u);
  EXPECT_EQ(sectors_of(SassMetric::global_reductions).global_atomic_sectors, 8u);
  EXPECT_EQ(sectors_of(SassMetric::global_reductions).global_atomic_requests, 2u);
}

TEST(SassMetrics, AsyncCopyIsALoadAndASharedRequest) {
  SassValues values;
  values[SassMetric::async_copies] = 5;
  values[SassMetric::global_sectors] = 20;
  values[SassMetric::shared_wavefronts] = 6;
  const Counts counts = counts_of(values).value();
  EXPECT_EQ(counts.global_load_requests, 5u);
  EXPECT_EQ(counts.global_load_sectors, 20u);
  EXPECT_EQ(counts.shared_requests, 5u);
  EXPECT_EQ(counts.shared_wavefronts, 6u);
}

TEST(SassMetrics, BulkCopiesAreNoLoadsAndStores) {
  SassValues values;
  values[SassMetric::bulk_loads] = 8;
  values[SassMetric::bulk_stores] = 3;
  values[SassMetric::bulk_reductions] = 2;
  values[SassMetric::cluster_accesses] = 6;
  Counts expected;
  expected.bulk_load_instructions = 8;
  expected.bulk_store_instructions = 5;
  expected.cluster_requests = 6;
  EXPECT_EQ(counts_of(values), expected);
}

TEST(SassMetrics, WavefrontsOfWgmmaAreThoseOfItsInstructions) {
  SassValues values;
  values[SassMetric::shared_wavefronts] = values[SassMetric::shared_wavefronts_ideal] = 64;
  values[SassMetric::shared_requests] = 8;
  EXPECT_EQ(counts_of(values)->wgmma_wavefronts, 0u);
  values[SassMetric::wgmmas] = 8;
  EXPECT_EQ(counts_of(values)->wgmma_instructions, 8u);
  EXPECT_EQ(counts_of(values)->wgmma_wavefronts, 64u);
  EXPECT_EQ(counts_of(values)->shared_wavefronts, 64u);
  EXPECT_EQ(counts_of(values)->shared_requests, 8u);
}

TEST(SassMetrics, OnlyInstructionsThatSomeChipsLackMayBeMissing) {
  for (const SassMetric metric : {SassMetric::async_copies, SassMetric::bulk_loads,
                                  SassMetric::cluster_accesses, SassMetric::wgmmas}) {
    EXPECT_TRUE(is_optional(name(metric))) << name(metric);
  }
  for (const SassMetric metric : {SassMetric::global_sectors, SassMetric::instructions}) {
    EXPECT_FALSE(is_optional(name(metric))) << name(metric);
  }
}

TEST(SassMetrics, SectorsOfNoKnownAccessAreRefused) {
  SassValues values;
  values[SassMetric::global_sectors] = 1;
  EXPECT_FALSE(counts_of(values).has_value());
}

TEST(RangeValues, AreInTheUnitOfTheCatalog) {
  const auto value = [](std::string_view id, std::vector<double> counters) {
    return metric(id).formula(counters);
  };
  EXPECT_EQ(value("time.profiled_us", {2500}), 2.5);
  EXPECT_EQ(value("occupancy.achieved", {75}), 0.75);
  EXPECT_EQ(value("l2.hit_percent", {300, 100}), 75);
  EXPECT_TRUE(std::isnan(value("l2.hit_percent", {0, 0})));
  EXPECT_EQ(value("dram.bytes", {4096}), 4096);
}

TEST(RangeValues, Median) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({}), std::nullopt);
  EXPECT_EQ(median({1, std::numeric_limits<double>::quiet_NaN(), 2}), std::nullopt);
}

}  // namespace
}  // namespace warpgauge::metrics::counts_test
