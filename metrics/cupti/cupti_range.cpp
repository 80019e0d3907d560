// RangeProfiler: rounds of passes over many items, and the medians of their counters.
#include <cupti_result.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <stdexcept>
#include <utility>

#include "metrics/cupti/counter_median.h"
#include "metrics/cupti/cupti.h"
#include "metrics/cupti/cupti_context.h"
#include "metrics/cupti/cupti_error.h"
#include "metrics/cupti/cupti_host.h"
#include "metrics/cupti/cupti_range_session.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {
namespace {

// The most items in one pass. The start of a pass takes 0.03 to 0.06 s with 256 items, but 0.3 to
// 0.5 s with 1,024 (H200, CUPTI 13.0).
constexpr std::size_t kMaxRangesPerPass = 256;

// The range metrics of the catalog and the counters of `wanted` whose CUPTI names are all among
// `names`.
std::vector<const Metric*> metrics_of(std::span<const std::string> names,
                                      const std::vector<const Metric*>& wanted) {
  std::vector<const Metric*> found;
  const auto add_if_there = [&](const Metric& metric) {
    if (metric.source != Source::range || std::ranges::find(found, &metric) != found.end()) return;
    const bool is_there = std::ranges::all_of(metric.cupti_names, [&](std::string_view name) {
      return std::ranges::find(names, name) != names.end();
    });
    if (is_there) found.push_back(&metric);
  };
  std::ranges::for_each(catalog(), add_if_there);
  for (const Metric* metric : wanted) add_if_there(*metric);
  return found;
}

/// Counters that are measured together.
struct CounterSet {
  CounterSet(const std::string& chip, std::span<const std::uint8_t> availability,
             std::vector<std::string> these, bool once)
      : names(std::move(these)), is_measured_once(once), host(chip, availability) {
    host.add_metrics(c_names());
    config = host.config_image();
    pass_count = passes(config);
  }
  std::vector<const char*> c_names() const {
    std::vector<const char*> pointers;
    for (const std::string& name : names) pointers.push_back(name.c_str());
    return pointers;
  }

  std::vector<std::string> names;
  bool is_measured_once;  // in one round, even if there are more
  ProfilerHost host;
  std::vector<std::uint8_t> config;
  std::size_t pass_count = 0;
};

/// The counters that every round measures, and those that one round measures. Times differ from run
/// to run; counters of a kernel's work hardly do, and to read them from every multiprocessor takes
/// far longer.
std::list<CounterSet> sets_of(const std::string& chip, std::span<const std::uint8_t> availability,
                              std::span<const Metric* const> metrics,
                              const std::vector<std::string>& names,
                              const std::vector<const Metric*>& wanted) {
  std::vector<std::string> often, once;
  for (const std::string& name : names) {
    const bool is_often = std::ranges::any_of(metrics, [&](const Metric* metric) {
      const bool is_time = metric->unit == "us";
      return (is_time || std::ranges::find(wanted, metric) != wanted.end()) &&
             std::ranges::find(metric->cupti_names, name) != metric->cupti_names.end();
    });
    (is_often ? often : once).push_back(name);
  }
  std::list<CounterSet> sets;
  if (!often.empty()) sets.emplace_back(chip, availability, std::move(often), false);
  if (!once.empty()) sets.emplace_back(chip, availability, std::move(once), true);
  return sets;
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
  using Samples =
      std::map<std::string_view, std::vector<double>>;  // the values of an item: [name][round]

  explicit Impl(const std::vector<const Metric*>& wanted);
  void sample(RangeSession& session, const CounterSet& set, std::span<const RangeItem> items,
              std::span<Samples> samples);

  CuptiContext context;
  std::vector<const Metric*> metrics;
  std::list<CounterSet> sets;
};

RangeProfiler::Impl::Impl(const std::vector<const Metric*>& wanted) : context(open_context()) {
  const std::vector<std::uint8_t> availability = counter_availability(context.context);
  const std::vector<std::string> names = range_names(context.chip, availability, wanted);
  if (names.empty()) {
    throw Unmeasured("chip " + context.chip + " has none of the hardware counters",
                     std::string(cupti_remedy(CUPTI_ERROR_NOT_SUPPORTED)));
  }
  metrics = metrics_of(names, wanted);
  sets = sets_of(context.chip, availability, metrics, names, wanted);
}

// One round over the items: adds a value of each counter to `samples`, which has one per item.
void RangeProfiler::Impl::sample(RangeSession& session, const CounterSet& set,
                                 std::span<const RangeItem> items, std::span<Samples> samples) {
  const CounterData data = session.run(items, set.config, set.pass_count, set.c_names());
  if (const std::size_t ranges = range_count(data); ranges != items.size()) {
    throw Unmeasured("the range profiler returned " + std::to_string(ranges) + " ranges for " +
                         std::to_string(items.size()) + " cases",
                     "");
  }
  const auto is_finite = [](double value) { return std::isfinite(value); };
  bool has_value = false;
  for (std::size_t range = 0; range < items.size(); ++range) {
    const std::vector<double> values = set.host.evaluate(data, range, set.c_names());
    Samples& of_item = samples[item_of_range(data, range, items.size())];
    for (std::size_t i = 0; i < set.names.size(); ++i) of_item[set.names[i]].push_back(values[i]);
    has_value = has_value || std::ranges::any_of(values, is_finite);
  }
  if (has_value) return;
  throw Unmeasured("the range profiler returned no value of " + set.names.front() +
                       ", nor of what it measures with it",
                   "Report it with the versions of driver and CUDA toolkit");
}

RangeProfiler::RangeProfiler(const std::vector<const Metric*>& wanted)
    : impl_(std::make_unique<Impl>(wanted)) {}

RangeProfiler::~RangeProfiler() = default;

std::vector<std::vector<std::pair<std::string_view, double>>> RangeProfiler::measure(
    std::span<const RangeItem> items, int rounds) {
  if (rounds < 1) throw std::invalid_argument("a measurement needs at least one round");
  warm_up(items);
  std::vector<Impl::Samples> samples(items.size());
  for (const CounterSet& set : impl_->sets) {
    if (items.empty()) break;
    // Each set has a session: CUPTI (13.0) keeps the first configuration that a session was given.
    RangeSession session(impl_->context.context);
    for (std::size_t first = 0; first < items.size(); first += kMaxRangesPerPass) {
      const std::size_t count = std::min(kMaxRangesPerPass, items.size() - first);
      for (int round = 0; round < (set.is_measured_once ? 1 : rounds); ++round) {
        impl_->sample(session, set, items.subspan(first, count),
                      std::span(samples).subspan(first, count));
      }
    }
  }

  std::vector<std::vector<std::pair<std::string_view, double>>> results(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const Metric* metric : impl_->metrics) {
      std::vector<double> counters;  // by the names of the formula
      for (const std::string_view name : metric->cupti_names) {
        if (const auto value = median(samples[i][name])) counters.push_back(*value);
      }
      if (counters.size() < metric->cupti_names.size()) continue;
      const double value = metric->formula(counters);
      if (std::isfinite(value)) results[i].emplace_back(metric->id, value);
    }
  }
  return results;
}

}  // namespace warpgauge::metrics
