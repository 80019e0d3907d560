// Every way in which a budget file can be wrong, and what is said about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "metrics/budgets/budget.h"
#include "metrics/budgets/budget_text.h"

namespace warpgauge::metrics::budget_error_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<CaseId> kCases = {{"transpose", "naive", "f32", "64x64"},
                                    {"transpose", "naive", "f32", "1024x1024"},
                                    {"transpose", "tiled", "f64", "64x64"}};

std::string error_of(const std::string& text) {
  try {
    Budgets::parse(text, "budgets.toml", kCases);
  } catch (const BudgetError& error) {
    return error.what();
  }
  return "no error";
}

struct Bad {
  std::string name, text, error;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

const Bad kBad[] = {
    // sections
    {"unknown_variant", "[tilled]",
     ":1:2: no case matches section 'tilled', did you mean 'tiled'?"},
    {"unknown_type", "[\"tiled.f32\"]", ":1:2: no case matches section 'tiled.f32'"},
    {"unknown_size", "[\"naive.f32@65x64\"]", "did you mean 'naive.f32@64x64'?"},
    {"size_of_another_type", "[\"tiled.f64@1024x1024\"]", "There is: tiled.f64@64x64."},
    {"size_without_type", "[\"naive@64x64\"]", "There is: naive.f32."},
    {"family_is_no_section", "[transpose]",
     "There is: default, naive, tiled. If the source has it since the last build, build again."},
    {"default_has_no_types", "[\"default.f32\"]", "There is: default, naive, tiled."},
    {"empty_section_name", "[\"\"]", "no case matches section ''"},
    {"unquoted_section", "[naive.f32]\nregisters = 1", "Write [\"naive.f32\"]."},
    {"outside_of_sections", "registers = 1", ":1:1: 'registers' is outside of a section"},
    {"array_of_tables", "[[default]]\nregisters = 1", "'default' is outside of a section"},
    // counters by their names
    {"counter_without_tolerance", "[tiled]\n\"counter.sm__inst_executed.sum\" = 1",
     ":2:1: 'counter.sm__inst_executed.sum' is noisy: its limit needs a tolerance"},
    {"counter_equal", "[tiled]\n\"counter.sm__inst_executed.sum\" = { equal = 1 }", "is noisy"},
    {"counter_without_rollup", "[tiled]\n\"counter.sm__inst_executed\" = { max = 1 }",
     ":2:1: 'counter.sm__inst_executed' is not the name of a counter"},
    {"counter_of_other_characters", "[tiled]\n\"counter.sm__<b>.sum\" = { max = 1 }",
     "is not the name of a counter"},
    // ratios
    {"ratio_of_no_case", "[tiled]\nregisters = { max = 2, of = \"naiv.f32\" }",
     ":2:29: there is no case 'naiv.f32', did you mean 'naive.f32'?"},
    {"ratio_of_a_variant", "[tiled]\nregisters = { max = 2, of = \"naive\" }",
     "There is: ideal, naive.f32, tiled.f64."},
    {"ratio_without_ideal", "[tiled]\nregisters = { max = 2, of = \"ideal\" }",
     ":2:29: 'registers' has no ideal\n"},
    {"ratio_lists_ideals", "[tiled]\nregisters = { max = 2, of = \"ideal\" }",
     "There is one of: shared.wavefronts, shared.bank_conflicts, global.excess_sectors."},
    {"ratio_of_itself", "[tiled]\nregisters = { max = 2, of = \"tiled.f64\" }",
     "'tiled.f64' would be a multiple of itself"},
    {"ratio_of_a_size_too_few", "[naive]\nregisters = { max = 2, of = \"tiled.f64\" }",
     ":2:29: 'tiled.f64' has no size 1024x1024, and 'naive.f32' has"},
    {"ratio_of_each_other",
     "[tiled]\nregisters = { max = 2, of = \"naive.f32\" }\n"
     "[\"naive.f32@64x64\"]\ninstructions = { max = 2, of = \"tiled.f64\" }",
     ":4:32: 'tiled.f64' and 'naive.f32' are multiples of each other"},
    {"ratio_of_a_number", "[tiled]\nregisters = { max = 2, of = 3 }",
     ":2:29: 'of' must be a text that is not empty"},
    {"ratio_of_a_word", "[tiled]\n\"occupancy.limiter\" = { equal = \"w\", of = \"naive.f32\" }",
     "'occupancy.limiter' is a word and has no 'of'"},
    {"ratio_alone", "[tiled]\nregisters = { of = \"naive.f32\" }", "there is no limit here"},
    {"ratio_with_code",
     "[tiled]\n\"time.median_us\" = { max = 1, tolerance = 0.1, of = \"naive.f32\", code = \"c\" }",
     "'code' is given with 'of'"},
    // gate_on
    {"gate_on_unknown", "gate_on = \"predict\"",
     ":1:11: 'gate_on' has the unknown word 'predict', did you mean 'predicted'?"},
    {"gate_on_empty", "gate_on = \"\"", "'gate_on' has the unknown word ''\n"},
    {"gate_on_number", "gate_on = 1", ":1:11: 'gate_on' must be a word"},
    {"gate_on_misspelt", "gateon = \"exact\"", "outside of a section, did you mean 'gate_on'?"},
    {"gate_on_in_a_section", "[default]\ngate_on = \"estimate\"",
     ":2:1: 'gate_on' is inside a section"},
    {"gate_on_as_a_section", "[gate_on]\nexact = 1", "no case matches section 'gate_on'"},
    // architectures
    {"arch_without_underscore", "[default.sm90]", "'sm90' is not a table of an architecture"},
    {"arch_of_one_digit", "[default.sm_9]", "'sm_9' is not a table of an architecture"},
    {"arch_with_bad_suffix", "[default.sm_90x]", "written as sm_75, sm_90a or sm_100f"},
    {"arch_in_capitals", "[default.SM_90]", "'SM_90' is not a table of an architecture"},
    {"virtual_arch", "[default.compute_90]", "'compute_90' is not a table of an architecture"},
    {"arch_that_never_was", "[default]\n[default.sm_91]\nregisters = 1",
     ":2:10: unknown architecture 'sm_91', did you mean 'sm_90'?"},
    {"arch_unknown", "[default.sm_999]", "unknown architecture 'sm_999'"},
    {"arch_with_an_a_too_early", "[default.sm_75a]",
     "unknown architecture 'sm_75a', did you mean 'sm_75'?"},
    {"arch_with_an_f_too_early", "[default.sm_90f]", "an 'f' from sm_100 on"},
    {"arch_of_the_past", "[default.sm_70a]", "There is: sm_75, sm_80, sm_86,"},
    {"arch_without_table", "[default]\nsm_90 = 3", ":2:1: 'sm_90' is not a table"},
    {"arch_in_arch", "[default.sm_90.sm_75]", "unknown metric 'sm_75'"},
    // metrics
    {"unknown_metric", "[default]\nregister = 1", "'register', did you mean 'registers'?"},
    {"far_metric", "[default]\ncolour = 1", ":2:1: unknown metric 'colour'\n"},
    {"unquoted_metric", "[default]\nspill.load_bytes = 0", "Write it as in \"spill.store_bytes\""},
    {"info_metric", "[default]\n\"shared.raw_bank_conflicts\" = 0", "shown and never judged"},
    {"noise_without_tolerance", "[default]\n\"time.median_us\" = 9", "needs a tolerance"},
    {"noise_tolerance_zero", "[default]\n\"time.median_us\" = { max = 9, tolerance = 0 }",
     "needs a tolerance"},
    // limits
    {"unknown_key", "[default]\nregisters = { mx = 1 }", ":2:15: unknown key 'mx', did you mean"},
    {"empty_limit", "[default]\nregisters = {}", "there is no limit here"},
    {"only_a_reason", "[default]\nregisters = { reason = \"why\" }", "there is no limit here"},
    {"text_for_number", "[default]\nregisters = \"32\"", ":2:13: the limit of 'registers' must be"},
    {"truth_for_number", "[default]\nregisters = true", "must be a number"},
    {"array_for_number", "[default]\nregisters = [1, 2]", "must be a number"},
    {"text_for_max", "[default]\nregisters = { max = \"1\" }", "must be a number"},
    {"negative", "[default]\nregisters = -1", "finite, not negative and at most 2^53"},
    {"infinite", "[default]\nregisters = inf", "finite, not negative and at most 2^53"},
    {"not_a_number", "[default]\nregisters = { equal = nan }", "finite, not negative"},
    {"too_large", "[default]\nregisters = 9007199254740993000", "at most 2^53"},
    {"max_below_min", "[default]\nregisters = { max = 1, min = 2 }", "nothing can pass"},
    {"min_of_nothing", "[default]\nregisters = { min = 0 }", ":2:1: every value is at least 0"},
    {"min_less_all_of_it", "[default]\nregisters = { min = 9, tolerance = 1.0 }",
     "nothing can fail"},
    {"equal_and_max", "[default]\nregisters = { equal = 1, max = 2 }", "given with 'max' or 'min'"},
    {"number_for_word", "[default]\n\"occupancy.limiter\" = 3", "must be a word"},
    {"empty_word", "[default]\n\"occupancy.limiter\" = \"\"", "must be a word"},
    {"max_of_word", "[default]\n\"occupancy.limiter\" = { max = 3 }", "is a word and has no 'max'"},
    {"tolerance_of_word", "[default]\n\"occupancy.limiter\" = { equal = \"a\", tolerance = 0.1 }",
     "is a word and has no tolerance"},
    {"tolerance_in_percent", "[default]\nregisters = { max = 1, tolerance = 5 }",
     "not a tolerance"},
    {"tolerance_negative", "[default]\nregisters = { max = 1, tolerance = -0.1 }",
     "not a tolerance"},
    {"tolerance_nan", "[default]\nregisters = { max = 1, tolerance = nan }", "not a tolerance"},
    {"tolerance_text", "[default]\nregisters = { max = 1, tolerance = \"5\" }", "Write \"5%\""},
    {"tolerance_spelled", "[default]\nregisters = { max = 1, tolerance = \"five%\" }", "\"5%\""},
    {"loosened_without_reason", "[default]\n\"shared.bank_conflicts\" = { equal = 31 }",
     "other than the built-in '= 0' must say why"},
    {"until_without_reason", "[default]\nregisters = { max = 1, until = 2027-01-31 }",
     "a waiver ('until') must say why"},
    {"until_text", "[default]\nregisters = { max = 1, until = \"2027-01-31\", reason = \"a\" }",
     "'until' must be a date"},
    {"until_time", "[default]\nregisters = { max = 1, until = 2027-01-31T00:00:00 }",
     "'until' must be a date"},
    {"until_no_day", "[default]\nregisters = { max = 1, until = 2027-02-30 }", ":2:"},
    {"reason_number", "[default]\nregisters = { max = 1, reason = 3 }", "'reason' must be a text"},
    {"reason_empty", "[default]\nregisters = { max = 1, reason = \"\" }",
     "'reason' must be a text"},
    {"reason_of_spaces", "[default]\nregisters = { max = 1, reason = \" \\t \" }",
     "'reason' must be a text that is not empty"},
    {"reason_of_zero_width", "[default]\nregisters = { max = 1, reason = \"\\u200B \\uFEFF\" }",
     "'reason' must be a text that is not empty"},
    {"reason_of_wide_spaces", "[default]\nregisters = { max = 1, reason = \"\u3000\u00a0\" }",
     "'reason' must be a text that is not empty"},
    {"code_of_exact", "[default]\nregisters = { max = 1, code = \"aa\" }",
     "'registers' is exact: the same code always has the same value"},
    {"code_number", "[default]\n\"time.median_us\" = { max = 1, tolerance = 0.1, code = 3 }",
     "'code' must be a text"},
    // Waivers
    {"waive_number", "[default]\nwaive = 3", "'waive' must be a list of waivers"},
    {"waive_nothing", "[default]\nwaive = []", "'waive' must be a list of waivers"},
    {"waive_words", "[default]\nwaive = [\"race\"]", "a waiver must be a table"},
    {"waive_outside", "waive = [{ rule = \"race\" }]", "'waive' is outside of a section"},
    {"waiver_without_rule", "[default]\nwaive = [{ lines = [\"a.cu:1\"], reason = \"a\" }]",
     "a waiver needs a 'rule'"},
    {"waiver_without_lines", "[default]\nwaive = [{ rule = \"race\", reason = \"a\" }]",
     "a waiver needs 'lines'"},
    {"waiver_without_reason", "[default]\nwaive = [{ rule = \"race\", lines = [\"a.cu:1\"] }]",
     "a waiver must say why"},
    {"waiver_of_a_word", "[default]\nwaive = [{ rule = \"race\", lines = \"a.cu:1\" }]",
     "'lines' must be one or two lines"},
    {"waiver_of_no_line", "[default]\nwaive = [{ lines = [] }]", "'lines' must be one or two"},
    {"waiver_of_three_lines", "[default]\nwaive = [{ lines = [\"a:1\", \"a:2\", \"a:3\"] }]",
     "'lines' must be one or two lines"},
    {"waiver_of_a_file", "[default]\nwaive = [{ lines = [\"a.cu\"] }]", "each as \"file:line\""},
    {"waiver_of_a_file_and_a_colon", "[default]\nwaive = [{ lines = [\"a.cu:\"] }]",
     "each as \"file:line\""},
    {"waiver_of_no_allocation",
     "[default]\nwaive = [{ rule = \"leak\", lines = [\"cudaMalloc #\"] }]",
     "as \"cudaMalloc #3\""},
    {"waiver_of_a_number", "[default]\nwaive = [{ lines = [\":3\"] }]", "each as \"file:line\""},
    {"waiver_of_line_0", "[default]\nwaive = [{ lines = [\"a.cu:0\"] }]", "each as \"file:line\""},
    {"waiver_of_a_place", "[default]\nwaive = [{ lines = [\"a.cu:3x\"] }]",
     "each as \"file:line\""},
    {"waiver_until_text", "[default]\nwaive = [{ until = \"2027-01-31\" }]",
     "'until' must be a date"},
    {"waiver_of_an_empty_rule", "[default]\nwaive = [{ rule = \"\" }]",
     "'rule' must be a text that is not empty"},
    {"waiver_of_no_rule", "[default]\nwaive = [{ rule = \"races\" }]",
     "no check has the rule 'races', did you mean 'race'?"},
    {"waiver_key", "[default]\nwaive = [{ raeson = \"a\" }]",
     "unknown key 'raeson', did you mean 'reason'?"},
    // TOML
    {"duplicate_key", "[default]\nregisters = 1\nregisters = 2", ":3:"},
    {"duplicate_section", "[default]\n[naive]\n[default]", ":3:"},
    {"no_value", "[default]\nregisters =", ":2:"},
    {"unclosed", "[default]\nregisters = { max = 1", ":2:"},
    {"invalid_utf8", "[default]\nregisters = 1 # gr\xFC\xDF", ":2:"},
    {"utf16", "\xFF\xFE[", ":1:1:"},
};

class BudgetErrors : public testing::TestWithParam<Bad> {};

TEST_P(BudgetErrors, SayWhatIsWrongAndWhere) {
  const std::string error = error_of(GetParam().text);
  EXPECT_THAT(error, StartsWith("budgets.toml:"));
  EXPECT_THAT(error, HasSubstr(GetParam().error));
  EXPECT_THAT(error, HasSubstr("^\n  ")) << "a caret and what to do";
  EXPECT_FALSE(error.ends_with("\n  "));
}

INSTANTIATE_TEST_SUITE_P(, BudgetErrors, testing::ValuesIn(kBad),
                         [](const auto& info) { return info.param.name; });

TEST(BudgetError, ShowsBytesThatAreNoCharacterAsQuestionMarks) {
  try {
    BudgetText("x = \xC3,\xE2\x82,\n", "b.toml").fail(1, 1, "problem", "remedy");
  } catch (const BudgetError& error) {
    EXPECT_THAT(error.what(), HasSubstr("\n  x = ?,??,\n"));
  }
}

TEST(BudgetError, ShowsTheLineTheCaretAndTheRemedy) {
  EXPECT_EQ(error_of("[default]\n\t\"größe\" = 1\r\n"),
            "budgets.toml:2:2: unknown metric 'größe'\n"
            "  \t\"größe\" = 1\n"
            "  \t^\n"
            "  `warpgauge metrics` lists them; names with dots need quotes.");
}

TEST(BudgetError, ShowsAHundredCharactersToEachSideOfAnError) {
  const std::string error =
      error_of("[default]\n" + std::string(250, ' ') + "colour = 1 #" + std::string(300, 'x'));
  EXPECT_THAT(error, StartsWith("budgets.toml:2:251: unknown metric 'colour'\n  " +
                                std::string(100, ' ') + "colour = 1 #" + std::string(89, 'x') +
                                "\n  " + std::string(100, ' ') + "^\n"));
}

TEST(BudgetError, SaysWhatToDo) {
  const std::vector<std::pair<std::string, std::string>> remedies = {
      {"\"result.max_error\" = 0", "Take the line out."},
      {"registers = -1", "Write the number of registers/thread that is expected."},
      {"\"occupancy.limiter\" = 3", "Write the expected resource as a string."},
      {"\"occupancy.limiter\" = { equal = \"a\", tolerance = 0.1 }", "Take it out."},
      {"registers = { max = 20, until = \"soon\" }", "Write a date without quotes, such as"},
      {"registers = { max = 20, code = \"aa\" }", "Take 'code' out: it is for times"},
      {"registers = { equal = 20, max = 21 }", "Keep one of them."},
      {"registers = { max = 20, min = 21 }", "Swap them."},
      {"registers = { min = 0 }", "Write a 'min' above 0, or 'max' or 'equal'."},
      {"registers = { max = 20, until = 2027-01-31 }", "Add reason = \"...\"."},
      {"\"shared.bank_conflicts\" = 31", "Write { equal = ..., reason = \"...\" } with the"},
      {"\"time.median_us\" = 10", "Write for example { max = 10, tolerance = \"10%\" }."},
  };
  for (const auto& [line, remedy] : remedies) {
    EXPECT_THAT(error_of("[default]\n" + line), HasSubstr("^\n  " + remedy));
  }
}

TEST(BudgetError, ColumnsAreCountedInCharacters) {
  EXPECT_THAT(error_of("[default]\nregisters = { reason = \"größer\", mx = 1 }"),
              HasSubstr("  registers = { reason = \"größer\", mx = 1 }\n"
                        "                                   ^\n"));
}

TEST(BudgetError, BytesThatAreNoTextAreShownAsQuestionMarks) {
  EXPECT_THAT(error_of("[default]\nregisters = 1 # gr\xFC\xDF"), HasSubstr("= 1 # gr??\n"));
}

TEST(BudgetError, AByteOrderMarkMovesNoColumn) {
  EXPECT_THAT(error_of("\xEF\xBB\xBF[tilled]"), StartsWith("budgets.toml:1:2: no case matches"));
}

TEST(BudgetError, TheFirstInTheFileIsReported) {
  EXPECT_THAT(error_of("[tiled]\nregisters = -1\n[naive]\nregisters = -1"), HasSubstr(":2:13:"));
  EXPECT_THAT(error_of("[naive]\nregisters = 1\n\"constant.bytes\" = -1\nzzz = 1\naaa = 1"),
              HasSubstr(":3:"));
}

TEST(BudgetError, DepthIsRefusedInsteadOfFollowed) {
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "a.";
  for (const std::string& text : {"\n" + deep + "a = 1", "\n[" + deep + "a]\nregisters = 1",
                                  "[default]\nregisters = { " + deep + "a = 1 }"}) {
    EXPECT_THAT(error_of(text), StartsWith("budgets.toml:2:1: more than 100 dots in a line\n"));
  }
  const std::string dots(100, '.');
  EXPECT_EQ(error_of("[default]\nregisters = { reason = '" + dots + "', max = 1 }"), "no error");
}

TEST(BudgetError, LettersBeyondAsciiBelongIntoQuotesAndComments) {
  EXPECT_THAT(error_of("[na\u00efve]\nregisters = 1"), StartsWith("budgets.toml:1:4: "));
  EXPECT_THAT(error_of("# \u00e9\n[default]\nregisters = \u00e9"), StartsWith("budgets.toml:3:"));
  const std::string reason = "[default]\nregisters = { max = 1, reason = ";
  for (const char* wrong : {"'\u00e9\u4e16' \xff }",
                            R"("""\\\)"
                            "\uFEDF\"\"\" }",
                            R"("""\)"
                            "\u00e9\"\"\" }"}) {
    EXPECT_THAT(error_of(reason + wrong), StartsWith("budgets.toml:2:")) << wrong;
  }
  for (const char* fine : {"\"\u00e9\" } # \u4e16", "'''\n\u00e9''' }", R"("""a""""" })",
                           R"("""\\)"
                           "\u00e9\"\"\" }",
                           "\"\"\"a \\\n b\n\u00e9\"\"\" }", "'\\\u00e9' }"}) {
    EXPECT_EQ(error_of(reason + fine), "no error") << fine;
  }
}

TEST(BudgetError, WhatTomlDoesNotExpectIsRefusedWithItsLine) {
  for (const char* line :
       {"[*.f32]", "[ .naive]", "[[=]]", "[[[a]]]", "[#", "[;", "[{}]", " [,",
        "[\x05"
        "default]",
        "registers = 9[\"\u00e9", "registers = 9{\"\u00e9", "registers = 'a''b'"}) {
    EXPECT_THAT(error_of("[default]\nregisters = 1\n" + std::string(line) + "\n[tiled]"),
                StartsWith("budgets.toml:3:"))
        << line;
  }
  EXPECT_THAT(error_of("\n\n[*.f32]"), StartsWith("budgets.toml:3:1: "));
  EXPECT_THAT(error_of("[*.f32]"), StartsWith("budgets.toml:1:1: "));
  EXPECT_THAT(error_of("[default]\nregisters = 1\n[*.f32]\n"),
              StartsWith("budgets.toml:3:1: this line is not TOML\n  [*.f32]\n  ^\n"));
}

/// A search that is quadratic in the name would not end within the time limit of all tests.
TEST(BudgetError, ALongNameIsRefusedInShort) {
  const std::string name(5 << 20, 'x');
  const std::string error = error_of("[" + name + "]\nregisters = 1");
  EXPECT_THAT(error, StartsWith("budgets.toml:1:2: no case matches section 'xxx"));
  EXPECT_LT(error.size(), 2000u);
}

TEST(BudgetError, APipeIsNotWaitedFor) {
  const auto pipe = std::filesystem::path(testing::TempDir()) / "warpgauge_pipe.toml";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  try {
    Budgets::load_unregistered(pipe);
    ADD_FAILURE() << "no error";
  } catch (const BudgetError& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("warpgauge_pipe.toml: cannot be read: it is a pipe; write it to a file first"));
  }
}

TEST(BudgetError, MissingFilesAndFoldersSayWhy) {
  const auto error_of_path = [](const std::filesystem::path& path) -> std::string {
    try {
      Budgets::load(path, path.string(), kCases);
    } catch (const BudgetError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::filesystem::path folder(testing::TempDir());
  EXPECT_THAT(error_of_path(folder / "none.toml"),
              HasSubstr("none.toml: cannot be read: No such file or directory"));
  EXPECT_THAT(error_of_path(folder), HasSubstr("cannot be read: Is a directory"));
}

}  // namespace
}  // namespace warpgauge::metrics::budget_error_test
