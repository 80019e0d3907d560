// Summaries as people read them, of recorded facts: whole texts, colour, names that mean harm.
#include "harness/outcome/summary_text.h"

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

#include "metrics/budget.h"
#include "metrics/judge.h"

namespace warpgauge {
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

const fs::path kData = fs::path(WARPGAUGE_TEST_DATA) / "summary";
constexpr std::string_view kSource = "tests/data/summary/through_tile.cu";
constexpr Requirements kStrict = {.strict = true};
constexpr Requirements kCupti = {.cupti = true};

std::string content(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// `text` is the whole content of a file in tests/data/summary.
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

/// Facts as an H100 gave them; the tests change some in memory.
struct Recorded {
  std::vector<metrics::StoredFact> facts = metrics::read_facts(kData / "h100.jsonl");

  Fact& at(std::string_view variant, std::string_view metric) {
    for (metrics::StoredFact& stored : facts) {
      const Fact& fact = stored.fact;
      if (fact.scope == metrics::Scope::whole_case && fact.id.variant == variant &&
          fact.metric == metric) {
        return stored.fact;
      }
    }
    throw std::out_of_range("no such fact was recorded");
  }

  /// Blames the fact on a line of a source that stays as it is, and judges it by other budgets.
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

  Summary summary() const { return Summary(facts); }
  const metrics::Run& run() const { return facts.back().run; }
};

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

TEST(TerminalText, OfFactsWithinBudget) {
  expect_golden(terminal_text(Recorded().summary(), {}, false), "pass.txt");
}

TEST(TerminalText, OfSomethingOfEverything) {
  expect_golden(terminal_text(one_of_each().summary(), kStrict, false), "one_of_each.txt");
}

TEST(MarkdownText, OfFactsWithinBudget) {
  const Recorded recorded;
  expect_golden(markdown_text(recorded.summary(), {}, recorded.run()), "pass.md");
}

TEST(MarkdownText, OfSomethingOfEverything) {
  Recorded recorded = one_of_each();
  metrics::Run run = recorded.run();
  run.commit = "0123456789abcdef0123456789abcdef01234567";
  run.dirty = false;
  expect_golden(markdown_text(recorded.summary(), kStrict, run), "one_of_each.md");
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

TEST(TerminalText, OfWhatIsNotSure) {
  expect_golden(terminal_text(unsure().summary(), {}, false), "unsure.txt");
}

TEST(TerminalText, RepeatsWhatTheCompilerDecidedForThatArchitecture) {
  Recorded recorded;
  Fact& fact = recorded.judged("tiled", "registers", "[default]\nregisters = 1\n");
  fact.arch = "sm_75";
  EXPECT_THAT(
      terminal_text(recorded.summary(), {}, false),
      HasSubstr("  repeat   ci/gate --arch sm_75 --filter 'transpose.tiled.f32@1024x1024'\n"));
}

TEST(MarkdownText, OfWhatIsNotSure) {
  const Recorded recorded = unsure();
  expect_golden(markdown_text(recorded.summary(), {}, recorded.run()), "unsure.md");
}

TEST(MarkdownText, OfAMachineWithoutAGpu) {
  Recorded recorded;
  metrics::Run run = recorded.run();
  run.device.reset();
  EXPECT_THAT(markdown_text(recorded.summary(), {}, run), HasSubstr(", CUDA 13.0, no GPU.\n"));
}

TEST(FailureText, TellsAllThatIsNeededToActOnIt) {
  Recorded recorded;
  const Fact& fact = recorded.judged("tiled", "shared.bank_conflicts", "");
  expect_golden(failure_text(fact, "warpgauge-check --gtest_filter='x'"), "failure.txt");
}

TEST(FailureText, OfAnErrorTellsTheReason) {
  Recorded recorded;
  expect_golden(failure_text(recorded.wrong_result("padded"), "ci/gate"), "error.txt");
}

TEST(FailureText, TellsDoubtThatTheBudgetFileAccepts) {
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
  EXPECT_THAT(failure_text(fact, ""), HasSubstr("  at       no/such/file.cu:2: \n"));
}

TEST(TerminalText, TableIsAtMostEightyColumnsWide) {
  Recorded recorded = one_of_each();
  for (metrics::StoredFact& stored : recorded.facts) stored.fact.id.family = "eighteen_characters";
  const std::vector<std::string> lines = lines_of(terminal_text(recorded.summary(), {}, false));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(lines.at(i).size(), 80u) << lines[i];
  EXPECT_THAT(lines.at(2), StartsWith("total "));
}

TEST(TerminalText, HasColourOnlyWhenAsked) {
  const Summary good = Recorded().summary(), bad = one_of_each().summary();
  EXPECT_THAT(terminal_text(good, {}, false), Not(HasSubstr("\033")));
  EXPECT_THAT(terminal_text(bad, {}, false), Not(HasSubstr("\033")));
  EXPECT_THAT(terminal_text(good, {}, true),
              EndsWith("\n\033[1;32mPASS: 13 values within budget\033[0m\n"));
  EXPECT_THAT(terminal_text(bad, {}, true), HasSubstr("\n\033[1;31mERROR: "));
  EXPECT_THAT(markdown_text(bad, {}, {}), Not(HasSubstr("\033")));
}

std::string last_line(const Summary& summary, const Requirements& requirements) {
  return lines_of(terminal_text(summary, requirements, false)).back();
}

TEST(Headline, SaysWhatDecided) {
  EXPECT_EQ(last_line(Summary({}), {}), "ERROR: nothing was judged");
  Recorded recorded;
  recorded.judged("naive", "global.excess_sectors", "[default]\n\"global.excess_sectors\" = 1e6\n");
  EXPECT_EQ(last_line(recorded.summary(), {}), "PASS: 13 values within budget");
  EXPECT_EQ(last_line(recorded.summary(), kStrict), "FAIL: 1 value better than budget (--strict)");
  recorded.judged("tiled", "shared.bank_ways", "[default]\n\"shared.bank_ways\" = 1\n");
  EXPECT_EQ(last_line(recorded.summary(), kStrict), "FAIL: 1 value over budget");
}

TEST(Headline, CountsCasesInErrorNotFacts) {
  Recorded recorded;
  recorded.wrong_result("padded");
  recorded.at("padded", "spill.store_bytes").verdict = Verdict::error;
  EXPECT_EQ(last_line(recorded.summary(), {}), "ERROR: 1 case could not be judged");
}

TEST(Headline, SaysWhatWasLost) {
  const Recorded recorded;
  const Summary one(recorded.facts, {"a graph of\nnobody's"});
  EXPECT_EQ(last_line(one, {}), "NOT MEASURED: a graph of nobody's");
  EXPECT_THAT(markdown_text(one, {}, {}), HasSubstr("## Unmeasured\n\n- a graph of"));
  const Summary two(recorded.facts, {"a graph", "a launch"});
  EXPECT_EQ(last_line(two, {}), "NOT MEASURED: 2 things, see above");
  EXPECT_THAT(terminal_text(two, {}, false), HasSubstr("\na graph\n\na launch\n\nNOT MEASURED"));
}

TEST(Headline, CountsOfWhatIsMissingWhatWasAskedFor) {
  Recorded recorded;
  recorded.at("naive", "time.median_us").verdict = Verdict::unmeasured;
  recorded.at("naive", "spill.store_bytes").verdict = Verdict::unmeasured;
  EXPECT_EQ(last_line(recorded.summary(), {}), "PASS: 12 values within budget, 2 unmeasured");
  EXPECT_EQ(last_line(recorded.summary(), kCupti),
            "NOT MEASURED: 1 value that --require or --device asks for");
}

/// Every place that text from outside can come through: what a kernel throws, where a source lies,
/// what a facts file says of device, commit and architecture.
struct Hostile {
  static constexpr std::string_view kText =
      "\033]0;owned\a\033[2J\r\n\n# PASS | <script>alert(1)</script> `code` ![x](http://e) *b* "
      "\xc2\x9b"
      "31m \x7f $x$ &amp;";
  Recorded recorded = one_of_each();
  metrics::Run run = recorded.run();

  Hostile() {
    for (metrics::StoredFact& stored : recorded.facts) {
      Fact& fact = stored.fact;
      for (std::string* text : {&fact.reason, &fact.file, &fact.arch, &fact.budget,
                                &fact.budget_reason, &fact.kernel, &fact.confidence_reason}) {
        *text = kText;
      }
      if (std::holds_alternative<std::string>(fact.value)) fact.value = std::string(kText);
    }
    run.device->name = run.device->driver = run.device->compute_capability = kText;
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
  const Recorded honest = one_of_each();
  const std::string text = terminal_text(hostile.recorded.summary(), kStrict, false);
  expect_no_control_characters(text);
  EXPECT_THAT(text, HasSubstr(R"(\x1b]0;owned\x07\x1b[2J   # PASS |)")) << "shown, not obeyed";
  EXPECT_THAT(lines_of(text), Each(Not(StartsWith("# PASS")))) << "no line of their own";
  EXPECT_EQ(lines_of(text).back(), "ERROR: 1 case could not be judged");
}

TEST(HostileNames, KeepOtherLettersAsTheyAre) {
  Recorded recorded;
  Fact& fact = recorded.wrong_result("padded");
  fact.reason = "größer als 2 µs — 核";
  EXPECT_THAT(failure_text(fact, ""), HasSubstr("  reason   größer als 2 µs — 核\n"));
}

TEST(HostileNames, AreNoMarkup) {
  const Hostile hostile;
  const std::string text = markdown_text(hostile.recorded.summary(), kStrict, hostile.run);
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
}  // namespace warpgauge
