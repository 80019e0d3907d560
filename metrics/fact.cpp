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

constexpr std::array<std::pair<Verdict, std::string_view>, 7> kVerdicts = {{
    {Verdict::pass, "pass"},
    {Verdict::fail, "fail"},
    {Verdict::better, "better"},
    {Verdict::unmeasured, "unmeasured"},
    {Verdict::unbudgeted, "unbudgeted"},
    {Verdict::waived, "waived"},
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
          {"metric", fact.metric},
          {"value", value_json(fact.value)},
          {"unit", metric(fact.metric).unit},
          {"file", text_or_null(fact.file)},
          {"line", whole_or_null(fact.line)},
          {"sass_hash", text_or_null(fact.sass_hash)},
          {"budget", text_or_null(fact.budget)},
          {"budget_reason", text_or_null(fact.budget_reason)},
          {"verdict", text_or_null(of_line ? "" : to_string(fact.verdict))},
          {"reason", text_or_null(fact.reason)}};
}

}  // namespace warpgauge::metrics
