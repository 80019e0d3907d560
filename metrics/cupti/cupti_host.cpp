// Asks CUPTI's host side, which needs no GPU, for the counters of a chip.
#include "metrics/cupti/cupti_host.h"

#include <cupti_sass_metrics.h>
#include <cupti_version.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "metrics/base/nearest.h"
#include "metrics/cupti/cupti.h"
#include "metrics/cupti/cupti_error.h"
#include "metrics/cupti/sass_metrics.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {
namespace {

CUptiResult create(const std::string& chip, std::span<const std::uint8_t> availability,
                   CUpti_Profiler_Host_Object*& object) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  const CUptiResult result = cuptiProfilerHostInitialize(&params);
  object = params.pHostObject;
  return result;
}

void destroy(CUpti_Profiler_Host_Object* object) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, params);
  params.pHostObject = object;
  cuptiProfilerHostDeinitialize(&params);
}

CUptiResult add(CUpti_Profiler_Host_Object* object, std::vector<const char*>& names) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, params);
  params.pHostObject = object;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  return cuptiProfilerHostConfigAddMetrics(&params);
}

}  // namespace

bool built_with_cupti() { return true; }

bool cupti_answers() {
  constexpr int kFirstThatNeedsADriver = 130200;
  static const bool kAnswers = CUPTI_API_VERSION < kFirstThatNeedsADriver ||
                               dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;
  return kAnswers;
}

std::string known_chip(const std::string& chip) {
  const std::vector<std::string> chips = cupti_chips();
  std::string upper = chip;  // as CUPTI writes them all
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  if (std::ranges::find(chips, upper) != chips.end()) return upper;
  throw std::invalid_argument(fmt::format("CUPTI has no chip '{}'{}; the chips are {}", chip,
                                          did_you_mean(upper, chips), fmt::join(chips, " ")));
}

// Asks with a host object of its own, because an object that has refused a metric is unreliable.
bool has_range_metric(const std::string& chip, std::span<const std::uint8_t> availability,
                      const std::string& name) {
  CUpti_Profiler_Host_Object* object = nullptr;
  if (create(chip, availability, object) != CUPTI_SUCCESS) return false;
  std::vector<const char*> names = {name.c_str()};
  const CUptiResult result = add(object, names);
  destroy(object);
  return result == CUPTI_SUCCESS;
}

ProfilerHost::ProfilerHost(const std::string& chip, std::span<const std::uint8_t> availability) {
  check_cupti(create(chip, availability, object_), "cuptiProfilerHostInitialize");
}

ProfilerHost::~ProfilerHost() { destroy(object_); }

void ProfilerHost::add_metrics(std::vector<const char*> names) {
  check_cupti(add(object_, names), "cuptiProfilerHostConfigAddMetrics");
}

std::vector<std::uint8_t> ProfilerHost::config_image() const {
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = object_;
  WARPGAUGE_CUPTI(cuptiProfilerHostGetConfigImageSize, &size);
  std::vector<std::uint8_t> image(size.configImageSize);
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, params);
  params.pHostObject = object_;
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  WARPGAUGE_CUPTI(cuptiProfilerHostGetConfigImage, &params);
  return image;
}

std::vector<double> ProfilerHost::evaluate(std::span<const std::uint8_t> counter_data,
                                           std::size_t index,
                                           std::vector<const char*> names) const {
  std::vector<double> values(names.size());
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, params);
  params.pHostObject = object_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = index;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  WARPGAUGE_CUPTI(cuptiProfilerHostEvaluateToGpuValues, &params);
  return values;
}

std::size_t passes(std::span<const std::uint8_t> config_image) {
  std::vector<std::uint8_t> image(config_image.begin(), config_image.end());  // CUPTI: not const
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, params);
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  WARPGAUGE_CUPTI(cuptiProfilerHostGetNumOfPasses, &params);
  return params.numOfPasses;
}

std::vector<std::string> range_names(const std::string& chip,
                                     std::span<const std::uint8_t> availability,
                                     const std::vector<const Metric*>& counters) {
  std::vector<std::string_view> wanted = cupti_names(Source::range);
  for (const Metric* counter : counters) {
    const std::string_view name = counter->cupti_names[0];
    if (std::ranges::find(wanted, name) == wanted.end()) wanted.push_back(name);
  }
  std::vector<std::string> names;
  for (const std::string_view name : wanted) {
    if (has_range_metric(chip, availability, std::string(name))) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> sass_names(const std::string& chip) {
  // CUPTI (13.0) returns NOT_INITIALIZED here until the process has made a host object.
  CUpti_Profiler_Host_Object* object = nullptr;
  if (create(chip, {}, object) == CUPTI_SUCCESS) destroy(object);

  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetrics_GetNumOfMetrics, count);
  count.pChipName = chip.c_str();
  const CUptiResult result = cuptiSassMetricsGetNumOfMetrics(&count);
  if (result == CUPTI_ERROR_NOT_SUPPORTED) return {};
  check_cupti(result, "cuptiSassMetricsGetNumOfMetrics");

  std::vector<CUpti_SassMetrics_MetricDetails> details(count.numOfMetrics);
  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetrics_GetMetrics, params);
  params.pChipName = chip.c_str();
  params.numOfMetrics = details.size();
  params.pMetricsList = details.data();
  WARPGAUGE_CUPTI(cuptiSassMetricsGetMetrics, &params);
  std::vector<std::string> names;
  for (const auto& detail : details) names.emplace_back(detail.pMetricName);
  return names;
}

std::vector<std::string> cupti_chips() {
  if (!cupti_answers()) {
    throw Unmeasured(
        "CUPTI of CUDA 13.2 and newer lists no chips and counters without an NVIDIA driver",
        "Ask on a machine with a driver, or build with CUDA 13.0 or 13.1");
  }
  WARPGAUGE_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips, params);
  WARPGAUGE_CUPTI(cuptiProfilerHostGetSupportedChips, &params);
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

bool ChipSupport::measures(const Metric& metric) const {
  return std::ranges::all_of(metric.cupti_names, [&](std::string_view name) {
    const auto found = names.find(name);
    return found != names.end() && (found->second || is_optional(name));
  });
}

ChipSupport chip_support(const std::string& called, const std::vector<const Metric*>& counters) {
  const std::string chip = known_chip(called);
  ChipSupport support;
  const std::vector<std::string> sass = sass_names(chip);
  for (const std::string_view name : cupti_names(Source::sass)) {
    support.names.emplace(name, std::ranges::find(sass, name) != sass.end());
  }
  const std::vector<std::string> range = range_names(chip, {}, counters);
  for (const std::string_view name : cupti_names(Source::range)) {
    support.names.emplace(name, std::ranges::find(range, name) != range.end());
  }
  if (range.empty()) return support;

  ProfilerHost host(chip);
  std::vector<const char*> wanted;
  for (const std::string& name : range) wanted.push_back(name.c_str());
  host.add_metrics(wanted);
  support.range_passes = passes(host.config_image());
  return support;
}

}  // namespace warpgauge::metrics
