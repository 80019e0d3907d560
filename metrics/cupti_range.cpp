// RangeProfiler: rounds of passes over many items, and the medians of their counters.
#include <cupti_result.h>

#include <algorithm>
#include <stdexcept>

#include "metrics/catalog.h"
#include "metrics/cupti.h"
#include "metrics/cupti_context.h"
#include "metrics/cupti_error.h"
#include "metrics/cupti_host.h"
#include "metrics/cupti_range_session.h"
#include "metrics/range_values.h"

namespace warpgauge::metrics {
namespace {

// Items measured in one go: bounds the memory that CUPTI takes for counter data.
constexpr std::size_t kMaxRangesPerPass = 1024;

/// A metric and where the values of its counters are among those that are asked for.
struct RangeMetric {
  const Metric* metric;
  std::vector<std::size_t> places;
};

// The range metrics of the catalog, and of `counters`, all of whose CUPTI names are among `names`.
std::vector<RangeMetric> metrics_of(std::span<const std::string> names,
                                    const std::vector<const Metric*>& counters) {
  std::vector<RangeMetric> found;
  const auto add_if_there = [&](const Metric& metric) {
    if (metric.source != Source::range) return;
    RangeMetric row{&metric, {}};
    for (const std::string_view name : metric.cupti_names) {
      const auto place = std::ranges::find(names, name);
      if (place != names.end()) row.places.push_back(place - names.begin());
    }
    if (row.places.size() == metric.cupti_names.size()) found.push_back(std::move(row));
  };
  std::ranges::for_each(catalog(), add_if_there);
  for (const Metric* counter : counters) add_if_there(*counter);
  return found;
}

// The first launch of a kernel loads its module, which would count into the time of its range.
void warm_up(std::span<const RangeItem> items) {
  for (const RangeItem& item : items) {
    item.prepare();
    item.launch();
  }
  wait_for_device();
}

}  // namespace

struct RangeProfiler::Impl {
  using Samples = std::vector<std::vector<double>>;  // of an item: [metric][round]

  explicit Impl(const std::vector<const Metric*>& counters);
  std::vector<const char*> c_names() const;
  void sample(std::span<const RangeItem> items, std::span<Samples> samples);

  CuptiContext context;
  std::vector<std::string> names;
  std::vector<RangeMetric> metrics;
  ProfilerHost host;
  std::vector<std::uint8_t> config;
  std::size_t pass_count = 0;
  RangeSession session;
};

RangeProfiler::Impl::Impl(const std::vector<const Metric*>& counters)
    : context(open_context()),
      names(range_names(context.chip, context.availability, counters)),
      metrics(metrics_of(names, counters)),
      host(context.chip, context.availability),
      session(context.context) {
  if (names.empty()) {
    throw Unmeasured("chip " + context.chip + " has none of the hardware counters",
                     std::string(cupti_remedy(CUPTI_ERROR_NOT_SUPPORTED)));
  }
  host.add_metrics(c_names());
  config = host.config_image();
  pass_count = passes(config);
}

std::vector<const char*> RangeProfiler::Impl::c_names() const {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

// One round over the items: adds a value to each list of `samples`, which has one per item.
void RangeProfiler::Impl::sample(std::span<const RangeItem> items, std::span<Samples> samples) {
  const CounterData data = session.run(items, config, pass_count, c_names());
  if (const std::size_t ranges = range_count(data); ranges != items.size()) {
    throw Unmeasured("the range profiler returned " + std::to_string(ranges) + " ranges for " +
                         std::to_string(items.size()) + " cases",
                     "");
  }
  for (std::size_t range = 0; range < items.size(); ++range) {
    const std::vector<double> values = host.evaluate(data, range, c_names());
    Samples& of_item = samples[item_of_range(data, range, items.size())];
    of_item.resize(metrics.size());
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      std::vector<double> counters;
      for (const std::size_t place : metrics[m].places) counters.push_back(values[place]);
      of_item[m].push_back(range_value(*metrics[m].metric, counters));
    }
  }
}

RangeProfiler::RangeProfiler(const std::vector<const Metric*>& counters)
    : impl_(std::make_unique<Impl>(counters)) {}

RangeProfiler::~RangeProfiler() = default;

std::vector<std::vector<std::pair<std::string_view, double>>> RangeProfiler::measure(
    std::span<const RangeItem> items, int rounds) {
  if (rounds < 1) throw std::invalid_argument("a measurement needs at least one round");
  warm_up(items);
  std::vector<Impl::Samples> samples(items.size());
  for (std::size_t first = 0; first < items.size(); first += kMaxRangesPerPass) {
    const std::size_t count = std::min(kMaxRangesPerPass, items.size() - first);
    for (int round = 0; round < rounds; ++round) {
      impl_->sample(items.subspan(first, count), std::span(samples).subspan(first, count));
    }
  }

  std::vector<std::vector<std::pair<std::string_view, double>>> results(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t m = 0; m < samples[i].size(); ++m) {
      const auto value = median(samples[i][m]);
      if (value) results[i].emplace_back(impl_->metrics[m].metric->id, *value);
    }
  }
  return results;
}

}  // namespace warpgauge::metrics
