// Reads facts back and checks them against the schema, by hand.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "metrics/budget.h"
#include "metrics/catalog.h"
#include "metrics/fact.h"
#include "metrics/fact_members.h"
#include "metrics/nearest.h"

namespace warpgauge::metrics {
namespace {

using nlohmann::json;

/// `d` stands for a digit.
bool has_form(std::string_view text, std::string_view form) {
  return std::ranges::equal(text, form, [](unsigned char c, char pattern) {
    return pattern == 'd' ? std::isdigit(c) != 0 : c == static_cast<unsigned char>(pattern);
  });
}

Device read_device(Members members) {
  Device device{.name = members.text("name"),
                .chip = members.text_or_absent("chip"),
                .compute_capability = members.text_or_absent("compute_capability"),
                .driver = members.text_or_absent("driver"),
                .uuid_hash = members.text_or_absent("uuid_hash"),
                .sm_clock_mhz = members.whole_or_absent("sm_clock_mhz"),
                .memory_clock_mhz = members.whole_or_absent("memory_clock_mhz")};
  members.end();
  return device;
}

Asked read_asked(Members members) {
  Asked asked{.device = members.one_of_or_absent("device", {"auto", "gpu", "emulated"}),
              .require = members.texts_or_absent("require"),
              .filter = members.texts_or_absent("filter"),
              .exclude = members.texts_or_absent("exclude"),
              .architectures = members.texts_or_absent("architectures"),
              .strict = members.truth_or_absent("strict"),
              .large = members.truth_or_absent("large")};
  members.end();
  return asked;
}

Run read_run(Members members) {
  if (const json schema = members.take("schema"); schema != kFactSchema) {
    members.fail("schema",
                 fmt::format("is {}, this reader knows '{}'", schema.dump(), kFactSchema));
  }
  Run run{.id = members.text("run"),
          .time = members.text("time"),
          .command = members.text_or_absent("command"),
          .version = members.text_or_absent("version"),
          .commit = members.text_or_absent("commit"),
          .branch = members.text_or_absent("branch"),
          .label = members.text_or_absent("label"),
          .toolkit = members.text_or_absent("toolkit"),
          .flags = members.text_or_absent("flags"),
          .dirty = members.truth("dirty")};
  if (!has_form(run.time, "dddd-dd-ddTdd:dd:ddZ")) {
    members.fail("time", "must read like 2026-05-01T23:00:00Z");
  }
  for (Members& device : members.objects_or_absent("devices")) {
    run.devices.push_back(read_device(std::move(device)));
  }
  if (members.has("asked")) run.asked = read_asked(members.object("asked"));
  members.end();
  return run;
}

Kernel read_kernel(Members members) {
  Kernel kernel{.name = members.text("name"),
                .sass_hash = members.text_or_absent("sass_hash"),
                .source_hash = members.text_or_absent("source_hash")};
  for (Members& launch : members.objects_or_absent("launches")) {
    kernel.launches.push_back(
        {.grid = launch.extent("grid"),
         .block = launch.extent("block"),
         .dynamic_shared_bytes = launch.has("dynamic_shared_bytes")
                                     ? launch.whole<std::uint64_t>("dynamic_shared_bytes", 1)
                                     : 0,
         .count = launch.has("count") ? launch.whole<std::uint64_t>("count", 2) : 1});
    launch.end();
  }
  members.end();
  return kernel;
}

/// What the values of a case have in common: a fact without a value.
struct ReadCase {
  std::string name;
  Fact fact;
};

ReadCase read_case(Members members) {
  CaseContext context;
  ReadCase one{.name = members.text("case")};
  one.fact.id = {.family = members.text("family"),
                 .variant = members.text("variant"),
                 .type = members.text("type"),
                 .size = members.text("size")};
  if (members.has("kind")) {
    const std::string word = members.text("kind");
    const std::optional<CaseKind> kind = case_kind_from(word);
    if (!kind) members.fail("kind", "has the unknown word '" + word + "'");
    context.kind = *kind;
  }
  one.fact.arch = members.text_or_absent("arch");
  context.device = members.text_or_absent("device");
  for (Members& kernel : members.objects_or_absent("kernels")) {
    context.kernels.push_back(read_kernel(std::move(kernel)));
  }
  context.code_hash = members.text_or_absent("code_hash");
  context.input_hash = members.text_or_absent("input_hash");
  context.carried = members.text_or_absent("carried");
  context.file = members.text_or_absent("file");
  context.line = members.whole_or_absent("line");
  members.end();
  one.fact.file = context.file;
  one.fact.line = context.line;
  if (context.kernels.size() == 1) one.fact.kernel = context.kernels[0].name;
  one.fact.context = std::make_shared<const CaseContext>(std::move(context));
  return one;
}

MachineState read_machine(Members members) {
  MachineState machine{.sm_clock_mhz = members.pair("sm_clock_mhz"),
                       .memory_clock_mhz = members.pair("memory_clock_mhz"),
                       .temperature_c = members.pair("temperature_c"),
                       .throttling = members.texts_or_absent("throttling"),
                       .other_processes = members.whole_or_absent("other_processes", 0, -1),
                       .disturbance = members.text_or_absent("disturbance")};
  members.end();
  return machine;
}

Value read_value(Members& members, std::string_view key, const Metric& metric) {
  const json value = members.take(key);
  if (is_word(metric) ? !value.is_string() || value == "" : !value.is_number()) {
    members.fail(key, fmt::format("must be a {}", is_word(metric) ? "word" : "number"));
  }
  return is_word(metric) ? Value(value.get<std::string>()) : Value(value.get<double>());
}

std::chrono::year_month_day read_date(Members& members, std::string_view key) {
  const std::string text = members.text(key);
  if (!has_form(text, "dddd-dd-dd")) members.fail(key, "must read like 2027-01-31");
  return std::chrono::year(std::stoi(text.substr(0, 4))) /
         std::chrono::month(static_cast<unsigned>(std::stoi(text.substr(5, 2)))) /
         std::chrono::day(static_cast<unsigned>(std::stoi(text.substr(8, 2))));
}

Limit read_limit(Members members, const Metric& metric) {
  Limit limit;
  if (members.has("max")) limit.max = members.number("max");
  if (members.has("min")) limit.min = members.number("min");
  if (members.has("equal")) limit.equal = read_value(members, "equal", metric);
  if (members.has("tolerance")) limit.tolerance = members.number("tolerance");
  if (members.has("until")) limit.until = read_date(members, "until");
  limit.code = members.text_or_absent("code");
  limit.of = members.text_or_absent("of");
  limit.reason = members.text_or_absent("reason");
  limit.origin = members.text("origin");
  if (limit.origin == kBuiltInOrigin) {
    const Limit* built_in = built_in_limit(metric.id);
    if (built_in == nullptr)
      members.fail("origin", "is built-in, but the metric has no such limit");
    limit.reason = built_in->reason;
  }
  const std::string gate_on =
      members.one_of_or_absent("gate_on", {"exact", "predicted", "estimate"});
  limit.gate_on = confidence_from(gate_on).value_or(Confidence::exact);
  members.end();
  return limit;
}

std::optional<Interval> read_interval(Members& members) {
  if (!members.has("interval")) return std::nullopt;
  const json member = members.take("interval");
  if (!member.is_array() || member.size() != 2 || !member[0].is_number() ||
      !member[1].is_number() || member[0].get<double>() > member[1].get<double>()) {
    members.fail("interval", "must be two numbers, the lower first");
  }
  return Interval{member[0].get<double>(), member[1].get<double>()};
}

/// A value that is not exact must say why.
void read_confidence(Members& members, Fact& fact) {
  fact.confidence = members.one_of_or_absent("confidence", {"predicted", "estimate"});
  fact.confidence_reason = members.text_or_absent("confidence_reason");
  const bool sure = fact.confidence.empty();
  if (sure != fact.confidence_reason.empty()) {
    members.fail("confidence_reason", sure ? "must be absent where the value is exact"
                                           : "must say why the value is not exact");
  }
  const bool measured = !std::holds_alternative<std::monostate>(fact.value);
  if (sure && measured) fact.confidence = "exact";
}

void read_verdict(Members& members, Fact& fact) {
  const bool judged = fact.scope == Scope::whole_case;
  if (members.has("verdict")) {
    if (!judged) members.fail("verdict", "must be absent for a line or a node");
    const std::string word = members.text("verdict");
    const std::optional<Verdict> verdict = verdict_from(word);
    if (!verdict) members.fail("verdict", "has the unknown word '" + word + "'");
    fact.verdict = *verdict;
  }
  const std::string would = members.one_of_or_absent("would", {"pass", "fail"});
  if (!would.empty()) fact.would = verdict_from(would);
  fact.cause = members.one_of_or_absent("cause", {"environment"});
}

/// `fact` is what its case gives it.
Fact read_value_record(Members members, Fact fact) {
  fact.metric = members.text("metric");
  const Metric* row = find_metric(fact.metric);
  if (!row) {
    std::vector<std::string> ids;
    for (const Metric& known : catalog()) ids.emplace_back(known.id);
    members.fail("metric", fmt::format("is the unknown metric '{}'{}", fact.metric,
                                       did_you_mean(fact.metric, ids)));
  }
  if (members.has("value")) fact.value = read_value(members, "value", *row);
  fact.source = members.one_of_or_absent(
      "source", {"ptxas", "cubin", "cupti", "cupti-range", "emulator", "clock", "harness"});
  const std::string scope = members.one_of_or_absent("scope", {"line", "node"});
  fact.scope = scope.empty() ? Scope::whole_case : scope == "line" ? Scope::line : Scope::node;
  if (members.has("node")) fact.node = members.whole<int>("node", 0);
  if (members.has("kernel")) fact.kernel = members.text("kernel");
  if (members.has("file")) {
    fact.file = members.text("file");
    fact.line = members.whole_or_absent("line");
  }
  for (Members& call : members.objects_or_absent("inlined")) {
    fact.inlined.push_back({call.text("file"), call.whole<int>("line", 1)});
    call.end();
  }
  fact.interval = read_interval(members);
  if (members.has("stable")) fact.stable = members.truth("stable");
  read_confidence(members, fact);
  if (members.has("machine")) fact.machine = read_machine(members.object("machine"));
  if (members.has("limit")) fact.limit = read_limit(members.object("limit"), *row);
  read_verdict(members, fact);
  fact.reason = members.text_or_absent("reason");
  members.end();
  return fact;
}

RunEnd read_end(Members members, const std::string& run) {
  if (members.text("run") != run) members.fail("run", "is not the run above");
  RunEnd end;
  json counts = members.take("counts");
  if (!counts.is_object()) members.fail("counts", "must be an object");
  Members of_verdicts(counts, "counts.");
  for (const auto& [word, number] : counts.items()) {
    const std::optional<Verdict> verdict = verdict_from(word);
    if (!verdict) members.fail("counts", "has the unknown word '" + word + "'");
    end.counts[*verdict] = of_verdicts.whole<int>(word, 0);
  }
  end.exit_code = members.whole<int>("exit_code", 0);
  end.left_out = members.texts_or_absent("left_out");
  members.end();
  return end;
}

}  // namespace

FactReader::FactReader(const std::filesystem::path& path) : path_(path) {
  errno = 0;
  file_.open(path_, std::ios::binary);
  if (!file_) refuse();
}

void FactReader::refuse() const {
  throw FactError(fmt::format("{}: cannot be read: {}", path_.string(),
                              std::generic_category().message(errno)));
}

const std::vector<StoredRun>& FactReader::update() {
  file_.clear();
  torn_ = false;
  std::string line;
  for (auto begin = file_.tellg(); std::getline(file_, line); begin = file_.tellg()) {
    if (file_.eof()) {  // no newline: torn by a crash, or still being written
      torn_ = true;
      file_.clear();
      file_.seekg(begin);
      return runs_;
    }
    ++line_;
    try {
      read(line);
    } catch (const MalformedFact& error) {
      throw FactError(fmt::format("{}:{}: {}", path_.string(), line_, error.what()));
    }
  }
  if (file_.bad()) refuse();  // such as a folder
  file_.clear();
  return runs_;
}

void FactReader::read(const std::string& line) {
  // The parser would skip a byte order mark, before every line.
  json object = line.starts_with("\xEF\xBB\xBF") ? json(json::value_t::discarded)
                                                 : json::parse(line, nullptr, false);
  if (!object.is_object()) throw MalformedFact("not a JSON object");
  Members members(std::move(object), "");
  if (!members.has("record") && members.has("schema")) read_run(std::move(members));
  const std::string record = members.text("record");
  if (record == "run") return begin(read_run(std::move(members)));
  if (runs_.empty()) members.fail("record", "must be 'run' before any other");
  StoredRun& run = runs_.at(current_);
  if (run.end) members.fail("record", "stands behind the end of its run");
  if (record == "case") {
    ReadCase one = read_case(std::move(members));
    cases_.at(current_).insert_or_assign(one.name, std::move(one.fact));
  } else if (record == "value") {
    const std::string name = members.text("case");
    const auto known = cases_.at(current_).find(name);
    if (known == cases_.at(current_).end()) {
      members.fail("case", fmt::format("is '{}', which no case above is called", name));
    }
    run.facts.push_back(read_value_record(std::move(members), known->second));
  } else if (record == "end") {
    run.end = read_end(std::move(members), run.run.id);
  } else {
    members.fail("record", fmt::format("has the unknown word '{}'", record));
  }
}

/// A run that is described again goes on, perhaps with another device.
void FactReader::begin(Run run) {
  const auto same = [&](const StoredRun& one) { return one.run.id == run.id; };
  const auto found = std::ranges::find_if(runs_, same);
  current_ = static_cast<std::size_t>(found - runs_.begin());
  if (found == runs_.end()) {
    runs_.push_back({.run = std::move(run), .facts = {}, .end = {}});
    cases_.emplace_back();
    return;
  }
  for (Device& device : run.devices) {
    std::vector<Device>& known = found->run.devices;
    if (std::ranges::find(known, device.name, &Device::name) == known.end()) {
      known.push_back(std::move(device));
    }
  }
}

std::vector<StoredRun> FactReader::runs() && {
  // The line that was torn may have been of the run.
  if (torn_ && !runs_.empty()) runs_.at(current_).end.reset();
  return std::move(runs_);
}

std::vector<StoredRun> read_facts(const std::filesystem::path& path) {
  FactReader reader(path);
  reader.update();
  return std::move(reader).runs();
}

}  // namespace warpgauge::metrics
