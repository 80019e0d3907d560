// Lists and searches the hardware counters of chips with CUPTI's host side.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "metrics/base/nearest.h"
#include "metrics/cupti/cupti.h"
#include "metrics/cupti/cupti_error.h"
#include "metrics/cupti/cupti_host.h"

namespace warpgauge::metrics {
namespace {

constexpr std::pair<CUpti_MetricType, std::string_view> kTypes[] = {
    {CUPTI_METRIC_TYPE_COUNTER, "counter"},
    {CUPTI_METRIC_TYPE_RATIO, "ratio"},
    {CUPTI_METRIC_TYPE_THROUGHPUT, "throughput"},
};

std::vector<std::string> base_names(const ProfilerHost& host, CUpti_MetricType type) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics, params);
  params.pHostObject = host.object();
  params.metricType = type;
  WARPGAUGE_CUPTI(cuptiProfilerHostGetBaseMetrics, &params);
  return {params.ppMetricNames, params.ppMetricNames + params.numMetrics};
}

std::vector<std::string> rollups_of(const ProfilerHost& host, CUpti_MetricType type,
                                    const std::string& name) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics, params);
  params.pHostObject = host.object();
  params.metricType = type;
  params.pMetricName = name.c_str();
  WARPGAUGE_CUPTI(cuptiProfilerHostGetSubMetrics, &params);
  std::vector<std::string> rollups;
  for (std::size_t i = 0; i < params.numOfSubmetrics; ++i) {
    const std::string_view rollup = params.ppSubMetrics[i];
    rollups.emplace_back(rollup.substr(rollup.starts_with('.') ? 1 : 0));
  }
  return rollups;
}

ChipCounter described(const ProfilerHost& host, std::string_view type, const std::string& name) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, params);
  params.pHostObject = host.object();
  params.pMetricName = name.c_str();
  WARPGAUGE_CUPTI(cuptiProfilerHostGetMetricProperties, &params);
  const auto text = [](const char* text_or_null) {
    return std::string(text_or_null == nullptr ? "" : text_or_null);
  };
  return {.name = name,
          .description = text(params.pDescription),
          .unit = text(params.pDimUnit),
          .hw_unit = text(params.pHwUnit),
          .type = type,
          .rollups = {}};
}

bool contains(std::string_view text, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return !std::ranges::search(text, word, same).empty() || word.empty();
}

/// Calls use(host, type, name) for the counters of every chip, each name once.
template <typename Use>
void for_each_counter(Use use) {
  std::set<std::string> seen;
  for (const std::string& chip : cupti_chips()) {
    try {
      const ProfilerHost host(chip);
      for (const auto& [type, word] : kTypes) {
        for (const std::string& name : base_names(host, type)) {
          if (seen.insert(name).second) use(host, type, name);
        }
      }
    } catch (const Unmeasured&) {  // a chip that is listed, and has no counters
    }
  }
}

/// The name without its rollup: names have points before "__", too.
std::string_view without_rollup(std::string_view name) {
  const std::size_t quantity = name.find("__");
  return name.substr(0, quantity == name.npos ? quantity : name.find('.', quantity));
}

}  // namespace

std::vector<ChipCounter> chip_counters(const std::string& chip, std::string_view search) {
  const ProfilerHost host(known_chip(chip));
  std::vector<ChipCounter> found;
  for (const auto& [type, word] : kTypes) {
    for (const std::string& name : base_names(host, type)) {
      ChipCounter counter = described(host, word, name);
      if (!contains(name, search) && !contains(counter.description, search)) continue;
      counter.rollups = rollups_of(host, type, name);
      found.push_back(std::move(counter));
    }
  }
  return found;
}

std::string unknown_counter(std::string_view name) {
  if (!cupti_answers()) return "";
  const std::string wanted(name);
  for (const std::string& chip : cupti_chips()) {
    if (has_range_metric(chip, {}, wanted)) return "";
  }
  const std::string base(without_rollup(name));
  const std::string rollup(name.substr(std::min(name.size(), base.size() + 1)));
  std::vector<std::string> names, rollups;
  for_each_counter(
      [&](const ProfilerHost& host, CUpti_MetricType type, const std::string& counter) {
        names.push_back(counter);
        if (counter == base) rollups = rollups_of(host, type, counter);
      });
  if (!rollups.empty()) {
    return fmt::format("counter '{}' has no rollup '{}'{}", base, rollup,
                       did_you_mean(rollup, rollups));
  }
  std::string near = nearest(base, names);
  if (!near.empty()) near = fmt::format(", did you mean '{}.{}'?", near, rollup);
  return fmt::format("no chip has a counter '{}'{}", base, near);
}

}  // namespace warpgauge::metrics
