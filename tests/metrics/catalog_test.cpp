// The table of metrics: rules that every row keeps.
#include "metrics/facts/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "metrics/facts/counter_row.h"

namespace warpgauge::metrics::catalog_test {
namespace {

using ::testing::HasSubstr;

TEST(Catalog, NamesAreUniqueAndWellFormed) {
  std::set<std::string_view> ids;
  for (const Metric& row : catalog()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_EQ(row.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._"), row.id.npos)
        << row.id;
    EXPECT_FALSE(row.id.starts_with("sm_")) << "would read as an architecture in a budget";
  }
}

TEST(Catalog, EveryRowSaysWhatItCountsAndInWhichUnit) {
  for (const Metric& row : catalog()) {
    EXPECT_FALSE(row.unit.empty()) << row.id;
    EXPECT_TRUE(row.meaning.ends_with('.') || row.meaning.ends_with('?')) << row.id;
  }
}

TEST(Catalog, EveryRowSaysWhatIsGoodAndWhatCuresIt) {
  for (const Metric& row : catalog()) {
    EXPECT_TRUE(row.good.ends_with('.')) << row.id << ": what is good? '" << row.good << "'";
    EXPECT_TRUE(row.cure.ends_with('.')) << row.id << ": what cures it? '" << row.cure << "'";
    EXPECT_NE(row.good, row.meaning) << row.id;
    EXPECT_NE(row.good, row.cure) << row.id;
  }
}

TEST(Catalog, OnlyProfiledMetricsHaveCuptiNames) {
  for (const Metric& row : catalog()) {
    const bool profiled = row.source == Source::sass || row.source == Source::range;
    EXPECT_EQ(profiled, !row.cupti_names.empty()) << row.id;
  }
}

TEST(Catalog, HardwareCountersAndTimesAreNeverExact) {
  for (const Metric& row : catalog()) {
    const bool noisy = row.source == Source::range || row.source == Source::timer;
    EXPECT_FALSE(noisy && row.cls == Class::exact) << row.id;
    EXPECT_FALSE(!noisy && row.cls == Class::bounded) << row.id;
  }
}

TEST(Catalog, WhatIsGatedByDefaultIsExact) {
  for (const char* id : {"result.correct", "shared.bank_conflicts", "spill.store_bytes",
                         "spill.load_bytes", "local.sectors"}) {
    EXPECT_EQ(metric(id).cls, Class::exact) << id;
  }
}

TEST(Catalog, OnlyTheLimiterAndTheFailingTrialAreWords) {
  for (const Metric& row : catalog()) {
    EXPECT_EQ(is_word(row), row.id == "occupancy.limiter" || row.id == "result.fails_at") << row.id;
  }
}

TEST(FindMetric, FindsExactNamesOnly) {
  ASSERT_NE(find_metric("registers"), nullptr);
  EXPECT_EQ(find_metric("registers")->unit, "registers/thread");
  EXPECT_EQ(find_metric("Registers"), nullptr);
  EXPECT_EQ(find_metric(""), nullptr);
}

TEST(FindMetric, MakesTheRowOfACounterAndKeepsIt) {
  const Metric* row = find_metric("counter.sm__inst_executed.sum.per_second");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(find_metric("counter.sm__inst_executed.sum.per_second"), row);
  EXPECT_EQ(row->id, "counter.sm__inst_executed.sum.per_second");
  EXPECT_THAT(row->cupti_names, testing::ElementsAre("sm__inst_executed.sum.per_second"));
  EXPECT_EQ(row->unit, "counts/s");
  EXPECT_EQ(row->cls, Class::bounded);
  EXPECT_EQ(row->direction, Direction::none);
  EXPECT_TRUE(is_counter(*row));
  EXPECT_FALSE(is_counter(metric("dram.bytes")));
  EXPECT_EQ(metric("counter.FBSP.TriageCompute.dramc__cycles.max").unit, "counts");
  EXPECT_EQ(metric("counter.lts__average_t_sector_hit_rate.pct").unit, "per cent");
}

TEST(FindMetric, TakesNothingElseForACounter) {
  for (const std::string& id :
       {std::string("counter."), std::string("counter.sm__inst"), std::string("counter.sm.sum"),
        std::string("counter.sm__x.sum\n"), std::string("counter.<b>__x.sum"),
        std::string("sm__inst_executed.sum"), "counter.a__" + std::string(100000, 'b') + ".sum"}) {
    EXPECT_EQ(find_metric(id), nullptr) << id.substr(0, 40);
  }
}

TEST(MetricOf, NamesTheNearest) {
  try {
    metric("shared.bank_conflict");
    FAIL();
  } catch (const std::out_of_range& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'shared.bank_conflicts'?"));
  }
}

TEST(CuptiNames, AreDistinctAndOfTheSource) {
  const std::vector<std::string_view> names = cupti_names(Source::sass);
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  EXPECT_FALSE(names.empty());
  EXPECT_TRUE(std::ranges::all_of(
      names, [](std::string_view name) { return name.starts_with("smsp__sass_"); }));
  EXPECT_TRUE(cupti_names(Source::cubin).empty());
}

TEST(IsRunTime, SplitsTheTable) {
  EXPECT_FALSE(is_run_time(metric("registers")));
  EXPECT_FALSE(is_run_time(metric("occupancy.theoretical")));
  EXPECT_TRUE(is_run_time(metric("result.correct")));
  EXPECT_TRUE(is_run_time(metric("shared.wavefronts")));
  EXPECT_TRUE(is_run_time(metric("time.median_us")));
}

TEST(ToString, EveryNameIsItsOwn) {
  EXPECT_EQ(to_string(Direction::lower), "lower");
  EXPECT_EQ(to_string(Direction::higher), "higher");
  EXPECT_EQ(to_string(Direction::none), "-");
  EXPECT_EQ(to_string(Class::exact), "exact");
  EXPECT_EQ(to_string(Class::bounded), "bounded");
  EXPECT_EQ(to_string(Class::info), "info");
  std::set<std::string_view> sources;
  for (const Source source : {Source::run, Source::cubin, Source::occupancy, Source::sass,
                              Source::range, Source::timer, Source::emulator}) {
    EXPECT_TRUE(sources.insert(to_string(source)).second);
  }
  EXPECT_FALSE(sources.contains(""));
}

}  // namespace
}  // namespace warpgauge::metrics::catalog_test
