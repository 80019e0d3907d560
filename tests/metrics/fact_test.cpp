// Facts: their names, their records as JSON, and the schema that these keep to.
#include "metrics/facts/fact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/facts/catalog.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::metrics::fact_test {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsSubsetOf;

/// The schema of a kind of record.
ordered_json schema(const char* record) {
  std::ifstream file(std::filesystem::path(WARPGAUGE_TEST_DATA) /
                     "../../metrics/facts/fact.schema.json");
  return ordered_json::parse(file).at("$defs").at(record);
}

Fact fact(std::string metric, Value value) {
  return {.id = {"transpose", "tiled", "f32", "64x64"},
          .metric = std::move(metric),
          .value = std::move(value)};
}

std::vector<ordered_json> values_json(const std::vector<Fact>& facts) {
  return metrics::values_json(facts, "0123456789ab");
}
ordered_json values_json(const Fact& fact) { return values_json(std::vector{fact}).at(0); }

std::vector<std::string> keys(const ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, member] : object.items()) keys.push_back(key);
  return keys;
}

/// Every member of the schema is there, in its order; and so in the objects inside.
void expect_all_members(const ordered_json& object, const ordered_json& contract) {
  EXPECT_EQ(keys(object), keys(contract["properties"]));
  for (const auto& [key, member] : object.items()) {
    const ordered_json& of_member = contract["properties"][key];
    if (of_member.contains("properties")) expect_all_members(member, of_member);
    if (member.is_array() && !member.empty() && member[0].is_object()) {
      expect_all_members(member[0], of_member["items"]);
    }
  }
}

/// Members without content are absent; the others are the required ones, in the same order.
void expect_required_members(const ordered_json& object, const ordered_json& contract) {
  EXPECT_EQ(ordered_json(keys(object)), contract["required"]);
}

Limit full_limit() {
  return {.max = 2,
          .min = 1,
          .equal = 1.0,
          .tolerance = 0.5,
          .until = std::chrono::year(2027) / 1 / 31,
          .code = "c",
          .reason = "r",
          .of = "ideal",
          .reference = 8,
          .reference_confidence = Confidence::predicted,
          .origin = "budgets.toml:7",
          .gate_on = Confidence::estimate};
}

/// A case with every member.
CaseContext full_context() {
  return {.kind = CaseKind::attached,
          .device = "GPU",
          .kernels = {{"k", "s", "h", {{{2, 1, 1}, {32, 1, 1}, 16, 2, {2, 1, 1}, {{0, 8}}}}}},
          .code_hash = "c",
          .file = "a.cu",
          .line = 1};
}

TEST(CaseId, IsOneString) {
  const CaseId id = {"transpose", "tiled", "f32", "64x64"};
  EXPECT_EQ(id.str(), "transpose.tiled.f32@64x64");
  EXPECT_EQ(id.variant_type(), "tiled.f32");
}

TEST(Verdict, NamesReadBack) {
  const ordered_json contract = schema("values");
  for (const auto& name : contract["properties"]["verdict"]["enum"]) {
    const std::optional<Verdict> verdict = verdict_from(name.get<std::string>());
    ASSERT_TRUE(verdict) << name;
    EXPECT_EQ(to_string(*verdict), name.get<std::string>());
  }
  EXPECT_FALSE(verdict_from("Pass"));
  EXPECT_FALSE(verdict_from(""));
}

TEST(CaseKind, NamesReadBack) {
  const ordered_json contract = schema("case");
  for (const auto& name : contract["properties"]["kind"]["enum"]) {
    const std::optional<CaseKind> kind = case_kind_from(name.get<std::string>());
    ASSERT_TRUE(kind) << name;
    EXPECT_EQ(to_string(*kind), name.get<std::string>());
  }
  EXPECT_FALSE(case_kind_from("run"));
}

TEST(Records, HaveTheMembersOfTheSchemaInItsOrder) {
  const metrics::Run run = {.id = "r",
                            .time = "2026-05-01T23:00:00Z",
                            .command = "gate",
                            .program = "p",
                            .version = "1",
                            .commit = "c",
                            .branch = "b",
                            .label = "l",
                            .toolkit = "13.0",
                            .flags = "-O3",
                            .source_root = "/src",
                            .budgets = "budgets",
                            .devices = {{"n", "c", "9.0", "580", "u", 1, 1}},
                            .asked = {.device = "gpu",
                                      .require = {"cupti"},
                                      .filter = {"*"},
                                      .exclude = {"x"},
                                      .architectures = {"sm_90"},
                                      .strict = true,
                                      .large = true}};
  expect_all_members(run_json(run), schema("run"));
  EXPECT_EQ(run_json(run)["schema"], schema("run")["properties"]["schema"]["const"]);
  Fact value = fact("registers", 32.0);
  value.arch = "sm_90";
  value.context = std::make_shared<const CaseContext>(full_context());
  expect_all_members(case_json(value), schema("case"));
  value.source = "emulator";
  value.scope = Scope::node;
  value.node = 0;
  value.kernel = "other";
  value.file = "b.cu";
  value.line = 2;
  value.inlined = {{"c.h", 3}};
  value.interval = Interval{1, 2};
  value.stable = false;
  value.confidence = "estimate";
  value.confidence_reason = "r";
  value.leaves_out = 1;
  value.machine = MachineState{.other_processes = 0, .disturbance = "d"};
  value.limit = full_limit();
  value.verdict = Verdict::moved;
  value.would = Verdict::fail;
  value.rule = "race";
  value.other = "bfs.cu:12";
  value.cause = "environment";
  value.cure = "c";
  value.reason = "r";
  ordered_json record = values_json(value), of_values = schema("values");
  of_values["properties"].erase("shared");
  expect_all_members(record, of_values);
  const ordered_json shared = metrics::take_shared(record);
  EXPECT_EQ(keys(shared), keys(schema("shared")["properties"]));
  EXPECT_THAT(keys(record), ElementsAre("record", "case", "shared", "values"));
  EXPECT_EQ(record["shared"], shared["shared"]);
}

TEST(Records, ShareWhatIsLongerThanItsName) {
  Fact value = fact("registers", 32.0);
  value.source = "cubin";
  value.verdict = Verdict::pass;
  ordered_json short_one = values_json(value), another = short_one;
  EXPECT_TRUE(metrics::take_shared(another).is_null());
  EXPECT_EQ(another, short_one);
  value.reason = "registers is 32, budget <= 40";
  ordered_json first = values_json(value);
  value.value = 33.0;
  ordered_json second = values_json(value);
  EXPECT_EQ(metrics::take_shared(first), metrics::take_shared(second));
  EXPECT_EQ(first["shared"], second["shared"]);
}

TEST(Records, LeaveOutWhatSaysNothing) {
  const Fact nothing = fact("registers", {});
  expect_required_members(run_json({.id = "r", .time = "t"}), schema("run"));
  expect_required_members(case_json(nothing), schema("case"));
  expect_required_members(values_json(nothing), schema("values"));
  Fact fact = nothing;
  fact.machine = MachineState{};
  EXPECT_EQ(ordered_json(keys(values_json(fact)["machine"])),
            schema("values")["properties"]["machine"]["required"]);
  fact.value = 32.0;
  fact.confidence = "exact";
  EXPECT_THAT(keys(values_json(fact)), testing::Not(testing::Contains("confidence")));
}

TEST(Records, ValuesLeaveOutTheKernelAndTheLineOfTheirCase) {
  Fact value = fact("registers", 32.0);
  value.context = std::make_shared<const CaseContext>(full_context());
  value.kernel = "k";
  value.file = "a.cu";
  value.line = 1;
  EXPECT_THAT(keys(values_json(value)), ElementsAre("record", "case", "values"));
  value.line = 2;
  EXPECT_THAT(keys(values_json(value)), ElementsAre("record", "case", "file", "line", "values"));
}

TEST(CaseJson, IsCalledByItsContent) {
  Fact value = fact("registers", 32.0), other = fact("instructions", 1.0);
  EXPECT_EQ(case_json(value), case_json(other)) << "the value is none of its members";
  EXPECT_THAT(case_json(value)["case"].get<std::string>(), testing::MatchesRegex("[0-9a-f]{12}"));
  other.arch = "sm_90a";
  EXPECT_NE(case_json(value)["case"], case_json(other)["case"]);
}

TEST(LimitJson, BuiltInOnesDoNotRepeatTheirReason) {
  Limit limit{.equal = 0.0, .reason = "a kernel spills no registers"};
  limit.origin = kBuiltInOrigin;
  EXPECT_EQ(limit_json(limit).dump(), R"({"equal":0,"origin":"built-in"})");
}

TEST(Schema, IsClosedAndDescribed) {
  const auto check = [](const auto& self, const ordered_json& part) -> void {
    if (!part.contains("properties")) return;
    EXPECT_EQ(part["additionalProperties"], false) << part;
    EXPECT_THAT(part["required"].get<std::vector<std::string>>(),
                IsSubsetOf(keys(part["properties"])));
    for (const auto& [key, member] : part["properties"].items()) {
      EXPECT_TRUE(member.contains("description") || key == "record" || key == "schema") << key;
      self(self, member);
      if (member.contains("items")) self(self, member["items"]);
    }
  };
  for (const char* record : {"run", "case", "shared", "values", "end"})
    check(check, schema(record));
}

TEST(ValuesJson, WhatDiffersInMetricAndNumberSharesARecord) {
  Fact of_line = fact("instructions", 4.0);
  of_line.scope = Scope::line;
  const auto records = values_json(
      {fact("registers", 32.0), of_line, fact("barriers", {}), fact("registers", 33.0)});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0]["values"].dump(), R"({"registers":32,"barriers":null})");
  EXPECT_EQ(records[1]["values"].dump(), R"({"instructions":4})");
  EXPECT_EQ(records[2]["values"].dump(), R"({"registers":33})") << "a metric has one value";
}

TEST(ValuesJson, ValuesWithAVerdictKeepTheirOrder) {
  const auto judged = [](const char* metric, double limit) {
    Fact value = fact(metric, 0.0);
    value.limit = Limit{.equal = limit, .origin = "budgets.toml:7"};
    value.verdict = limit == 0 ? Verdict::pass : Verdict::fail;
    return value;
  };
  const auto records = values_json({judged("spill.store_bytes", 0), fact("stack.bytes", 0.0),
                                    judged("spill.load_bytes", 0), judged("registers", 20),
                                    fact("barriers", 0.0), judged("local.sectors", 0)});
  std::vector<std::string> values;
  for (const ordered_json& record : records) values.push_back(record["values"].dump());
  EXPECT_THAT(values, ElementsAre(R"({"spill.store_bytes":0,"spill.load_bytes":0})",
                                  R"({"stack.bytes":0,"barriers":0})", R"({"registers":0})",
                                  R"({"local.sectors":0})"));
}

TEST(ValuesJson, WholeNumbersHaveNoPoint) {
  const auto value = [](double number) {
    return values_json(fact("dram.bytes", number))["values"]["dram.bytes"].dump();
  };
  EXPECT_EQ(value(0), "0");
  EXPECT_EQ(value(31744), "31744");
  EXPECT_EQ(value(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(value(4.125), "4.125");
  EXPECT_EQ(value(0.1), "0.1");
  for (const double none :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(value(none), "null") << none;
  }
}

TEST(ValuesJson, UnknownMetricThrows) {
  EXPECT_THROW(values_json(fact("colour", 1.0)), std::out_of_range);
}

TEST(Launch, HasTheWarpsOfAllItsBlocks) {
  EXPECT_EQ((Launch{.grid = {1, 1, 1}, .block = {32, 1, 1}}.warps()), 1u);
  EXPECT_EQ((Launch{.grid = {1, 1, 1}, .block = {33, 1, 1}}.warps()), 2u) << "one has one thread";
  EXPECT_EQ((Launch{.grid = {2, 3, 4}, .block = {8, 4, 3}}.warps()), 2u * 3 * 4 * 3);
  EXPECT_EQ((Launch{.grid = {2, 3, 4}, .block = {8, 4, 3}, .count = 5}.warps()), 5u * 24 * 3);
  EXPECT_EQ((Launch{.grid = {1u << 31, 4, 1}, .block = {1024, 1, 1}}.warps()),
            (std::uint64_t{1} << 33) * 32);
}

}  // namespace
}  // namespace warpgauge::metrics::fact_test
