// The agreement of counts of two sources: which differences matter, and what is not compared.
#include "harness/diff/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/diff/agreement_text.h"
#include "harness/diff/compared_facts.h"
#include "harness/diff/diff.h"
#include "harness/measuring/exact_count_facts.h"
#include "harness/outcome/exit_code.h"
#include "metrics/counting/line_counts.h"

namespace warpgauge::diff::agreement_test {
namespace {

namespace fs = std::filesystem;
using metrics::Confidence;
using metrics::Fact;
using metrics::LineCounts;
using metrics::StoredRun;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kExact = static_cast<std::size_t>(Confidence::exact);
constexpr auto kPredicted = static_cast<std::size_t>(Confidence::predicted);
constexpr auto kEstimate = static_cast<std::size_t>(Confidence::estimate);

/// A line that makes shared and global accesses.
LineCounts line(int number, std::uint64_t wavefronts, std::uint64_t sectors) {
  LineCounts line{.kernel = "kernel", .file = "kernels/x/family.cu", .line = number};
  line.counts.instructions = 100;
  line.counts.shared_requests = wavefronts > 0 ? 1 : 0;
  line.counts.shared_wavefronts = wavefronts;
  line.counts.shared_wavefronts_ideal = wavefronts > 0 ? 1 : 0;
  line.counts.global_load_requests = sectors > 0 ? 1 : 0;
  line.counts.global_load_sectors = sectors;
  return line;
}

LineCounts unsure(LineCounts line, const char* group, Confidence confidence, const char* why) {
  line.trust[group] = {confidence, why};
  return line;
}

/// The facts of a run, as they are written to a file and read back.
class FactsOfARun {
 public:
  explicit FactsOfARun(std::string source, std::string run = "r1")
      : source_(std::move(source)),
        run_({.id = std::move(run), .time = "2026-05-01T23:00:00Z"}),
        path_(fs::path(testing::TempDir()) /
              ("warpgauge_diff_" + std::to_string(getpid()) + source_ + ".jsonl")) {
    fs::remove(path_);
  }
  ~FactsOfARun() { fs::remove(path_); }

  FactsOfARun& add(const std::string& family, const std::string& size,
                   const std::vector<LineCounts>& lines, const std::string& arch = "sm_90") {
    const Fact blank{.id = {family, "plain", "f32", size}, .arch = arch};
    for (Fact& fact : counted_facts(lines, blank, source_)) write(std::move(fact));
    return *this;
  }

  void write(Fact fact) {
    metrics::CaseContext context;
    context.kernels = {{.name = kernel, .sass_hash = hash, .source_hash = {}, .launches = {}}};
    fact.context = std::make_shared<const metrics::CaseContext>(std::move(context));
    metrics::FactWriter(path_, run_).write({fact});
  }

  /// A day later.
  void begin_run(std::string id) {
    run_.id = std::move(id);
    run_.time = "2026-05-02T23:00:00Z";
  }
  const fs::path& path() const { return path_; }
  std::vector<StoredRun> read() const { return metrics::read_facts(path_); }

  std::string kernel = "kernel", hash;  ///< and of its machine code, in facts written from now on

 private:
  const std::string source_;
  metrics::Run run_;
  const fs::path path_;
};

CountComparison compared(const std::vector<LineCounts>& emulated,
                         const std::vector<LineCounts>& measured) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", emulated);
  b.add("x", "64", measured);
  return compare_counts(a.read(), b.read());
}

TEST(CountComparison, EqualCountsAreExactAndEqual) {
  const CountComparison same =
      compared({line(7, 32, 4), line(8, 0, 8)}, {line(7, 32, 4), line(8, 0, 8)});
  const FamilyAgreement& family = same.families.at("x");
  EXPECT_EQ(family.cases, 1u);
  EXPECT_EQ(family.lines.total(), 2u);
  EXPECT_EQ(family.lines.equal[kExact], 2u);
  EXPECT_EQ(family.whole_cases.equal[kExact], 1u);
  EXPECT_THAT(same.differences, IsEmpty());
  EXPECT_FALSE(same.is_refuted());
}

TEST(CountComparison, AnExactCountThatDiffersRefutes) {
  const CountComparison other = compared({line(7, 32, 4)}, {line(7, 16, 4)});
  EXPECT_EQ(other.families.at("x").lines.different[kExact], 1u);
  EXPECT_EQ(other.families.at("x").whole_cases.different[kExact], 1u);
  ASSERT_EQ(other.differences.size(), 2u) << "the line and the case";
  for (const CountDifference& difference : other.differences) {
    EXPECT_EQ(difference.metric, "shared.wavefronts");
    EXPECT_EQ(std::pair(difference.a, difference.b), std::pair(32.0, 16.0));
  }
  EXPECT_TRUE(other.is_refuted());
}

TEST(CountComparison, DoubtOfEitherSideIsDoubt) {
  const LineCounts doubtful = unsure(line(7, 32, 4), "shared", Confidence::predicted, "no cubin");
  for (const CountComparison& comparison :
       {compared({doubtful}, {line(7, 16, 4)}), compared({line(7, 16, 4)}, {doubtful})}) {
    EXPECT_EQ(comparison.families.at("x").lines.different[kPredicted], 1u);
    EXPECT_EQ(comparison.differences.front().trust,
              (metrics::Trust{Confidence::predicted, "no cubin"}));
    EXPECT_FALSE(comparison.is_refuted());
  }
  EXPECT_EQ(compared({doubtful}, {line(7, 32, 4)}).families.at("x").lines.equal[kPredicted], 1u);
}

TEST(CountComparison, DoubtAboutOneGroupExcusesNoOther) {
  const CountComparison other = compared(
      {unsure(line(7, 32, 4), "shared", Confidence::estimate, "a loop")}, {line(7, 16, 8)});
  EXPECT_EQ(other.families.at("x").lines.different[kExact], 1u);
  EXPECT_EQ(other.families.at("x").lines.different[kEstimate], 0u);
  EXPECT_EQ(other.differences.front().metric, "global.load.sectors");
  EXPECT_TRUE(other.is_refuted());
}

TEST(CountComparison, ALineThatOneSideLacksIsAnExactZeroThere) {
  for (const CountComparison& comparison :
       {compared({line(7, 32, 4)}, {line(7, 32, 4), line(9, 0, 8)}),
        compared({line(7, 32, 4), line(9, 0, 8)}, {line(7, 32, 4)})}) {
    EXPECT_EQ(comparison.families.at("x").lines.equal[kExact], 1u);
    EXPECT_EQ(comparison.families.at("x").lines.different[kExact], 1u);
    EXPECT_TRUE(comparison.is_refuted());
  }
}

TEST(CountComparison, AZeroThatIsNotSureRefutesNothing) {
  const CountComparison other = compared(
      {unsure(line(7, 0, 4), "shared", Confidence::estimate, "an atomic loop")}, {line(7, 32, 4)});
  EXPECT_EQ(other.families.at("x").lines.different[kEstimate], 1u);
  EXPECT_FALSE(other.is_refuted());
}

TEST(CountComparison, InstructionsCountOnlyWhereBothKnowThemExactly) {
  LineCounts more = line(7, 32, 4);
  more.counts.instructions = 90;
  EXPECT_TRUE(compared({more}, {line(7, 32, 4)}).is_refuted());
  const CountComparison unknown = compared(
      {unsure(more, "instructions", Confidence::estimate, "PTX is not SASS")}, {line(7, 32, 4)});
  EXPECT_THAT(unknown.differences, IsEmpty());
  EXPECT_EQ(unknown.families.at("x").lines.equal[kExact], 1u);
}

TEST(CountComparison, LinesThatTouchNoMemoryAreNotCounted) {
  const auto idle = [](int number) {
    return unsure(line(number, 0, 0), "instructions", Confidence::estimate, "PTX is not SASS");
  };
  EXPECT_EQ(compared({line(7, 1, 0), idle(8)}, {line(7, 1, 0), idle(8)}).total().lines.total(), 1u);
}

TEST(CountComparison, TheWorstComesFirst) {
  const CountComparison other = compared(
      {line(7, 0, 8), line(8, 0, 100), unsure(line(9, 900, 0), "shared", Confidence::estimate, "b"),
       unsure(line(10, 900, 0), "shared", Confidence::predicted, "a")},
      {line(7, 0, 9), line(8, 0, 200), line(9, 1, 0), line(10, 1, 0)});
  std::vector<int> lines;
  for (const CountDifference& difference : other.differences) {
    if (!difference.place.is_whole_case()) lines.push_back(difference.place.line);
  }
  EXPECT_THAT(lines, ElementsAre(8, 7, 10, 9));
}

TEST(CountComparison, SaysWhatOnlyOneSideHas) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", {line(7, 1, 0)}).add("x", "65", {line(7, 1, 0)});
  a.add("x", "64", {line(7, 1, 0)}, "sm_120");
  b.add("x", "64", {line(7, 1, 0)}).add("y", "64", {line(7, 2, 0)});
  const CountComparison some = compare_counts(a.read(), b.read());
  EXPECT_THAT(some.only_in_a, ElementsAre("x.plain.f32@64 on sm_120", "x.plain.f32@65 on sm_90"));
  EXPECT_THAT(some.only_in_b, ElementsAre("y.plain.f32@64 on sm_90"));
  EXPECT_EQ(some.total().cases, 1u);
  const auto is_small = [](const CaseKey& key) { return key.first.ends_with("@64"); };
  EXPECT_THAT(compare_counts(ComparedFile(a.path()).read(is_small), b.read()).only_in_a,
              ElementsAre("x.plain.f32@64 on sm_120"));
}

TEST(CountComparison, WhatWasNotMeasuredIsNotZero) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", {line(7, 1, 0)});
  Fact missing{.id = {"x", "plain", "f32", "64"}, .arch = "sm_90", .metric = "shared.wavefronts"};
  b.write(missing);
  EXPECT_THAT(compare_counts(a.read(), b.read()).only_in_a, ElementsAre("x.plain.f32@64 on sm_90"));
  missing.value = 1.0;
  b.write(missing);
  EXPECT_THROW(compare_counts(a.read(), b.read()), metrics::FactError) << "counted in part";
}

TEST(CountComparison, OtherMachineCodeIsAnotherProgram) {
  FactsOfARun a("emulator"), b("cupti");
  a.hash = "1111";
  b.hash = "1111";
  a.add("x", "64", {line(7, 1, 0)}).add("x", "65", {line(7, 1, 0)});
  b.add("x", "64", {line(7, 1, 0)});
  b.hash = "2222";
  b.add("x", "65", {line(7, 2, 0)});
  const CountComparison some = compare_counts(a.read(), b.read());
  EXPECT_THAT(some.other_code, ElementsAre("x.plain.f32@65 on sm_90"));
  EXPECT_EQ(some.total().cases, 1u);
  EXPECT_FALSE(some.is_refuted());
}

TEST(CountComparison, ARenamedKernelIsAnotherProgram) {
  FactsOfARun a("emulator"), b("cupti");
  a.hash = "1111";
  b.hash = "1111";
  b.kernel = "kernel<float>";
  a.add("x", "64", {line(7, 1, 0)});
  b.add("x", "64", {line(7, 1, 0)});
  EXPECT_THAT(compare_counts(a.read(), b.read()).other_code,
              ElementsAre("x.plain.f32@64 on sm_90"));
}

TEST(CountComparison, OfSeveralRunsTheLastOneCounts) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", {line(7, 5, 0), line(8, 5, 0)});
  a.begin_run("r2");
  a.add("x", "64", {line(7, 1, 0)});
  b.add("x", "64", {line(7, 1, 0)});
  const CountComparison last = compare_counts(a.read(), b.read());
  EXPECT_EQ(last.total().lines.total(), 1u);
  EXPECT_THAT(last.differences, IsEmpty());
  b.add("x", "64", {line(7, 1, 0)});
  EXPECT_THROW(compare_counts(a.read(), b.read()), metrics::FactError) << "twice in one run";
}

TEST(CountComparison, ALineThatWasInlinedTwiceIsOnePlace) {
  const auto inlined = [](int call, std::uint64_t wavefronts) {
    LineCounts counted = line(7, wavefronts, 0);
    counted.inlined = {{"kernels/x/family.cu", 7}, {"kernels/x/family.cu", call}};
    return counted;
  };
  const CountComparison same =
      compared({inlined(20, 3), inlined(30, 1)}, {inlined(20, 1), inlined(31, 3)});
  EXPECT_EQ(same.total().lines.total(), 1u);
  EXPECT_THAT(same.differences, IsEmpty());
  const CountComparison other = compared({inlined(20, 3), inlined(30, 1)}, {inlined(20, 3)});
  EXPECT_FALSE(other.differences.empty());
}

/// Something of everything: two families, all kinds of differences, cases that are left out.
void write_some_of_everything(FactsOfARun& a, FactsOfARun& b) {
  const auto loop = [](LineCounts counts) {
    return unsure(std::move(counts), "shared", Confidence::estimate,
                  "a compare-and-swap loop: the machine code reads more often");
  };
  const auto predicted = [](LineCounts counts) {
    return unsure(std::move(counts), "shared", Confidence::predicted, "no cubin");
  };
  a.add("transpose", "64x64", {line(41, 32, 0), line(42, 0, 128)});
  b.add("transpose", "64x64", {line(41, 32, 0), line(42, 0, 128)});
  a.add("transpose", "65x64", {line(41, 64, 0), line(42, 0, 130)});
  b.add("transpose", "65x64", {line(41, 32, 0), line(42, 0, 130)});
  a.add("reduce", "1000", {loop(line(17, 8, 0)), predicted(line(18, 4, 0)), line(19, 0, 4)});
  b.add("reduce", "1000", {line(17, 96, 0), line(18, 4, 0), line(19, 0, 4)});
  a.add("reduce", "1001", {line(17, 8, 0)});
  for (const char* size : {"1", "2", "3", "4"}) b.add("scan", size, {line(9, 1, 0)});
}

/// The text of tests/data/diff/NAME.txt.
void expect_golden(const std::string& text, const std::string& name) {
  std::ifstream stream(fs::path(WARPGAUGE_TEST_DATA) / "diff" / (name + ".txt"));
  const std::string expected{std::istreambuf_iterator<char>(stream), {}};
  const fs::path got = fs::path(testing::TempDir()) / ("warpgauge_" + name + ".txt");
  if (text != expected) std::ofstream(got) << text;
  EXPECT_EQ(text, expected) << "what came is in " << got;
}

TEST(CountComparison, IsDecidedByNoHumanText) {
  FactsOfARun a("emulator"), b("cupti");
  write_some_of_everything(a, b);
  std::vector<StoredRun> of_a = a.read();
  const std::vector<StoredRun> of_b = b.read();
  const CountComparison before = compare_counts(of_a, of_b);
  for (StoredRun& run : of_a) {
    for (Fact& fact : run.facts) {
      if (!fact.confidence_reason.empty()) fact.confidence_reason = "x";
    }
  }
  const CountComparison after = compare_counts(of_a, of_b);
  EXPECT_FALSE(before.differences.empty());
  const auto by_number = [](const CountDifference& difference, const CountDifference& other) {
    return difference.place == other.place && difference.metric == other.metric &&
           difference.a == other.a && difference.b == other.b &&
           difference.trust.confidence == other.trust.confidence;
  };
  EXPECT_TRUE(std::ranges::equal(before.differences, after.differences, by_number));
  EXPECT_EQ(before.total().lines.different, after.total().lines.different);
}

TEST(CountComparisonText, OfSomethingOfEverything) {
  FactsOfARun a("emulator"), b("cupti");
  write_some_of_everything(a, b);
  const CountComparison comparison = compare_counts(a.read(), b.read());
  expect_golden(comparison_text(comparison, {}), "one_screen");
  expect_golden(comparison_text(comparison, {.everything = true}), "some_of_everything");
}

TEST(CountComparisonText, ManyFamiliesFitOneScreenAndThoseThatDifferComeFirst) {
  FactsOfARun a("emulator"), b("cupti");
  for (int i = 10; i < 30; ++i) {
    const std::string family = "f" + std::to_string(i);
    a.add(family, "1", {line(7, 32, 0)});
    b.add(family, "1", {line(7, i == 29 ? 16 : 32, 0)});
  }
  const CountComparison comparison = compare_counts(a.read(), b.read());
  const std::string text = comparison_text(comparison, {});
  EXPECT_THAT(text, HasSubstr("equal differ\nf29 "));
  EXPECT_THAT(text, HasSubstr("\n10 others          10       10      0 "));
  EXPECT_THAT(text, testing::Not(HasSubstr("f28")));
  EXPECT_THAT(comparison_text(comparison, {.everything = true}), HasSubstr("\nf28 "));
}

TEST(CountComparisonText, SaysWhenNothingDiffers) {
  EXPECT_THAT(comparison_text(compared({line(7, 32, 4)}, {line(7, 32, 4)}), {}),
              HasSubstr("\nEQUAL: no count differs that both call exact; 1 of 1 source lines "
                        "(100.0%) and 1 of 1 whole cases are exact and equal\n"));
}

TEST(CountComparisonText, ObeysNoControlSequences) {
  const LineCounts hostile =
      unsure(line(7, 32, 4), "shared", Confidence::estimate, "\033[2J\nEQUAL: all");
  const std::string text = comparison_text(compared({hostile}, {line(7, 16, 4)}), {});
  EXPECT_THAT(text, AllOf(HasSubstr("\\x1b[2J EQUAL: all"), testing::Not(HasSubstr("\033"))));
}

TEST(DiffRuns, ReturnsTheExitCodeAndWritesJson) {
  FactsOfARun a("emulator"), b("cupti"), c("cupti_too");
  a.add("x", "64", {line(7, 32, 4)});
  b.add("x", "64", {line(7, 32, 4)});
  EXPECT_EQ(diff_runs({.a = a.path(), .b = b.path()}), outcome::kWithinBudget);
  const fs::path json = a.path().string() + ".json";
  a.begin_run("r2");
  a.add("x", "64", {line(7, 33, 4)});
  EXPECT_EQ(diff_runs({.a = a.path(), .b = b.path(), .json = json}), outcome::kOverBudget);
  std::ifstream stream(json);
  const std::string written{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(written, AllOf(HasSubstr(R"("exact": {)"), HasSubstr(R"("a": 33,)"),
                             HasSubstr(R"("metric": "shared.wavefronts")")));
  fs::remove(json);
}

TEST(DiffRuns, NothingInCommonIsAFault) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", {line(7, 32, 4)});
  b.add("y", "64", {line(7, 32, 4)});
  const auto error = [&](const DiffOptions& options) -> std::string {
    try {
      diff_runs(options);
    } catch (const std::runtime_error& fault) {
      return fault.what();
    }
    return "no error";
  };
  EXPECT_THAT(error({.a = a.path(), .b = b.path()}),
              HasSubstr("have no counted case in common: 1 cases only in A, 1 only in B, 0 of"));
  EXPECT_THAT(error({.a = a.path(), .b = a.path(), .selection = {.filter = {"no.such"}}}),
              HasSubstr("--filter 'no.such' matches no case of"));
  EXPECT_THAT(error({.a = a.path(), .b = a.path(), .json = a.path() / "x.json"}),
              HasSubstr("x.json: cannot be written"));
  EXPECT_THAT(error({.a = a.path(), .b = "none.jsonl"}), HasSubstr("none.jsonl: cannot be read"));
}

}  // namespace
}  // namespace warpgauge::diff::agreement_test
