// Facts of counted lines: which line is blamed, and how sure a value is.
#include "harness/measuring/exact_count_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "metrics/counting/line_counts.h"

namespace warpgauge::exact_count_facts_test {
namespace {

using metrics::Confidence;
using metrics::Fact;
using metrics::LineCounts;
using metrics::Scope;
using testing::ElementsAre;

LineCounts line(int number, std::uint64_t wavefronts, std::uint64_t local_sectors) {
  LineCounts counts{.kernel = "kernel", .file = "kernels/x/family.cu", .line = number};
  counts.counts.instructions = 10;
  counts.counts.shared_wavefronts = wavefronts;
  counts.counts.shared_wavefronts_ideal = wavefronts > 0 ? 1 : 0;
  counts.counts.local_sectors = local_sectors;
  return counts;
}

LineCounts unsure(LineCounts counts, const char* group, Confidence confidence, const char* why) {
  counts.trust[group] = {confidence, why};
  return counts;
}

std::vector<Fact> facts_of(const std::vector<LineCounts>& lines,
                           std::string_view source = "emulator") {
  return counted_facts(lines, {.id = {"x", "plain", "f32", "64"}}, source);
}

/// The fact of the whole case.
Fact whole(const std::vector<Fact>& facts, std::string_view metric) {
  for (const Fact& fact : facts) {
    if (fact.scope == Scope::whole_case && fact.metric == metric) return fact;
  }
  ADD_FAILURE() << "no fact of " << metric;
  return {};
}

std::vector<int> lines_with(const std::vector<Fact>& facts, std::string_view metric) {
  std::vector<int> numbers;
  for (const Fact& fact : facts) {
    if (fact.scope == Scope::line && fact.metric == metric) numbers.push_back(fact.line);
  }
  return numbers;
}

TEST(CountedFacts, HaveTheChainThatTheirLineWasInlinedThrough) {
  LineCounts inlined = line(7, 32, 0);
  inlined.inlined = {{"/usr/include/x.h", 1}, {inlined.file, 7}};
  const std::vector<Fact> facts = facts_of({line(8, 2, 0), inlined});
  EXPECT_EQ(whole(facts, "shared.bank_conflicts").inlined, inlined.inlined);
  EXPECT_THAT(whole(facts, "local.sectors").inlined, testing::IsEmpty()) << "of no line";
  for (const Fact& fact : facts) {
    if (fact.scope != Scope::line) continue;
    EXPECT_EQ(fact.inlined.empty(), fact.line == 8) << fact.metric;
  }
}

TEST(CountedFacts, AreExactAndOfTheirSourceUnlessALineSaysOtherwise) {
  for (const Fact& fact : facts_of({line(7, 32, 0), line(8, 1, 4)}, "cupti")) {
    EXPECT_EQ(fact.source, "cupti");
    EXPECT_EQ(fact.confidence, "exact") << fact.metric;
    EXPECT_EQ(fact.confidence_reason, "");
  }
}

TEST(CountedFacts, BlameTheLineThatHasMost) {
  const std::vector<Fact> facts = facts_of({line(7, 2, 8), line(8, 32, 0), line(9, 4, 4)});
  EXPECT_EQ(whole(facts, "shared.wavefronts").value, metrics::Value(38.0));
  EXPECT_EQ(whole(facts, "shared.wavefronts").line, 8);
  EXPECT_EQ(whole(facts, "local.sectors").line, 7);
  EXPECT_EQ(whole(facts, "shared.bank_ways").value, metrics::Value(32.0));
  EXPECT_THAT(lines_with(facts, "local.sectors"), ElementsAre(7, 9)) << "lines of 0 say nothing";
}

TEST(CountedFacts, HaveTheCureOfTheLineThatIsBlamed) {
  std::vector<LineCounts> lines = {line(7, 2, 8), line(8, 32, 0)};
  lines[0].cures = {{"shared.bank_conflicts", "of line 7"}};
  lines[1].cures = {{"shared.bank_conflicts", "of line 8"}, {"shared.wavefronts", "of line 8"}};
  const std::vector<Fact> facts = facts_of(lines);
  EXPECT_EQ(whole(facts, "shared.bank_conflicts").cure, "of line 8");
  EXPECT_EQ(whole(facts, "shared.wavefronts").cure, "of line 8");
  EXPECT_EQ(whole(facts, "local.sectors").cure, "");
  for (const Fact& fact : facts) {
    if (fact.scope != Scope::line || fact.metric != "shared.bank_conflicts") continue;
    EXPECT_EQ(fact.cure, "of line " + std::to_string(fact.line));
  }
}

TEST(CountedFacts, OneUnsureLineMakesItsGroupUnsure) {
  const std::vector<Fact> facts =
      facts_of({line(7, 32, 4), unsure(line(8, 1, 4), "shared", Confidence::estimate, "a loop")});
  for (const char* metric : {"shared.wavefronts", "shared.bank_conflicts", "shared.bank_ways"}) {
    EXPECT_EQ(whole(facts, metric).confidence, "estimate") << metric;
    EXPECT_EQ(whole(facts, metric).confidence_reason, "a loop") << metric;
  }
  EXPECT_EQ(whole(facts, "shared.wavefronts").line, 7) << "blame and doubt are not the same";
  EXPECT_EQ(whole(facts, "local.sectors").confidence, "exact");
  EXPECT_EQ(whole(facts, "global.load.sectors").confidence, "exact");
  for (const Fact& fact : facts) {
    if (fact.scope == Scope::whole_case) continue;
    const bool doubtful = fact.line == 8 && fact.metric.starts_with("shared.");
    EXPECT_EQ(fact.confidence, doubtful ? "estimate" : "exact") << fact.line << fact.metric;
    EXPECT_EQ(fact.confidence_reason, doubtful ? "a loop" : "");
  }
}

TEST(CountedFacts, NoLineIsSurerThanItsKernelAsAWhole) {
  LineCounts of_no_line = unsure(line(0, 0, 0), "instructions", Confidence::estimate, "a launch");
  of_no_line.file.clear();
  LineCounts of_another = line(7, 1, 0);
  of_another.kernel = "another";
  int doubtful = 0;
  for (const Fact& fact : facts_of({of_no_line, line(7, 1, 0), of_another})) {
    if (fact.scope == Scope::whole_case) continue;
    const bool is_unsure = fact.kernel == "kernel" && fact.metric == "instructions";
    EXPECT_EQ(fact.confidence, is_unsure ? "estimate" : "exact") << fact.kernel << fact.metric;
    EXPECT_EQ(fact.confidence_reason, is_unsure ? "a launch" : "");
    doubtful += is_unsure ? 1 : 0;
  }
  EXPECT_EQ(doubtful, 2);
}

TEST(CountedFacts, AZeroThatIsNotSureIsSaid) {
  const std::vector<Fact> facts = facts_of(
      {line(7, 1, 0), unsure(line(8, 1, 0), "local", Confidence::estimate, "saves registers")});
  EXPECT_EQ(whole(facts, "local.sectors").value, metrics::Value(0.0));
  EXPECT_EQ(whole(facts, "local.sectors").confidence, "estimate");
  EXPECT_EQ(whole(facts, "local.sectors").confidence_reason, "saves registers");
  EXPECT_THAT(lines_with(facts, "local.sectors"), ElementsAre(8));
}

TEST(CountedFacts, TheLeastSureLineSaysWhyAndOfSeveralTheLargest) {
  const auto why = [](std::vector<LineCounts> lines) {
    const Fact fact = whole(facts_of(lines), "local.sectors");
    return fact.confidence + ": " + fact.confidence_reason;
  };
  using enum Confidence;
  EXPECT_EQ(why({unsure(line(7, 0, 100), "local", predicted, "a"),
                 unsure(line(8, 0, 1), "local", estimate, "b"),
                 unsure(line(9, 0, 100), "local", predicted, "c")}),
            "estimate: b");
  EXPECT_EQ(why({unsure(line(7, 0, 1), "local", estimate, "a"),
                 unsure(line(8, 0, 9), "local", estimate, "b"),
                 unsure(line(9, 0, 5), "local", estimate, "c")}),
            "estimate: b");
}

LineCounts with_copies(int number) {
  LineCounts counts = line(number, 0, 0);
  counts.counts.bulk_load_instructions = 8;
  counts.counts.bulk_load_bytes = 32768;
  counts.counts.bulk_store_instructions = 3;
  counts.counts.global_load_requests = 2;
  return counts;
}

TEST(CountedFacts, OfGlobalMemorySayHowManyBulkCopiesTheyLeaveOut) {
  for (const char* const source : {"emulator", "cupti"}) {
    const std::vector<Fact> facts = facts_of({with_copies(7), line(8, 1, 0)}, source);
    EXPECT_EQ(whole(facts, "global.load.sectors").leaves_out, 8u) << source;
    EXPECT_EQ(whole(facts, "global.store.requests").leaves_out, 3u) << source;
    EXPECT_EQ(whole(facts, "global.excess_sectors").leaves_out, 11u) << source;
    EXPECT_EQ(whole(facts, "global.atomic.sectors").leaves_out, 0u) << source;
    EXPECT_EQ(whole(facts, "bulk.load.instructions").leaves_out, 0u) << source;
    for (const Fact& fact : facts) {
      if (fact.scope != Scope::line || fact.metric != "global.load.requests") continue;
      EXPECT_EQ(fact.leaves_out, 8u) << "of its line";
    }
  }
}

TEST(CountedFacts, OfBytesOfBulkCopiesAreTheEmulatorsAlone) {
  const std::vector<Fact> emulated = facts_of({with_copies(7)});
  EXPECT_EQ(whole(emulated, "bulk.load.bytes").value, metrics::Value(32768.0));
  EXPECT_EQ(whole(emulated, "bulk.load.bytes").confidence, "predicted");
  EXPECT_EQ(whole(emulated, "bulk.load.instructions").confidence, "exact");
  for (const Fact& fact : facts_of({with_copies(7)}, "cupti")) {
    EXPECT_NE(fact.metric, "bulk.load.bytes");
    EXPECT_NE(fact.metric, "bulk.sectors");
  }
}

TEST(CountedFacts, OfNoLinesAreExactZeros) {
  for (const Fact& fact : facts_of({})) {
    EXPECT_EQ(fact.value, metrics::Value(0.0)) << fact.metric;
    EXPECT_EQ(fact.confidence, "exact");
  }
}

}  // namespace
}  // namespace warpgauge::exact_count_facts_test
