// results.json: what stands in it, and that it keeps to harness/outcome/results.schema.json.
#include "harness/outcome/results_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/outcome/recorded_run.h"
#include "tests/harness/outcome_facts.h"

namespace warpgauge::outcome::results_json_test {
namespace {

using metrics::Fact;
using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsSupersetOf;
using enum metrics::Verdict;

std::vector<std::string> keys(const ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, member] : object.items()) keys.push_back(key);
  return keys;
}

/// The schema, with the references that stand for parts of it.
class Schema {
 public:
  Schema() {
    std::ifstream file(std::filesystem::path(WARPGAUGE_TEST_DATA) /
                       "../../harness/outcome/results.schema.json");
    all_ = ordered_json::parse(file);
  }

  void expect_fit(const ordered_json& object) const { expect_fit(object, all_, "results"); }

 private:
  const ordered_json& resolved(const ordered_json& part) const {
    if (!part.contains("$ref")) return part;
    const auto path = part["$ref"].get<std::string>().substr(1);  // behind the #
    return all_.at(nlohmann::json_pointer<std::string>(path));
  }

  /// Members of the schema only, in its order, and all that are required.
  void expect_fit(const ordered_json& part, const ordered_json& of, const std::string& path) const {
    const ordered_json& contract = resolved(of);
    if (part.is_array()) {
      for (const ordered_json& item : part) expect_fit(item, contract["items"], path + "[]");
    }
    if (!part.is_object() || !contract.contains("properties")) return;
    std::vector<std::string> known = keys(contract["properties"]);
    std::erase_if(known, [&](const std::string& key) { return !part.contains(key); });
    EXPECT_EQ(keys(part), known) << path;
    EXPECT_THAT(keys(part), IsSupersetOf(contract["required"].get<std::vector<std::string>>()));
    for (const auto& [key, member] : part.items()) {
      if (contract["properties"].contains(key)) {
        expect_fit(member, contract["properties"][key], path + "." + key);
      }
    }
  }

  ordered_json all_;
};

/// Something of everything: values over budget on lines and architectures, an error, a time, one
/// that moved, one that is not sure, and one that is missing.
std::vector<Fact> some_of_everything() {
  const Fact worst = on(beyond(64, 0, "shared.bank_conflicts"), "sm_90");
  Fact time = on(beyond(12, 10, "time.median_us"), "sm_90");
  time.verdict = moved;
  time.cause = "environment";
  time.interval = metrics::Interval{11, 13};
  time.confidence = "estimate";
  time.confidence_reason = "times differ";
  Fact unsure = on(beyond(8, 0, "local.sectors"), "sm_90");
  unsure.verdict = unmeasured;
  unsure.would = fail;
  unsure.confidence = "predicted";
  unsure.confidence_reason = "no machine code";
  unsure.reason = "local.sectors is 8 (predicted)";
  Fact free = on(fact(unbudgeted, "instructions"), "sm_90");
  free.value = 100.0;
  Fact word = on(fact(pass, "occupancy.limiter"), "sm_90");
  word.value = "warps";
  word.limit = metrics::Limit{.equal = "warps", .origin = "budgets.toml:2"};
  metrics::CaseContext context{.kind = metrics::CaseKind::measured,
                               .device = "NVIDIA H100",
                               .kernels = {{.name = "_Z4copyPi"}},
                               .file = "family.cu",
                               .line = 5};
  std::vector<Fact> facts = {
      worst,
      of_line(worst, 7, 48),
      of_line(worst, 9, 16),
      on(beyond(32, 0, "shared.bank_conflicts"), "sm_80"),
      on(because(fact(error, "result.correct", "padded"), "element 3 is nan"), "sm_90"),
      time,
      unsure,
      free,
      word,
      on(because(fact(unmeasured, "dram.bytes"), "no counters"), "sm_90")};
  for (Fact& fact : facts) {
    fact.context = std::make_shared<const metrics::CaseContext>(context);
    fact.kernel = "_Z4copyPi";
  }
  return facts;
}

Outcome everything() {
  std::vector<metrics::StoredRun> runs;
  runs.push_back(run_of(some_of_everything()));
  runs[0].run.devices = {{.name = "NVIDIA H100"}};
  runs[0].run.asked.require = {"cupti"};
  return Outcome(std::move(runs), {.requirements = {.cupti = true},
                                   .lost = {"a graph"},
                                   .left_out = {"2 cases of --large"},
                                   .remarks = {"no finding needed a waiver"}});
}

TEST(ResultsJson, KeepsToItsSchema) {
  const Schema schema;
  schema.expect_fit(results_json(everything()));
  schema.expect_fit(results_json(everything(), true));
  schema.expect_fit(results_json(outcome_of({})));
}

TEST(ResultsJson, HasTheOutcome) {
  const ordered_json results = results_json(everything());
  EXPECT_EQ(results["schema"], "warpgauge.results/1");
  EXPECT_EQ(results["status"], "error");
  EXPECT_EQ(results["exit_code"], 2);
  EXPECT_EQ(results["headline"], "ERROR: 1 case could not be judged, 2 values over budget");
  EXPECT_EQ(results["cases_total"], 2);
  EXPECT_EQ(results["checks"], 7);
  EXPECT_EQ(results["counts"].dump(),
            R"({"error":1,"fail":2,"moved":1,"pass":1,"unbudgeted":1,"unmeasured":2})");
  EXPECT_EQ(results["lost"], ordered_json{"a graph"});
  EXPECT_EQ(results["left_out"], ordered_json{"2 cases of --large"});
  EXPECT_EQ(results["remarks"], ordered_json{"no finding needed a waiver"});
  EXPECT_EQ(results["units"]["registers"], "registers/thread");
  EXPECT_EQ(results["runs"][0]["asked"]["require"], ordered_json{"cupti"});
  EXPECT_EQ(results["families"][0]["counts"], results["counts"]);
}

TEST(ResultsJson, StatusIsTheExitCode) {
  EXPECT_EQ(results_json(outcome_of({fact(pass)}))["status"], "pass");
  EXPECT_EQ(results_json(outcome_of({fact(fail)}))["status"], "fail");
  EXPECT_EQ(results_json(outcome_of({fact(pass)}, {}, {"a graph"}))["status"], "not measured");
}

TEST(ResultsJson, FindingsAreTheWorstFirst) {
  const ordered_json results = results_json(everything());
  std::vector<std::string> order;
  for (const ordered_json& finding : results["findings"]) {
    order.push_back(finding["metric"].get<std::string>() + " " +
                    finding["arch"].get<std::string>() +
                    (finding["wrong"] == true ? " wrong" : ""));
  }
  EXPECT_THAT(order, ElementsAre("result.correct sm_90 wrong", "shared.bank_conflicts sm_90 wrong",
                                 "shared.bank_conflicts sm_80 wrong", "local.sectors sm_90 wrong",
                                 "time.median_us sm_90"));
}

TEST(ResultsJson, AFindingIsAValueByItselfAndNamesItsGroup) {
  const ordered_json findings = results_json(everything())["findings"];
  const ordered_json &conflicts = findings[1], &other = findings[2];
  EXPECT_EQ(conflicts["value"].dump(), "64");
  EXPECT_EQ(conflicts["kernel"], "copy(int*)");
  EXPECT_EQ(conflicts["blame"].dump(), R"([{"file":"family.cu","line":7,"value":48,"share":0.75},)"
                                       R"({"file":"family.cu","line":9,"value":16,"share":0.25}])");
  EXPECT_EQ(conflicts["limit"].dump(), R"({"max":0,"origin":"budgets.toml:1"})");
  EXPECT_EQ(other["value"].dump(), "32");
  EXPECT_EQ(other["blame"].dump(), R"([{"file":"family.cu","line":7}])");
  EXPECT_THAT(other["text"].get<std::string>(),
              testing::StartsWith("FAIL transpose.tiled.f32@64x64 on sm_80: "));
  EXPECT_EQ(other["group"], conflicts["group"]);
  EXPECT_NE(findings[3]["group"], conflicts["group"]);
}

TEST(ResultsJson, ABlamedLineHasItsValueHoweverSmall) {
  const Fact fact = beyond(0.5, 0, "shared.bank_conflicts");
  const ordered_json results = results_json(outcome_of({fact, of_line(fact, 7, 0.5)}));
  EXPECT_EQ(results["findings"][0]["blame"].dump(),
            R"([{"file":"family.cu","line":7,"value":0.5,"share":1.0}])");
}

TEST(ResultsJson, AFileKeepsLettersAsTheyAre) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "warpgauge_letters.json";
  Fact value = fact(error, "result.correct");
  value.reason = "größer";
  write_results(outcome_of({value}), path);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, testing::HasSubstr("größer"));
  EXPECT_TRUE(text.ends_with("}\n"));
  std::filesystem::remove(path);
}

TEST(ResultsJson, ValuesOfCasesHaveATextForPeopleOnlyWhereItSaysLess) {
  Fact time = on(beyond(12.3456789, 10, "time.median_us"), "sm_90");
  const ordered_json results = results_json(outcome_of({time, on(beyond(64, 32), "sm_90")}));
  const ordered_json& values = results["cases"][0]["values"];
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0]["metric"], "registers");
  EXPECT_FALSE(values[0].contains("value_text"));
  EXPECT_EQ(values[1]["value"], 12.3456789);
  EXPECT_EQ(values[1]["value_text"], "12.3457 us");
}

TEST(ResultsJson, ValuesOfCasesAreThoseThatMatterOrAll) {
  const auto metrics_of = [](bool every_value) {
    std::vector<std::string> metrics;
    const ordered_json results = results_json(everything(), every_value);
    for (const ordered_json& test_case : results["cases"]) {
      if (test_case["arch"] != "sm_90" || test_case["variant"] != "tiled") continue;
      for (const ordered_json& value : test_case["values"]) metrics.push_back(value["metric"]);
    }
    return metrics;
  };
  EXPECT_THAT(metrics_of(false), ElementsAre("shared.bank_conflicts", "local.sectors", "dram.bytes",
                                             "time.median_us", "occupancy.limiter"));
  EXPECT_THAT(metrics_of(true), testing::Contains("instructions"));
}

TEST(ResultsJson, ATimeNeedsNoBudgetToBeListed) {
  Fact time = on(fact(unbudgeted, "time.median_us"), "sm_90");
  time.value = 12.5;
  const ordered_json results = results_json(outcome_of({time, on(fact(pass), "sm_90")}));
  const ordered_json& values = results["cases"][0]["values"];
  EXPECT_THAT(values, testing::Contains(testing::ResultOf(
                          [](const ordered_json& value) { return value["metric"]; },
                          ordered_json("time.median_us"))));
}

TEST(ResultsJson, CasesAreTheWorstFirst) {
  const ordered_json cases = results_json(everything())["cases"];
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0]["case"], "transpose.padded.f32@64x64");
  EXPECT_EQ(cases[0]["verdict"], "error");
  EXPECT_EQ(cases[1]["arch"], "sm_90");
  EXPECT_EQ(cases[2]["arch"], "sm_80");
  EXPECT_EQ(cases[1]["device"], "NVIDIA H100");
  EXPECT_EQ(cases[1]["line"], 5);
  EXPECT_EQ(cases[1]["values"][0]["line"], 7) << "other than that of the case";
}

TEST(ResultsJson, AFingerprintOutlivesTheLineNumberAndTheValue) {
  const auto fingerprint = [](const Fact& fact) {
    return results_json(outcome_of({fact}))["findings"][0]["fingerprint"];
  };
  const Fact fact = on(beyond(33, 32), "sm_90");
  EXPECT_EQ(fingerprint(fact), fingerprint(at(on(beyond(40, 32), "sm_90"), "family.cu", 70)));
  EXPECT_NE(fingerprint(fact), fingerprint(on(beyond(33, 32, "instructions"), "sm_90")));
  EXPECT_NE(fingerprint(fact), fingerprint(on(beyond(33, 32), "sm_90", "1x1")));
}

}  // namespace
}  // namespace warpgauge::outcome::results_json_test
