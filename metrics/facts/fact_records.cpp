// Records of facts, read from JSON and checked against the schema, by hand.
#include "metrics/facts/fact_records.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "metrics/base/nearest.h"
#include "metrics/facts/built_in_limits.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::metrics {
namespace {

using nlohmann::ordered_json;

constexpr Verdict kReadVerdicts[] = {Verdict::pass,       Verdict::fail,       Verdict::better,
                                     Verdict::unmeasured, Verdict::unbudgeted, Verdict::waived,
                                     Verdict::moved,      Verdict::error};

/// `d` is a digit, `x` a hexadecimal one.
bool has_form(std::string_view text, std::string_view form) {
  return std::ranges::equal(text, form, [](unsigned char c, char pattern) {
    if (pattern == 'd') return std::isdigit(c) != 0;
    if (pattern == 'x') return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f');
    return c == static_cast<unsigned char>(pattern);
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

RunRequest read_asked(Members members) {
  RunRequest asked{.device = members.one_of_or_absent("device", {"auto", "gpu", "emulated"}),
                   .require = members.texts_or_absent("require"),
                   .filter = members.texts_or_absent("filter"),
                   .exclude = members.texts_or_absent("exclude"),
                   .architectures = members.texts_or_absent("architectures"),
                   .strict = members.truth_or_absent("strict"),
                   .large = members.truth_or_absent("large")};
  members.end();
  return asked;
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
         .count = launch.has("count") ? launch.whole<std::uint64_t>("count", 2) : 1,
         .cluster = launch.has("cluster") ? launch.extent("cluster") : kNoCluster,
         .unequal_sectors = launch.counts_or_absent("unequal_sectors")});
    launch.end();
  }
  members.end();
  return kernel;
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
  const ordered_json value = members.take(key);
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

/// A number from 0 to `most`.
double read_bound(Members& members, std::string_view key, double most = HUGE_VAL) {
  const double number = members.number(key);
  if (number < 0) members.fail(key, "must not be negative");
  if (number > most) members.fail(key, fmt::format("must be at most {}", most));
  return number;
}

/// The confidence under `key`; exact where the key is absent.
Confidence confidence_or_exact(Members& members, std::string_view key) {
  const std::string word = members.one_of_or_absent(key, {"exact", "predicted", "estimate"});
  return confidence_from(word).value_or(Confidence::exact);
}

Limit read_limit(Members members, const Metric& metric) {
  Limit limit;
  if (members.has("max")) limit.max = read_bound(members, "max");
  if (members.has("min")) limit.min = read_bound(members, "min");
  if (members.has("equal")) limit.equal = read_value(members, "equal", metric);
  if (members.has("tolerance")) limit.tolerance = read_bound(members, "tolerance", 1);
  if (members.has("until")) limit.until = read_date(members, "until");
  limit.code = members.text_or_absent("code");
  limit.of = members.text_or_absent("of");
  if (members.has("reference")) limit.reference = read_bound(members, "reference");
  if (limit.reference && limit.of.empty())
    members.fail("reference", "is of nothing: 'of' is missing");
  limit.reference_confidence = confidence_or_exact(members, "reference_confidence");
  limit.reason = members.text_or_absent("reason");
  limit.origin = members.text("origin");
  if (limit.origin == kBuiltInOrigin) {
    const Limit* built_in = built_in_limit(metric.id);
    if (built_in == nullptr) {
      members.fail("origin", "is built-in, but the metric has no such limit");
    }
    limit.reason = built_in->reason;
  }
  limit.gate_on = confidence_or_exact(members, "gate_on");
  members.end();
  const bool equal = !std::holds_alternative<std::monostate>(limit.equal);
  if (equal == (limit.max || limit.min)) {
    throw MalformedFact("key 'limit' must have either equal, or max or min or both");
  }
  return limit;
}

std::optional<Interval> read_interval(Members& members) {
  if (!members.has("interval")) return std::nullopt;
  const ordered_json member = members.take("interval");
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
    throw MalformedFact(sure ? "missing key 'confidence' beside a confidence_reason"
                             : "missing key 'confidence_reason' of a value that is not exact");
  }
}

const Metric& known_metric(const Members& members, const std::string& id) {
  if (const Metric* row = find_metric(id)) return *row;
  std::vector<std::string> ids;
  for (const Metric& known : catalog()) ids.emplace_back(known.id);
  members.fail("values", fmt::format("has the unknown metric '{}'{}", id, did_you_mean(id, ids)));
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
  fact.rule = members.text_or_absent("rule");
  fact.other = members.text_or_absent("other");
  fact.cause = members.one_of_or_absent("cause", {"environment"});
}

/// True for verdicts on what was measured.
bool is_of_a_value(Verdict verdict) {
  return verdict != Verdict::unmeasured && verdict != Verdict::unbudgeted &&
         verdict != Verdict::error;
}

/// Reads the members that the values of a record share, except the limit.
void read_shared(Members& members, Fact& shared) {
  shared.source = members.one_of_or_absent(
      "source", {"ptxas", "cubin", "cupti", "cupti-range", "emulator", "clock", "harness"});
  const std::string scope = members.one_of_or_absent("scope", {"line", "node"});
  shared.scope = scope.empty() ? Scope::whole_case : scope == "line" ? Scope::line : Scope::node;
  if (members.has("node")) shared.node = members.whole<int>("node", 0);
  if (members.has("kernel")) shared.kernel = members.text("kernel");
  if (members.has("file") || members.has("line")) {
    shared.file = members.text("file");
    shared.line = members.whole_or_absent("line");
  } else if (shared.scope == Scope::line) {
    shared.file.clear();
    shared.line = 0;
  }
  for (Members& call : members.objects_or_absent("inlined")) {
    shared.inlined.push_back({call.text("file"), call.whole<int>("line", 1)});
    call.end();
  }
  shared.interval = read_interval(members);
  if (members.has("stable")) shared.stable = members.truth("stable");
  read_confidence(members, shared);
  if (members.has("leaves_out")) {
    shared.leaves_out = members.whole<std::uint64_t>("leaves_out", 1);
  }
  if (members.has("machine")) shared.machine = read_machine(members.object("machine"));
  read_verdict(members, shared);
  shared.cure = members.text_or_absent("cure");
  shared.reason = members.text_or_absent("reason");
}

}  // namespace

void check_schema(Members& members) {
  const std::string schema = members.text("schema");
  if (schema == kFactSchema) return;
  throw MalformedFact(fmt::format("schema is '{}', and this version reads '{}'; measure again",
                                  schema, kFactSchema));
}

Run read_run(Members members) {
  check_schema(members);
  Run run{.id = members.text("run"),
          .time = members.text("time"),
          .command = members.text_or_absent("command"),
          .program = members.text_or_absent("program"),
          .version = members.text_or_absent("version"),
          .commit = members.text_or_absent("commit"),
          .branch = members.text_or_absent("branch"),
          .label = members.text_or_absent("label"),
          .toolkit = members.text_or_absent("toolkit"),
          .flags = members.text_or_absent("flags"),
          .source_root = members.text_or_absent("source_root"),
          .budgets = members.text_or_absent("budgets"),
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

void check_name(const Members& members, std::string_view key, std::string_view name) {
  if (!has_form(name, "xxxxxxxxxxxx")) members.fail(key, "must be 12 hexadecimal digits");
}

Fact read_case(Members members, const std::string& name) {
  check_name(members, "case", name);
  CaseContext context;
  Fact fact;
  fact.id = {.family = members.name("family"),
             .variant = members.name("variant"),
             .type = members.name("type"),
             .size = members.name("size")};
  if (members.has("kind")) {
    const std::string word = members.text("kind");
    const std::optional<CaseKind> kind = case_kind_from(word);
    if (!kind) members.fail("kind", "has the unknown word '" + word + "'");
    context.kind = *kind;
  }
  fact.arch = members.text_or_absent("arch");
  context.device = members.text_or_absent("device");
  for (Members& kernel : members.objects_or_absent("kernels")) {
    context.kernels.push_back(read_kernel(std::move(kernel)));
  }
  context.code_hash = members.text_or_absent("code_hash");
  context.file = members.text_or_absent("file");
  context.line = members.whole_or_absent("line");
  members.end();
  fact.file = context.file;
  fact.line = context.line;
  if (context.kernels.size() == 1) fact.kernel = context.kernels[0].name;
  fact.context = std::make_shared<const CaseContext>(std::move(context));
  return fact;
}

void check_shared(Members members) {
  if (members.has("limit")) members.object("limit");
  Fact fact;
  read_shared(members, fact);
  members.end();
}

std::vector<Fact> read_values(Members members, Fact shared) {
  Members values = members.object("values");
  if (values.empty()) members.fail("values", "must have a value");
  std::optional<Members> limit;
  if (members.has("limit")) limit = members.object("limit");
  read_shared(members, shared);
  members.end();
  std::vector<Fact> facts;
  while (!values.empty()) {
    if (values.has_one()) {
      facts.push_back(std::move(shared));  // NOLINT(bugprone-use-after-move): the loop ends
    } else {
      facts.push_back(shared);
    }
    Fact& fact = facts.back();
    fact.metric = values.first();
    const Metric& row = known_metric(members, fact.metric);
    if (values.is_null(fact.metric)) {
      if (is_of_a_value(fact.verdict) && fact.rule.empty()) {
        values.fail(fact.metric,
                    fmt::format("must not be null: its verdict is {}", to_string(fact.verdict)));
      }
      values.take(fact.metric);
    } else {
      fact.value = read_value(values, fact.metric, row);
      if (fact.confidence.empty()) fact.confidence = "exact";
    }
    if (limit) fact.limit = read_limit(*limit, row);
  }
  return facts;
}

RunEnd read_end(Members members, const std::string& run) {
  if (members.text("run") != run) members.fail("run", "is not the run above");
  RunEnd end;
  Members counts = members.object("counts");
  for (const Verdict verdict : kReadVerdicts) {
    const std::string_view word = to_string(verdict);
    if (counts.has(word)) end.counts[verdict] = counts.whole<int>(word, 0);
  }
  counts.end();
  constexpr int kMost = 3;  // a program that a run starts may end with more; the run does not
  end.exit_code = members.whole<int>("exit_code", 0);
  if (end.exit_code > kMost) members.fail("exit_code", "must be 0, 1, 2 or 3");
  end.left_out = members.texts_or_absent("left_out");
  members.end();
  return end;
}

}  // namespace warpgauge::metrics
