// Facts: their names, their JSON, and the schema they keep to.
#include "metrics/fact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/catalog.h"

namespace warpgauge::metrics {
namespace {

using nlohmann::ordered_json;

ordered_json schema() {
  std::ifstream file(std::filesystem::path(WARPGAUGE_TEST_DATA) / "../../metrics/fact.schema.json");
  return ordered_json::parse(file);
}

Fact fact(std::string metric, Value value) {
  return {.id = {"transpose", "tiled", "f32", "64x64"},
          .metric = std::move(metric),
          .value = std::move(value)};
}

std::vector<std::string> keys(const ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, member] : object.items()) keys.push_back(key);
  return keys;
}

TEST(CaseId, IsOneString) {
  const CaseId id = {"transpose", "tiled", "f32", "64x64"};
  EXPECT_EQ(id.str(), "transpose.tiled.f32@64x64");
  EXPECT_EQ(id.variant_type(), "tiled.f32");
}

TEST(Verdict, NamesReadBack) {
  const ordered_json contract = schema();
  for (const auto& name : contract["properties"]["verdict"]["enum"]) {
    if (name.is_null()) continue;
    const std::optional<Verdict> verdict = verdict_from(name.get<std::string>());
    ASSERT_TRUE(verdict) << name;
    EXPECT_EQ(to_string(*verdict), name.get<std::string>());
  }
  EXPECT_FALSE(verdict_from("Pass"));
  EXPECT_FALSE(verdict_from(""));
}

TEST(ToJson, HasTheKeysOfTheSchemaInItsOrder) {
  metrics::Run run;
  run.device = Device{};
  Fact one = fact("registers", 32.0);
  one.launch = Launch{};
  one.machine = MachineState{};
  const ordered_json json = to_json(one, run), contract = schema();
  EXPECT_EQ(ordered_json(keys(json)), contract["required"]);
  EXPECT_EQ(keys(json), keys(contract["properties"]));
  for (const char* part : {"device", "launch", "machine"}) {
    EXPECT_EQ(ordered_json(keys(json[part])), contract["properties"][part]["required"]);
    EXPECT_EQ(keys(json[part]), keys(contract["properties"][part]["properties"]));
  }
  EXPECT_EQ(contract["properties"]["schema"]["const"], kFactSchema);
}

TEST(Schema, KnowsTheMetricsOfTheCatalogWithTheirUnits) {
  const ordered_json contract = schema();
  std::vector<std::string> ids;
  for (const Metric& row : catalog()) ids.emplace_back(row.id);
  EXPECT_EQ(contract["properties"]["metric"]["enum"], ids)
      << "metrics/fact.schema.json lists the metrics of metrics/catalog.cpp: change both";
  std::map<std::string, std::string> units;
  for (const auto& rule : contract["allOf"]) {
    const auto unit = rule["then"]["properties"].find("unit");
    if (unit == rule["then"]["properties"].end()) continue;
    for (const auto& id : rule["if"]["properties"]["metric"]["enum"]) units[id] = (*unit)["const"];
  }
  for (const Metric& row : catalog()) EXPECT_EQ(units[std::string(row.id)], row.unit) << row.id;
  EXPECT_EQ(units.size(), catalog().size());
}

TEST(Schema, KnowsWhichMetricsAreWords) {
  const ordered_json contract = schema();
  std::set<std::string> words;
  for (const auto& rule : contract["allOf"]) {
    if (!rule["then"]["properties"].contains("value")) continue;
    for (const auto& id : rule["if"]["properties"]["metric"]["enum"]) words.insert(id);
  }
  for (const Metric& row : catalog()) {
    EXPECT_EQ(words.contains(std::string(row.id)), is_word(row)) << row.id;
  }
}

TEST(ToJson, EmptyMembersAreNull) {
  const ordered_json json = to_json(fact("registers", {}), metrics::Run{});
  for (const char* key : {"commit",      "toolkit",   "flags",      "device",
                          "arch",        "source",    "confidence", "confidence_reason",
                          "kernel",      "launch",    "machine",    "value",
                          "interval",    "file",      "line",       "sass_hash",
                          "source_hash", "code_hash", "budget",     "budget_reason",
                          "reason"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["verdict"], "unbudgeted");
  EXPECT_EQ(json["unit"], "registers/thread");
  EXPECT_EQ(json["scope"], "case");
}

TEST(ToJson, VerdictOfALineIsNull) {
  Fact of_line = fact("registers", 32.0);
  of_line.scope = Scope::line;
  EXPECT_TRUE(to_json(of_line, {})["verdict"].is_null());
  EXPECT_EQ(to_json(of_line, {})["scope"], "line");
}

TEST(ToJson, WholeNumbersHaveNoPoint) {
  const auto value = [](double number) {
    return to_json(fact("dram.bytes", number), {})["value"].dump();
  };
  EXPECT_EQ(value(0), "0");
  EXPECT_EQ(value(31744), "31744");
  EXPECT_EQ(value(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(value(4.125), "4.125");
  EXPECT_EQ(value(0.1), "0.1");
  EXPECT_EQ(value(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(value(-std::numeric_limits<double>::infinity()), "null");
}

TEST(ToJson, UnknownMetricThrows) {
  EXPECT_THROW(to_json(fact("colour", 1.0), {}), std::out_of_range);
}

}  // namespace
}  // namespace warpgauge::metrics
