// Outcomes as people read them, of recorded facts: whole texts, colour, names that mean harm.
#include "harness/outcome/outcome_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/outcome/finding_text.h"
#include "metrics/budgets/budget.h"
#include "metrics/budgets/judge.h"

namespace warpgauge::outcome::outcome_text_test {
namespace {

namespace fs = std::filesystem;
using metrics::Fact;
using metrics::Verdict;
using testing::AllOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const fs::path kData = fs::path(WARPGAUGE_TEST_DATA) / "outcome";
constexpr std::string_view kSource = "tests/data/outcome/through_tile.cu";
constexpr Requirements kStrict = {.strict = true};
constexpr Requirements kCupti = {.cupti = true};

std::string content(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// `text` is the whole content of a file in tests/data/outcome.
void expect_golden(const std::string& text, const std::string& file) {
  const std::string expected = content(kData / file);
  if (text == expected) return;
  const fs::path left = fs::path(testing::TempDir()) / ("warpgauge_" + file);
  std::ofstream(left) << text;
  EXPECT_EQ(text, expected) << "what came is in " << left;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Facts of an H100; the tests change some in memory. Their lines refer to a source that does not
/// change.
struct Recorded {
  metrics::StoredRun run = metrics::read_facts(kData / "h100.jsonl").at(0);

  Recorded() {
    for (Fact& fact : run.facts) {
      if (fact.scope != metrics::Scope::line) continue;
      fact.file = kSource;
      fact.line = 4;
    }
  }

  Fact& at(std::string_view variant, std::string_view metric) {
    for (Fact& fact : run.facts) {
      if (fact.scope == metrics::Scope::whole_case && fact.id.variant == variant &&
          fact.metric == metric) {
        return fact;
      }
    }
    throw std::out_of_range("no such fact was recorded");
  }

  /// A line with a part of the value of `fact`.
  void add_line(const Fact& fact, int line, double value) {
    Fact part = fact;
    part.scope = metrics::Scope::line;
    part.line = line;
    part.value = value;
    run.facts.push_back(part);
  }

  /// Blames the fact on a line of that source, and judges it by other budgets.
  Fact& judged(std::string_view variant, std::string_view metric, std::string_view budgets) {
    Fact& fact = at(variant, metric);
    fact.file = kSource;
    fact.line = 4;
    fact.reason.clear();
    const std::vector<metrics::CaseId> ids = {fact.id};
    using namespace std::chrono;
    metrics::judge(fact, metrics::Budgets::parse(budgets, "budgets.toml", ids),
                   year_month_day(2026y / November / 22));
    return fact;
  }

  Fact& wrong_result(std::string_view variant) {
    Fact& fact = at(variant, "result.correct");
    fact.verdict = Verdict::error;
    fact.value = {};
    fact.reason =
        "wrong result: element 17 is nan (never written?), expected 0.25; 32 of 64 differ";
    fact.file = kSource;
    fact.line = 2;
    return fact;
  }

  Outcome outcome(const Requirements& requirements = {}, std::vector<std::string> lost = {}) const {
    return Outcome({run}, {.requirements = requirements, .lost = std::move(lost)});
  }
  std::string terminal(const Requirements& requirements = {}, bool colour = false) const {
    return terminal_text(outcome(requirements), colour);
  }
  std::string markdown(const Requirements& requirements = {}) const {
    return markdown_text(outcome(requirements));
  }
  std::string headline(const Requirements& requirements = {}) const {
    return outcome(requirements).headline();
  }
};

/// The text of one value over its budget.
std::string failure_text(const Fact& fact, const std::string& repeat) {
  return finding_text(findings_of({fact}, metrics::Run(), {}).at(0), repeat);
}

/// Something of every verdict.
Recorded one_of_each() {
  Recorded recorded;
  recorded.judged("tiled", "shared.bank_conflicts", "");
  recorded.judged("tiled", "shared.bank_ways",
                  "[tiled]\n\"shared.bank_ways\" = {max = 4, reason = \"one way per column\"}\n");
  recorded.wrong_result("padded");
  recorded.judged("naive", "global.excess_sectors", "[default]\n\"global.excess_sectors\" = 1e6\n");
  recorded.judged(
      "tiled", "registers",
      "[default]\nregisters = {max = 16, until = 2027-01-31, reason = \"new ptxas\"}\n");
  Fact& time = recorded.at("naive", "time.median_us");
  time.value = {};
  time.reason = "the profiler is taken by another program";
  recorded.judged("naive", "spill.store_bytes", "");
  time.verdict = Verdict::unmeasured;
  return recorded;
}

TEST(TerminalText, OfFactsWithinBudget) { expect_golden(Recorded().terminal(), "pass.txt"); }

TEST(TerminalText, OfSomethingOfEverything) {
  expect_golden(one_of_each().terminal(kStrict), "one_of_each.txt");
}

TEST(MarkdownText, OfFactsWithinBudget) { expect_golden(Recorded().markdown(), "pass.md"); }

TEST(MarkdownText, OfSomethingOfEverything) {
  Recorded recorded = one_of_each();
  recorded.run.run.commit = "0123456789abcdef0123456789abcdef01234567";
  recorded.run.run.dirty = false;
  expect_golden(recorded.markdown(kStrict), "one_of_each.md");
}

/// Counts as an emulator gives them that is not sure of all.
Recorded unsure() {
  Recorded recorded;
  const auto doubt = [&](std::string_view variant, std::string_view metric,
                         std::string_view confidence, std::string_view why) {
    Fact& fact = recorded.at(variant, metric);
    fact.source = "emulator";
    fact.confidence = confidence;
    fact.confidence_reason = why;
    recorded.judged(variant, metric, "[default]\n\"global.excess_sectors\" = 0\n");
  };
  doubt("tiled", "shared.bank_conflicts", "estimate", "ptxas spills registers here");
  doubt("padded", "shared.bank_conflicts", "estimate", "ptxas spills registers here");
  doubt("naive", "global.excess_sectors", "predicted", "no machine code to look at");
  return recorded;
}

TEST(TerminalText, OfWhatIsNotSure) { expect_golden(unsure().terminal(), "unsure.txt"); }

TEST(FindingText, ShowsTheWorstLinesWithTheirShareAndWhatElseHasTheCause) {
  Recorded recorded;
  Fact fact = recorded.judged("tiled", "shared.bank_conflicts", "");
  std::erase_if(recorded.run.facts,
                [](const Fact& candidate) { return candidate.scope == metrics::Scope::line; });
  for (const auto& [line, share] : {std::pair(1, 0.125), {2, 0.25}, {3, 0.0625}, {4, 0.5625}}) {
    recorded.add_line(fact, line, share * std::get<double>(fact.value));
  }
  for (const char* arch : {"sm_80", "sm_75"}) {
    fact.arch = arch;
    fact.value = 31.0;
    recorded.run.facts.push_back(fact);
  }
  fact.id.size = "1000x700";
  recorded.run.facts.push_back(fact);
  const Outcome outcome = recorded.outcome();
  expect_golden(finding_text(outcome.findings().at(0), "ci/gate"), "finding.txt");
}

TEST(TerminalText, RepeatsWhatTheCompilerDecidedForThatArchitecture) {
  Recorded recorded;
  Fact& fact = recorded.judged("tiled", "registers", "[default]\nregisters = 1\n");
  fact.arch = "sm_75";
  fact.source = "cubin";
  EXPECT_THAT(
      recorded.terminal(),
      HasSubstr("  repeat   ci/gate --arch sm_75 --filter 'transpose.tiled.f32@1024x1024'\n"));
}

TEST(MarkdownText, OfWhatIsNotSure) { expect_golden(unsure().markdown(), "unsure.md"); }

TEST(MarkdownText, OfAMachineWithoutAGpu) {
  Recorded recorded;
  recorded.run.run.devices.clear();
  EXPECT_THAT(recorded.markdown(), HasSubstr(", CUDA 13.0, no GPU.\n"));
}

TEST(MarkdownText, OfSeveralRunsShowsTheOneThatMeasured) {
  const Recorded measured;
  Recorded without;
  without.run.run.id = "without";
  without.run.run.devices.clear();
  const auto shown = HasSubstr(measured.run.run.devices.at(0).name + " (compute capability");
  EXPECT_THAT(markdown_text(Outcome({without.run, measured.run}, {})), shown);
  EXPECT_THAT(markdown_text(Outcome({measured.run, without.run}, {})), shown);
}

TEST(FailureText, HasAllThatIsNeededToActOnIt) {
  Recorded recorded;
  const Fact& fact = recorded.judged("tiled", "shared.bank_conflicts", "");
  expect_golden(failure_text(fact, "warpgauge-check --gtest_filter='x'"), "failure.txt");
}

TEST(FailureText, GivesTheCureOfTheValueBeforeThatOfTheMetric) {
  Recorded recorded;
  Fact fact = recorded.judged("tiled", "shared.bank_conflicts", "");
  EXPECT_THAT(failure_text(fact, ""), HasSubstr("\n  cure     Pad rows of n x 128 bytes"));
  fact.cure = "Rows are 512 words apart: pad by 4 words.";
  EXPECT_THAT(failure_text(fact, ""),
              AllOf(HasSubstr("\n  cure     " + fact.cure + "\n"), Not(HasSubstr("Pad rows"))));
}

TEST(FailureText, OfAnErrorGivesTheReason) {
  Recorded recorded;
  expect_golden(failure_text(recorded.wrong_result("padded"), "ci/gate"), "error.txt");
}

TEST(FailureText, GivesTheDoubtThatTheBudgetFileAccepts) {
  Recorded recorded = unsure();
  const Fact& fact = recorded.judged("tiled", "shared.bank_conflicts", "gate_on = \"estimate\"");
  EXPECT_THAT(failure_text(fact, ""),
              AllOf(StartsWith("FAIL transpose.tiled.f32@1024x1024 on sm_90: "),
                    HasSubstr("\n  unsure   estimate: ptxas spills registers here\n"),
                    Not(HasSubstr("to judge"))));
}

TEST(FailureText, LeavesOutWhatIsNotKnown) {
  Recorded recorded;
  Fact fact = recorded.wrong_result("padded");
  fact.file.clear();
  EXPECT_THAT(failure_text(fact, ""), AllOf(Not(HasSubstr("  at ")), Not(HasSubstr("repeat"))));
  fact.file = "no/such/file.cu";
  EXPECT_THAT(failure_text(fact, ""), HasSubstr("  at       no/such/file.cu:2\n"));
}

TEST(TerminalText, TableIsAtMostEightyColumnsWide) {
  Recorded recorded = one_of_each();
  for (Fact& fact : recorded.run.facts) fact.id.family = "eighteen_characters";
  const std::vector<std::string> lines = lines_of(recorded.terminal());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(lines.at(i).size(), 80u) << lines[i];
  EXPECT_THAT(lines.at(2), StartsWith("total "));
}

TEST(TerminalText, HasColourOnlyWhenAsked) {
  const Recorded good, bad = one_of_each();
  EXPECT_THAT(good.terminal(), Not(HasSubstr("\033")));
  EXPECT_THAT(bad.terminal(), Not(HasSubstr("\033")));
  EXPECT_THAT(good.terminal({}, true),
              EndsWith("\n\033[1;32mPASS: 13 values within budget\033[0m\n"));
  EXPECT_THAT(bad.terminal({}, true), HasSubstr("\n\033[1;31mERROR: "));
  EXPECT_THAT(bad.markdown(), Not(HasSubstr("\033")));
}

TEST(TerminalText, SaysWhatWasLostAndLeftOut) {
  const Recorded recorded;
  const Outcome outcome({recorded.run},
                        {.lost = {"a graph of\nmine", "a launch"}, .left_out = {"2 large cases"}});
  EXPECT_THAT(terminal_text(outcome, false),
              HasSubstr("\n2 large cases\n\na graph of mine\n\na launch\n\nNOT MEASURED: 2 items"));
  EXPECT_THAT(markdown_text(outcome), HasSubstr("## Unmeasured\n\n- a graph of mine\n- a launch\n\n"
                                                "## Left out\n\n- 2 large cases\n"));
}

TEST(TerminalText, SaysWhichValuesAreBetterAndHowToTighten) {
  Recorded recorded;
  EXPECT_THAT(recorded.terminal(), Not(HasSubstr("better than")));
  recorded.judged("naive", "global.excess_sectors", "[default]\n\"global.excess_sectors\" = 1e6\n");
  const std::string_view better =
      "better than budget: global.excess_sectors of transpose.naive.f32@1024x1024 on sm_90 is "
      "917504 "
      "sectors, budget <= 1000000. `warpgauge accept FACTS --tighten` tightens it\n";
  EXPECT_THAT(recorded.terminal(), HasSubstr(better));
  EXPECT_THAT(recorded.markdown(), HasSubstr("better than budget: global.excess\\_sectors of"));
  EXPECT_THAT(recorded.terminal(kStrict), Not(HasSubstr("`warpgauge accept FACTS")))
      << "there it is a finding";
}

TEST(TerminalText, EndsWithTheHeadline) {
  Recorded recorded;
  recorded.judged("naive", "global.excess_sectors", "[default]\n\"global.excess_sectors\" = 1e6\n");
  EXPECT_EQ(lines_of(recorded.terminal()).back(), "PASS: 13 values within budget");
  EXPECT_EQ(lines_of(recorded.terminal(kStrict)).back(),
            "FAIL: 1 value better than budget (--strict)");
  recorded.at("naive", "time.median_us").verdict = Verdict::unmeasured;
  EXPECT_EQ(lines_of(recorded.terminal(kCupti)).back(),
            "NOT MEASURED: time.median_us of transpose.naive.f32@1024x1024 on sm_90, only "
            "estimated: times and hardware counters differ from run to run");
}

/// Every way for text from outside to get in: exceptions of kernels, paths of sources, and the
/// device, commit and architecture in a file of facts.
struct Hostile {
  static constexpr std::string_view kText =
      "\033]0;owned\a\033[2J\r\n\n# PASS | <script>alert(1)</script> `code` ![x](http://e) *b* "
      "\xc2\x9b"
      "31m \x7f $x$ &amp;";
  Recorded recorded = one_of_each();

  Hostile() {
    for (Fact& fact : recorded.run.facts) {
      for (std::string* text : {&fact.id.family, &fact.reason, &fact.file, &fact.arch, &fact.kernel,
                                &fact.confidence_reason}) {
        *text = kText;
      }
      if (fact.limit) fact.limit->reason = kText;
      if (std::holds_alternative<std::string>(fact.value)) fact.value = std::string(kText);
    }
    metrics::Run& run = recorded.run.run;
    metrics::Device& device = run.devices.at(0);
    device.name = device.driver = device.compute_capability = kText;
    run.id = run.time = run.commit = run.toolkit = kText;
  }
};

void expect_no_control_characters(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    EXPECT_TRUE(byte == '\n' || byte >= 0x20) << "at " << i << " of " << text;
    EXPECT_NE(byte, 0x7f);
    EXPECT_FALSE(byte == 0xc2 && next >= 0x80 && next < 0xa0) << "C1 at " << i;
  }
}

TEST(HostileNames, ReachNoTerminal) {
  const Hostile hostile;
  const std::string text = hostile.recorded.terminal(kStrict);
  expect_no_control_characters(text);
  EXPECT_THAT(text, HasSubstr(R"(\x1b]0;owned\x07\x1b[2J   # PASS |)")) << "shown, not obeyed";
  EXPECT_THAT(lines_of(text), Each(Not(StartsWith("# PASS")))) << "no line of their own";
  EXPECT_EQ(lines_of(text).back(), "ERROR: 1 case could not be judged, 2 values over budget");
}

TEST(HostileNames, KeepOtherLettersAsTheyAre) {
  Recorded recorded;
  Fact& fact = recorded.wrong_result("padded");
  fact.reason = "größer als 2 µs — 核";
  EXPECT_THAT(failure_text(fact, ""), HasSubstr("  reason   größer als 2 µs — 核\n"));
}

TEST(HostileNames, AreNoMarkup) {
  const Hostile hostile;
  const std::string text = hostile.recorded.markdown(kStrict);
  expect_no_control_characters(text);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_THAT(text, Not(HasSubstr(" `code`")));
  EXPECT_THAT(text, Not(HasSubstr(" *b*")));
  EXPECT_THAT(text, Not(HasSubstr("![x]")));
  EXPECT_THAT(text, Not(HasSubstr(" $x$")));
  EXPECT_THAT(text, HasSubstr(R"(\| &lt;script&gt;alert(1)&lt;/script&gt; \`code\` !\[x\])"));
  EXPECT_THAT(text, HasSubstr("&amp;amp;")) << "an entity stays the text that it was";
  for (const std::string& line : lines_of(text)) {
    EXPECT_TRUE(!line.starts_with("# PASS")) << line;
  }
}

}  // namespace
}  // namespace warpgauge::outcome::outcome_text_test
