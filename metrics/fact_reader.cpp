// Reads facts back and checks them against the schema, by hand.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "metrics/catalog.h"
#include "metrics/fact.h"
#include "metrics/fact_members.h"
#include "metrics/nearest.h"

namespace warpgauge::metrics {
namespace {

using nlohmann::json;

bool is_time(std::string_view text) {
  constexpr std::string_view kPattern = "dddd-dd-ddTdd:dd:ddZ";
  return std::ranges::equal(text, kPattern, [](unsigned char c, char pattern) {
    return pattern == 'd' ? std::isdigit(c) != 0 : c == static_cast<unsigned char>(pattern);
  });
}

std::optional<Device> read_device(json member) {
  if (member.is_null()) return std::nullopt;
  if (!member.is_object()) throw MalformedFact("key 'device' must be an object or null");
  Members members(std::move(member), "device.");
  Device device{.name = members.text("name"),
                .chip = members.text_or_null("chip"),
                .compute_capability = members.text_or_null("compute_capability"),
                .driver = members.text_or_null("driver"),
                .uuid_hash = members.text_or_null("uuid_hash"),
                .sm_clock_mhz = members.whole_or_null("sm_clock_mhz"),
                .memory_clock_mhz = members.whole_or_null("memory_clock_mhz")};
  members.end();
  return device;
}

std::optional<Launch> read_launch(json member) {
  if (member.is_null()) return std::nullopt;
  if (!member.is_object()) throw MalformedFact("key 'launch' must be an object or null");
  Members members(std::move(member), "launch.");
  Launch launch{.grid = members.extent("grid"),
                .block = members.extent("block"),
                .dynamic_shared_bytes = members.whole<std::uint64_t>("dynamic_shared_bytes", 0),
                .count = members.whole<std::uint64_t>("count", 1)};
  members.end();
  return launch;
}

/// Two whole numbers, of which each may be null.
std::array<int, 2> read_pair(Members& members, std::string_view key) {
  const json member = members.take(key);
  if (!member.is_array() || member.size() != 2) members.fail(key, "must be two whole numbers");
  Members parts(json{{"0", member[0]}, {"1", member[1]}}, fmt::format("machine.{}.", key));
  return {parts.whole_or_null("0"), parts.whole_or_null("1")};
}

std::optional<MachineState> read_machine(json member) {
  if (member.is_null()) return std::nullopt;
  if (!member.is_object()) throw MalformedFact("key 'machine' must be an object or null");
  Members members(std::move(member), "machine.");
  MachineState machine{.sm_clock_mhz = read_pair(members, "sm_clock_mhz"),
                       .memory_clock_mhz = read_pair(members, "memory_clock_mhz"),
                       .temperature_c = read_pair(members, "temperature_c")};
  const json words = members.take("throttling");
  const bool texts = words.is_array() && std::ranges::all_of(words, [](const json& word) {
                       return word.is_string() && word != "";
                     });
  if (!texts) members.fail("throttling", "must be a list of texts");
  machine.throttling = words.get<std::vector<std::string>>();
  machine.other_processes = members.whole_or("other_processes", 0, -1);
  machine.disturbance = members.text_or_null("disturbance");
  members.end();
  return machine;
}

std::optional<Interval> read_interval(Members& members) {
  const json member = members.take("interval");
  if (member.is_null()) return std::nullopt;
  if (!member.is_array() || member.size() != 2 || !member[0].is_number() ||
      !member[1].is_number() || member[0].get<double>() > member[1].get<double>()) {
    members.fail("interval", "must be two numbers, the lower first");
  }
  return Interval{member[0].get<double>(), member[1].get<double>()};
}

Run read_run(Members& members) {
  Run run{.id = members.text("run"),
          .time = members.text("time"),
          .commit = members.text_or_null("commit"),
          .toolkit = members.text_or_null("toolkit"),
          .flags = members.text_or_null("flags"),
          .dirty = members.truth("dirty"),
          .device = read_device(members.take("device"))};
  if (!is_time(run.time)) members.fail("time", "must read like 2026-05-01T23:00:00Z");
  return run;
}

CaseId read_id(Members& members) {
  const CaseId id{.family = members.text("family"),
                  .variant = members.text("variant"),
                  .type = members.text("type"),
                  .size = members.text("size")};
  const std::string whole = members.text("id");
  if (whole != id.str()) {
    members.fail("id", fmt::format("is '{}', but its parts say '{}'", whole, id.str()));
  }
  return id;
}

/// Reads verdict (by scope), metric, unit and value, which depend on each other in this order.
void read_measurement(Members& members, Fact& fact) {
  const std::string verdict = members.text_or_null("verdict");
  if (verdict.empty() != (fact.scope == Scope::line)) {
    members.fail("verdict", "must be null for a line and nothing else");
  }
  if (!verdict.empty()) {
    const std::optional<Verdict> known = verdict_from(verdict);
    if (!known) members.fail("verdict", "has the unknown word '" + verdict + "'");
    fact.verdict = *known;
  }
  fact.metric = members.text("metric");
  const std::string unit = members.text("unit");
  const json value = members.take("value");
  const Metric* row = find_metric(fact.metric);
  if (!row) {
    std::vector<std::string> ids;
    for (const Metric& known : catalog()) ids.emplace_back(known.id);
    members.fail("metric", fmt::format("is the unknown metric '{}'{}", fact.metric,
                                       did_you_mean(fact.metric, ids)));
  }
  if (unit != row->unit) {
    members.fail("unit", fmt::format("is '{}', but {} has '{}'", unit, row->id, row->unit));
  }
  if (value.is_null()) return;
  if (is_word(*row) ? !value.is_string() || value == "" : !value.is_number()) {
    members.fail("value", is_word(*row) ? "must be a word or null" : "must be a number or null");
  }
  fact.value = is_word(*row) ? Value(value.get<std::string>()) : Value(value.get<double>());
}

/// Whoever is not sure must say why.
void read_confidence(Members& members, Fact& fact) {
  fact.confidence = members.one_of_or_null("confidence", {"exact", "predicted", "estimate"});
  fact.confidence_reason = members.text_or_null("confidence_reason");
  const bool sure = fact.confidence.empty() || fact.confidence == "exact";
  if (sure != fact.confidence_reason.empty()) {
    members.fail("confidence_reason",
                 sure ? "must be null where the value is exact or was not measured"
                      : "must say why the value is not exact");
  }
}

StoredFact read_fact(const std::string& line) {
  // The parser would skip a byte order mark, before every line.
  json object = line.starts_with("\xEF\xBB\xBF") ? json(json::value_t::discarded)
                                                 : json::parse(line, nullptr, false);
  if (!object.is_object()) throw MalformedFact("not a JSON object");
  Members members(std::move(object), "");
  if (const json schema = members.take("schema"); schema != kFactSchema) {
    members.fail("schema",
                 fmt::format("is {}, this reader knows '{}'", schema.dump(), kFactSchema));
  }
  StoredFact stored;
  stored.run = read_run(members);
  Fact& fact = stored.fact;
  fact.id = read_id(members);
  fact.arch = members.text_or_null("arch");
  fact.source = members.one_of_or_null("source", {"ptxas", "cupti", "emulator", "harness"});
  read_confidence(members, fact);
  fact.scope =
      members.one_of("scope", {"case", "line"}) == "line" ? Scope::line : Scope::whole_case;
  fact.kernel = members.text_or_null("kernel");
  fact.launch = read_launch(members.take("launch"));
  fact.machine = read_machine(members.take("machine"));
  read_measurement(members, fact);
  fact.interval = read_interval(members);
  fact.file = members.text_or_null("file");
  fact.line = members.whole_or_null("line");
  fact.sass_hash = members.text_or_null("sass_hash");
  fact.source_hash = members.text_or_null("source_hash");
  fact.code_hash = members.text_or_null("code_hash");
  fact.budget = members.text_or_null("budget");
  fact.budget_reason = members.text_or_null("budget_reason");
  fact.reason = members.text_or_null("reason");
  members.end();
  return stored;
}

}  // namespace

std::vector<StoredFact> read_facts(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  const auto refuse = [&] {
    throw FactError(fmt::format("{}: cannot be read: {}", path.string(),
                                std::generic_category().message(errno)));
  };
  if (!file) refuse();
  std::vector<StoredFact> facts;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // no newline: torn by a crash
    try {
      facts.push_back(read_fact(line));
    } catch (const MalformedFact& error) {
      throw FactError(fmt::format("{}:{}: {}", path.string(), number, error.what()));
    }
  }
  if (file.bad()) refuse();  // such as a folder
  return facts;
}

}  // namespace warpgauge::metrics
