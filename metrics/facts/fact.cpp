// Facts as JSON objects: the five records of metrics/facts/fact.schema.json, in its order of keys.
#include "metrics/facts/fact.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>
#include <utility>

#include "metrics/base/hash.h"
#include "metrics/base/json_members.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::metrics {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::pair<Verdict, std::string_view>, 8> kVerdicts = {{
    {Verdict::pass, "pass"},
    {Verdict::fail, "fail"},
    {Verdict::better, "better"},
    {Verdict::unmeasured, "unmeasured"},
    {Verdict::unbudgeted, "unbudgeted"},
    {Verdict::waived, "waived"},
    {Verdict::moved, "moved"},
    {Verdict::error, "error"},
}};
constexpr std::array<std::pair<CaseKind, std::string_view>, 5> kKinds = {{
    {CaseKind::catalogue, "catalogue"},
    {CaseKind::attached, "attached"},
    {CaseKind::emulated, "emulated"},
    {CaseKind::measured, "measured"},
    {CaseKind::inspected, "inspected"},
}};

using metrics::set;
void set(ordered_json& object, const char* key, int number) {
  if (number != 0) object[key] = number;
}
void set(ordered_json& object, const char* key, const std::vector<std::string>& texts) {
  if (!texts.empty()) object[key] = texts;
}

ordered_json device_json(const Device& device) {
  ordered_json object = {{"name", device.name}};
  set(object, "chip", device.chip);
  set(object, "compute_capability", device.compute_capability);
  set(object, "driver", device.driver);
  set(object, "uuid_hash", device.uuid_hash);
  set(object, "sm_clock_mhz", device.sm_clock_mhz);
  set(object, "memory_clock_mhz", device.memory_clock_mhz);
  return object;
}

ordered_json asked_json(const RunRequest& asked) {
  ordered_json object = ordered_json::object();
  set(object, "device", asked.device);
  set(object, "require", asked.require);
  if (asked.strict) object["strict"] = true;
  set(object, "filter", asked.filter);
  set(object, "exclude", asked.exclude);
  set(object, "architectures", asked.architectures);
  if (asked.large) object["large"] = true;
  return object;
}

ordered_json kernel_json(const Kernel& kernel) {
  ordered_json object = {{"name", kernel.name}};
  set(object, "sass_hash", kernel.sass_hash);
  set(object, "source_hash", kernel.source_hash);
  for (const Launch& launch : kernel.launches) {
    ordered_json shape = {{"grid", launch.grid}, {"block", launch.block}};
    if (launch.dynamic_shared_bytes != 0) {
      shape["dynamic_shared_bytes"] = launch.dynamic_shared_bytes;
    }
    if (launch.count != 1) shape["count"] = launch.count;
    if (launch.cluster != kNoCluster) shape["cluster"] = launch.cluster;
    if (launch.unequal_sectors) shape["unequal_sectors"] = *launch.unequal_sectors;
    object["launches"].push_back(shape);
  }
  return object;
}

ordered_json machine_json(const MachineState& machine) {
  const auto pair = [](const std::array<int, 2>& values) {
    const auto number_or_null = [](int value) {
      return value == 0 ? ordered_json() : ordered_json(value);
    };
    return ordered_json{number_or_null(values[0]), number_or_null(values[1])};
  };
  ordered_json object = {{"sm_clock_mhz", pair(machine.sm_clock_mhz)},
                         {"memory_clock_mhz", pair(machine.memory_clock_mhz)},
                         {"temperature_c", pair(machine.temperature_c)},
                         {"throttling", machine.throttling}};
  if (machine.other_processes >= 0) object["other_processes"] = machine.other_processes;
  set(object, "disturbance", machine.disturbance);
  return object;
}

/// The object as one line of text. Invalid UTF-8 is replaced.
std::string text_of(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// The record with `key`, which is the hash of the members, in front of them.
ordered_json named_record(std::string_view record, const ordered_json& members) {
  constexpr std::size_t kDigits = 12;
  const std::string key(record), name = hash_text(text_of(members)).substr(0, kDigits);
  ordered_json object = {{"record", key}, {key, name}};
  object.update(members);
  return object;
}

/// The members of a value's record except metric and number.
ordered_json shared_json(const Fact& fact, const std::string& case_name) {
  const CaseContext& context = *fact.context;
  ordered_json object = {{"record", "values"}, {"case", case_name}};
  set(object, "source", fact.source);
  if (fact.scope != Scope::whole_case)
    object["scope"] = fact.scope == Scope::line ? "line" : "node";
  if (fact.node) object["node"] = *fact.node;
  if (context.kernels.size() != 1 || context.kernels[0].name != fact.kernel) {
    set(object, "kernel", fact.kernel);
  }
  // A line without a file is code without line information.
  const bool is_line = fact.scope == Scope::line;
  if (is_line || fact.file != context.file || fact.line != context.line) {
    set(object, "file", fact.file);
    set(object, "line", fact.line);
  }
  for (const CallSite& call : fact.inlined) {
    object["inlined"].push_back({{"file", call.file}, {"line", call.line}});
  }
  if (fact.interval && std::isfinite(fact.interval->low) && std::isfinite(fact.interval->high)) {
    object["interval"] = {number_json(fact.interval->low), number_json(fact.interval->high)};
  }
  if (fact.stable) object["stable"] = *fact.stable;
  if (fact.confidence != "exact") set(object, "confidence", fact.confidence);
  set(object, "confidence_reason", fact.confidence_reason);
  if (fact.leaves_out != 0) object["leaves_out"] = fact.leaves_out;
  if (fact.machine) object["machine"] = machine_json(*fact.machine);
  if (fact.limit) object["limit"] = limit_json(*fact.limit);
  if (fact.verdict != Verdict::unbudgeted) object["verdict"] = to_string(fact.verdict);
  if (fact.would) object["would"] = to_string(*fact.would);
  set(object, "rule", fact.rule);
  set(object, "other", fact.other);
  set(object, "cause", fact.cause);
  set(object, "cure", fact.cure);
  set(object, "reason", fact.reason);
  return object;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  return std::ranges::find(kVerdicts, verdict, &decltype(kVerdicts)::value_type::first)->second;
}

std::optional<Verdict> verdict_from(std::string_view text) {
  const auto found = std::ranges::find(kVerdicts, text, &decltype(kVerdicts)::value_type::second);
  return found == kVerdicts.end() ? std::nullopt : std::optional(found->first);
}

std::string_view to_string(CaseKind kind) {
  return std::ranges::find(kKinds, kind, &decltype(kKinds)::value_type::first)->second;
}

std::optional<CaseKind> case_kind_from(std::string_view text) {
  const auto found = std::ranges::find(kKinds, text, &decltype(kKinds)::value_type::second);
  return found == kKinds.end() ? std::nullopt : std::optional(found->first);
}

const std::shared_ptr<const CaseContext>& no_context() {
  static const auto kNothing = std::make_shared<const CaseContext>();
  return kNothing;
}

std::string id_word(std::string_view name) {
  std::string text;
  for (const char c : name) {
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '_';
  }
  return text.empty() ? "_" : text;
}

std::string CaseId::str() const { return family + "." + variant_type() + "@" + size; }
std::string CaseId::variant_type() const { return variant + "." + type; }

CaseId CaseId::other(std::string_view variant_type) const {
  const std::size_t point = variant_type.find('.');
  const bool typed = point != std::string_view::npos;
  return {family, std::string(variant_type.substr(0, point)),
          std::string(typed ? variant_type.substr(point + 1) : ""), size};
}

ordered_json run_json(const Run& run) {
  ordered_json object = {
      {"record", "run"}, {"schema", kFactSchema}, {"run", run.id}, {"time", run.time}};
  set(object, "command", run.command);
  set(object, "program", run.program);
  set(object, "version", run.version);
  set(object, "commit", run.commit);
  object["dirty"] = run.dirty;
  set(object, "branch", run.branch);
  set(object, "label", run.label);
  set(object, "toolkit", run.toolkit);
  set(object, "flags", run.flags);
  set(object, "source_root", run.source_root);
  set(object, "budgets", run.budgets);
  for (const Device& device : run.devices) object["devices"].push_back(device_json(device));
  if (ordered_json asked = asked_json(run.asked); !asked.empty()) object["asked"] = asked;
  return object;
}

ordered_json case_json(const Fact& fact) {
  const CaseContext& context = *fact.context;
  ordered_json members = {{"family", fact.id.family},
                          {"variant", fact.id.variant},
                          {"type", fact.id.type},
                          {"size", fact.id.size}};
  if (context.kind != CaseKind::catalogue) members["kind"] = to_string(context.kind);
  set(members, "arch", fact.arch);
  set(members, "device", context.device);
  for (const Kernel& kernel : context.kernels) members["kernels"].push_back(kernel_json(kernel));
  set(members, "code_hash", context.code_hash);
  set(members, "file", context.file);
  set(members, "line", context.line);
  return named_record("case", members);
}

ordered_json take_shared(ordered_json& values) {
  ordered_json shared = ordered_json::object();
  for (const auto& [key, member] : values.items()) {
    if (key != "record" && key != "case" && key != "values") shared[key] = member;
  }
  constexpr std::size_t kLeast = 40;  // characters of the members: one of them may be a word
  if (text_of(shared).size() < kLeast) return nullptr;
  shared = named_record("shared", shared);
  values = {{"record", values["record"]},
            {"case", values["case"]},
            {"shared", shared["shared"]},
            {"values", std::move(values["values"])}};
  return shared;
}

ordered_json limit_json(const Limit& limit) {
  ordered_json object = ordered_json::object();
  if (limit.max) object["max"] = number_json(*limit.max);
  if (limit.min) object["min"] = number_json(*limit.min);
  set(object, "equal", limit.equal);
  if (limit.tolerance > 0) object["tolerance"] = limit.tolerance;
  if (limit.until) object["until"] = to_text(*limit.until);
  set(object, "code", limit.code);
  set(object, "of", limit.of);
  if (limit.reference) object["reference"] = number_json(*limit.reference);
  if (limit.reference_confidence != Confidence::exact) {
    object["reference_confidence"] = to_string(limit.reference_confidence);
  }
  if (limit.origin != kBuiltInOrigin) set(object, "reason", limit.reason);
  object["origin"] = limit.origin;
  if (limit.gate_on != Confidence::exact) object["gate_on"] = to_string(limit.gate_on);
  return object;
}

std::vector<ordered_json> values_json(std::span<const Fact> facts, const std::string& case_name) {
  std::vector<ordered_json> records;
  std::unordered_map<std::string, std::size_t> places;  // indices by shared members
  std::size_t last_judged = 0;
  for (const Fact& fact : facts) {
    const std::string id(metric(fact.metric).id);
    ordered_json shared = shared_json(fact, case_name);
    std::size_t& place = places.try_emplace(text_of(shared), records.size()).first->second;
    const bool is_judged = shared.contains("verdict");
    const bool fits = place < records.size() && !records[place]["values"].contains(id) &&
                      (!is_judged || place == last_judged);
    if (!fits) {
      place = records.size();
      records.push_back(std::move(shared));
    }
    if (is_judged) last_judged = place;
    ordered_json& values = records[place]["values"];
    values[id] = nullptr;  // not measured
    set(values, id.c_str(), fact.value);
  }
  return records;
}

}  // namespace warpgauge::metrics
