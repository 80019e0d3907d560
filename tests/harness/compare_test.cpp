// Comparing what two runs counted: which differences matter, and what is not compared.
#include "harness/diff/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/counted_facts.h"
#include "harness/diff/compare_text.h"
#include "harness/outcome/exit_code.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;
using metrics::Confidence;
using metrics::Fact;
using metrics::LineCounts;
using metrics::StoredFact;
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
              ("warpgauge_compare_" + std::to_string(getpid()) + source_ + ".jsonl")) {
    fs::remove(path_);
  }
  ~FactsOfARun() { fs::remove(path_); }

  FactsOfARun& add(const std::string& family, const std::string& size,
                   const std::vector<LineCounts>& lines, const std::string& arch = "sm_90") {
    const Fact blank{.id = {family, "plain", "f32", size}, .arch = arch};
    for (Fact& fact : counted_facts(lines, {}, blank, source_)) write(std::move(fact));
    return *this;
  }

  void write(Fact fact) {
    if (!hash.empty() && !fact.kernel.empty()) fact.sass_hash = hash;
    metrics::FactWriter(path_, run_).write(fact);
  }

  void begin_run(std::string id) { run_.id = std::move(id); }
  const fs::path& path() const { return path_; }
  std::vector<StoredFact> read() const { return metrics::read_facts(path_); }

  std::string hash;  ///< of the machine code, in facts written from now on

 private:
  const std::string source_;
  metrics::Run run_;
  const fs::path path_;
};

diff::FactComparison compared(const std::vector<LineCounts>& emulated,
                              const std::vector<LineCounts>& measured) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", emulated);
  b.add("x", "64", measured);
  return diff::compare(a.read(), b.read(), "");
}

TEST(Compare, EqualCountsAreExactAndEqual) {
  const diff::FactComparison same =
      compared({line(7, 32, 4), line(8, 0, 8)}, {line(7, 32, 4), line(8, 0, 8)});
  const diff::FamilyAgreement& family = same.families.at("x");
  EXPECT_EQ(family.cases, 1u);
  EXPECT_EQ(family.lines.total(), 2u);
  EXPECT_EQ(family.lines.equal[kExact], 2u);
  EXPECT_EQ(family.whole_cases.equal[kExact], 1u);
  EXPECT_THAT(same.differences, IsEmpty());
  EXPECT_FALSE(same.is_refuted());
}

TEST(Compare, AnExactCountThatDiffersRefutes) {
  const diff::FactComparison other = compared({line(7, 32, 4)}, {line(7, 16, 4)});
  EXPECT_EQ(other.families.at("x").lines.different[kExact], 1u);
  EXPECT_EQ(other.families.at("x").whole_cases.different[kExact], 1u);
  ASSERT_EQ(other.differences.size(), 2u) << "the line and the case";
  for (const diff::Difference& difference : other.differences) {
    EXPECT_EQ(difference.metric, "shared.wavefronts");
    EXPECT_EQ(std::pair(difference.a, difference.b), std::pair(32.0, 16.0));
  }
  EXPECT_TRUE(other.is_refuted());
}

TEST(Compare, DoubtOfEitherSideIsDoubt) {
  const LineCounts doubtful = unsure(line(7, 32, 4), "shared", Confidence::predicted, "no cubin");
  for (const diff::FactComparison& one :
       {compared({doubtful}, {line(7, 16, 4)}), compared({line(7, 16, 4)}, {doubtful})}) {
    EXPECT_EQ(one.families.at("x").lines.different[kPredicted], 1u);
    EXPECT_EQ(one.differences.front().trust, (metrics::Trust{Confidence::predicted, "no cubin"}));
    EXPECT_FALSE(one.is_refuted());
  }
  EXPECT_EQ(compared({doubtful}, {line(7, 32, 4)}).families.at("x").lines.equal[kPredicted], 1u);
}

TEST(Compare, DoubtAboutOneGroupExcusesNoOther) {
  const diff::FactComparison other = compared(
      {unsure(line(7, 32, 4), "shared", Confidence::estimate, "a loop")}, {line(7, 16, 8)});
  EXPECT_EQ(other.families.at("x").lines.different[kExact], 1u);
  EXPECT_EQ(other.families.at("x").lines.different[kEstimate], 0u);
  EXPECT_EQ(other.differences.front().metric, "global.load.sectors");
  EXPECT_TRUE(other.is_refuted());
}

TEST(Compare, ALineThatOneSideLacksIsAnExactZeroThere) {
  for (const diff::FactComparison& one :
       {compared({line(7, 32, 4)}, {line(7, 32, 4), line(9, 0, 8)}),
        compared({line(7, 32, 4), line(9, 0, 8)}, {line(7, 32, 4)})}) {
    EXPECT_EQ(one.families.at("x").lines.equal[kExact], 1u);
    EXPECT_EQ(one.families.at("x").lines.different[kExact], 1u);
    EXPECT_TRUE(one.is_refuted());
  }
}

TEST(Compare, AZeroThatIsNotSureRefutesNothing) {
  const diff::FactComparison other = compared(
      {unsure(line(7, 0, 4), "shared", Confidence::estimate, "an atomic loop")}, {line(7, 32, 4)});
  EXPECT_EQ(other.families.at("x").lines.different[kEstimate], 1u);
  EXPECT_FALSE(other.is_refuted());
}

TEST(Compare, InstructionsCountOnlyWhereBothKnowThemExactly) {
  LineCounts more = line(7, 32, 4);
  more.counts.instructions = 90;
  EXPECT_TRUE(compared({more}, {line(7, 32, 4)}).is_refuted());
  const diff::FactComparison unknown = compared(
      {unsure(more, "instructions", Confidence::estimate, "PTX is not SASS")}, {line(7, 32, 4)});
  EXPECT_THAT(unknown.differences, IsEmpty());
  EXPECT_EQ(unknown.families.at("x").lines.equal[kExact], 1u);
}

TEST(Compare, LinesThatTouchNoMemoryAreNotCounted) {
  const auto idle = [](int number) {
    return unsure(line(number, 0, 0), "instructions", Confidence::estimate, "PTX is not SASS");
  };
  EXPECT_EQ(compared({line(7, 1, 0), idle(8)}, {line(7, 1, 0), idle(8)}).total().lines.total(), 1u);
}

TEST(Compare, TheWorstComesFirst) {
  const diff::FactComparison other = compared(
      {line(7, 0, 8), line(8, 0, 100), unsure(line(9, 900, 0), "shared", Confidence::estimate, "b"),
       unsure(line(10, 900, 0), "shared", Confidence::predicted, "a")},
      {line(7, 0, 9), line(8, 0, 200), line(9, 1, 0), line(10, 1, 0)});
  std::vector<int> lines;
  for (const diff::Difference& one : other.differences) {
    if (!one.place.is_whole_case()) lines.push_back(one.place.line);
  }
  EXPECT_THAT(lines, ElementsAre(8, 7, 10, 9));
}

TEST(Compare, SaysWhatOnlyOneSideHas) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", {line(7, 1, 0)}).add("x", "65", {line(7, 1, 0)});
  a.add("x", "64", {line(7, 1, 0)}, "sm_120");
  b.add("x", "64", {line(7, 1, 0)}).add("y", "64", {line(7, 2, 0)});
  const diff::FactComparison some = diff::compare(a.read(), b.read(), "");
  EXPECT_THAT(some.only_in_a, ElementsAre("x.plain.f32@64 on sm_120", "x.plain.f32@65 on sm_90"));
  EXPECT_THAT(some.only_in_b, ElementsAre("y.plain.f32@64 on sm_90"));
  EXPECT_EQ(some.total().cases, 1u);
  EXPECT_THAT(diff::compare(a.read(), b.read(), "*@64").only_in_a,
              ElementsAre("x.plain.f32@64 on sm_120"));
}

TEST(Compare, WhatWasNotMeasuredIsNotZero) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", {line(7, 1, 0)});
  Fact missing{.id = {"x", "plain", "f32", "64"}, .metric = "shared.wavefronts", .arch = "sm_90"};
  b.write(missing);
  EXPECT_THAT(diff::compare(a.read(), b.read(), "").only_in_a,
              ElementsAre("x.plain.f32@64 on sm_90"));
  missing.value = 1.0;
  b.write(missing);
  EXPECT_THROW(diff::compare(a.read(), b.read(), ""), metrics::FactError) << "counted in part";
}

TEST(Compare, OtherMachineCodeIsAnotherProgram) {
  FactsOfARun a("emulator"), b("cupti");
  a.hash = "1111";
  b.hash = "1111";
  a.add("x", "64", {line(7, 1, 0)}).add("x", "65", {line(7, 1, 0)});
  b.add("x", "64", {line(7, 1, 0)});
  b.hash = "2222";
  b.add("x", "65", {line(7, 2, 0)});
  const diff::FactComparison some = diff::compare(a.read(), b.read(), "");
  EXPECT_THAT(some.other_code, ElementsAre("x.plain.f32@65 on sm_90"));
  EXPECT_EQ(some.total().cases, 1u);
  EXPECT_FALSE(some.is_refuted());
}

TEST(Compare, OfSeveralRunsTheLastOneCounts) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", {line(7, 5, 0), line(8, 5, 0)});
  a.begin_run("r2");
  a.add("x", "64", {line(7, 1, 0)});
  b.add("x", "64", {line(7, 1, 0)});
  const diff::FactComparison last = diff::compare(a.read(), b.read(), "");
  EXPECT_EQ(last.total().lines.total(), 1u);
  EXPECT_THAT(last.differences, IsEmpty());
  b.add("x", "64", {line(7, 1, 0)});
  EXPECT_THROW(diff::compare(a.read(), b.read(), ""), metrics::FactError) << "twice in one run";
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

TEST(ComparisonText, OfSomethingOfEverything) {
  FactsOfARun a("emulator"), b("cupti");
  write_some_of_everything(a, b);
  const std::string text = diff::comparison_text(diff::compare(a.read(), b.read(), ""));
  const fs::path golden = fs::path(WARPGAUGE_TEST_DATA) / "compare" / "some_of_everything.txt";
  std::ifstream stream(golden);
  const std::string expected{std::istreambuf_iterator<char>(stream), {}};
  if (text != expected)
    std::ofstream(fs::path(testing::TempDir()) / "warpgauge_compare.txt") << text;
  EXPECT_EQ(text, expected) << "what came is in " << testing::TempDir() << "warpgauge_compare.txt";
}

TEST(ComparisonText, SaysWhenNothingDiffers) {
  EXPECT_THAT(diff::comparison_text(compared({line(7, 32, 4)}, {line(7, 32, 4)})),
              HasSubstr("\nEQUAL: no count differs that both call exact; 1 of 1 source lines "
                        "(100.0%) are exact and equal\n"));
}

TEST(ComparisonText, ObeysNoControlSequences) {
  const LineCounts hostile =
      unsure(line(7, 32, 4), "shared", Confidence::estimate, "\033[2J\nEQUAL: all");
  const std::string text = diff::comparison_text(compared({hostile}, {line(7, 16, 4)}));
  EXPECT_THAT(text, AllOf(HasSubstr("\\x1b[2J EQUAL: all"), testing::Not(HasSubstr("\033"))));
}

TEST(CompareFacts, ReturnsTheExitCodeAndWritesJson) {
  FactsOfARun a("emulator"), b("cupti"), c("cupti_too");
  a.add("x", "64", {line(7, 32, 4)});
  b.add("x", "64", {line(7, 32, 4)});
  EXPECT_EQ(diff::compare_facts({.a = a.path(), .b = b.path()}), outcome::kWithinBudget);
  const fs::path json = a.path().string() + ".json";
  a.begin_run("r2");
  a.add("x", "64", {line(7, 33, 4)});
  EXPECT_EQ(diff::compare_facts({.a = a.path(), .b = b.path(), .json = json}),
            outcome::kOverBudget);
  std::ifstream stream(json);
  const std::string written{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(written, AllOf(HasSubstr(R"("exact": {)"), HasSubstr(R"("a": 33.0)"),
                             HasSubstr(R"("metric": "shared.wavefronts")")));
  fs::remove(json);
}

TEST(CompareFacts, NothingInCommonIsAFault) {
  FactsOfARun a("emulator"), b("cupti");
  a.add("x", "64", {line(7, 32, 4)});
  b.add("y", "64", {line(7, 32, 4)});
  const auto error = [&](const diff::CompareOptions& options) -> std::string {
    try {
      diff::compare_facts(options);
    } catch (const std::runtime_error& fault) {
      return fault.what();
    }
    return "no error";
  };
  EXPECT_THAT(error({.a = a.path(), .b = b.path()}),
              HasSubstr("have no counted case in common: 1 cases only in A, 1 only in B, 0 of"));
  EXPECT_THAT(error({.a = a.path(), .b = a.path(), .filter = "no.such"}),
              HasSubstr("have no counted case in common: 0 cases only in A"));
  EXPECT_THAT(error({.a = a.path(), .b = a.path(), .json = a.path() / "x.json"}),
              HasSubstr("x.json: cannot be written"));
  EXPECT_THAT(error({.a = a.path(), .b = "none.jsonl"}), HasSubstr("none.jsonl: cannot be read"));
}

}  // namespace
}  // namespace warpgauge
