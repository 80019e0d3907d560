// Facts as JSON objects. The order of the keys is fixed: it is that of the schema.
#include "metrics/fact.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "metrics/catalog.h"

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
    {Verdict::environment, "environment"},
    {Verdict::error, "error"},
}};

ordered_json text_or_null(std::string_view text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json whole_or_null(int number) {
  return number == 0 ? ordered_json() : ordered_json(number);
}

/// Whole numbers as integers, so that they are written without ".0".
ordered_json value_json(const Value& value) {
  if (const std::string* word = std::get_if<std::string>(&value)) return *word;
  const double* number = std::get_if<double>(&value);
  if (!number || !std::isfinite(*number)) return nullptr;
  const bool whole = *number == std::trunc(*number) && std::abs(*number) <= kMaxExactWhole;
  return whole ? ordered_json(static_cast<std::int64_t>(*number)) : ordered_json(*number);
}

ordered_json device_json(const std::optional<Device>& device) {
  if (!device) return nullptr;
  return {{"name", device->name},
          {"chip", text_or_null(device->chip)},
          {"compute_capability", text_or_null(device->compute_capability)},
          {"driver", text_or_null(device->driver)},
          {"uuid_hash", text_or_null(device->uuid_hash)},
          {"sm_clock_mhz", whole_or_null(device->sm_clock_mhz)},
          {"memory_clock_mhz", whole_or_null(device->memory_clock_mhz)}};
}

ordered_json launch_json(const std::optional<Launch>& launch) {
  if (!launch) return nullptr;
  return {{"grid", launch->grid},
          {"block", launch->block},
          {"dynamic_shared_bytes", launch->dynamic_shared_bytes},
          {"count", launch->count}};
}

ordered_json machine_json(const std::optional<MachineState>& machine) {
  if (!machine) return nullptr;
  const auto pair = [](const std::array<int, 2>& values) {
    return ordered_json{whole_or_null(values[0]), whole_or_null(values[1])};
  };
  const int others = machine->other_processes;
  return {{"sm_clock_mhz", pair(machine->sm_clock_mhz)},
          {"memory_clock_mhz", pair(machine->memory_clock_mhz)},
          {"temperature_c", pair(machine->temperature_c)},
          {"throttling", machine->throttling},
          {"other_processes", others < 0 ? ordered_json() : ordered_json(others)},
          {"disturbance", text_or_null(machine->disturbance)}};
}

ordered_json interval_json(const std::optional<Interval>& interval) {
  if (!interval || !std::isfinite(interval->low) || !std::isfinite(interval->high)) return nullptr;
  return {value_json(interval->low), value_json(interval->high)};
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  return std::ranges::find(kVerdicts, verdict, &decltype(kVerdicts)::value_type::first)->second;
}

std::optional<Verdict> verdict_from(std::string_view text) {
  const auto found = std::ranges::find(kVerdicts, text, &decltype(kVerdicts)::value_type::second);
  return found == kVerdicts.end() ? std::nullopt : std::optional(found->first);
}

std::string CaseId::str() const { return family + "." + variant_type() + "@" + size; }
std::string CaseId::variant_type() const { return variant + "." + type; }

ordered_json to_json(const Fact& fact, const Run& run) {
  const bool of_line = fact.scope == Scope::line;
  return {{"schema", kFactSchema},
          {"run", run.id},
          {"time", run.time},
          {"commit", text_or_null(run.commit)},
          {"dirty", run.dirty},
          {"toolkit", text_or_null(run.toolkit)},
          {"flags", text_or_null(run.flags)},
          {"device", device_json(run.device)},
          {"id", fact.id.str()},
          {"family", fact.id.family},
          {"variant", fact.id.variant},
          {"type", fact.id.type},
          {"size", fact.id.size},
          {"arch", text_or_null(fact.arch)},
          {"source", text_or_null(fact.source)},
          {"confidence", text_or_null(fact.confidence)},
          {"confidence_reason", text_or_null(fact.confidence_reason)},
          {"scope", of_line ? "line" : "case"},
          {"kernel", text_or_null(fact.kernel)},
          {"launch", launch_json(fact.launch)},
          {"machine", machine_json(fact.machine)},
          {"metric", fact.metric},
          {"value", value_json(fact.value)},
          {"unit", metric(fact.metric).unit},
          {"interval", interval_json(fact.interval)},
          {"file", text_or_null(fact.file)},
          {"line", whole_or_null(fact.line)},
          {"sass_hash", text_or_null(fact.sass_hash)},
          {"source_hash", text_or_null(fact.source_hash)},
          {"code_hash", text_or_null(fact.code_hash)},
          {"budget", text_or_null(fact.budget)},
          {"budget_reason", text_or_null(fact.budget_reason)},
          {"verdict", text_or_null(of_line ? "" : to_string(fact.verdict))},
          {"reason", text_or_null(fact.reason)}};
}

}  // namespace warpgauge::metrics
