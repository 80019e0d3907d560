// Adds counts of lines up, and decides confidence and blame.
#include "harness/measuring/exact_count_facts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "harness/measuring/blank_facts.h"
#include "metrics/counting/line_counts.h"
#include "metrics/facts/catalog.h"

namespace warpgauge {
namespace {

using metrics::Fact;

using LineValues = std::map<std::string_view, double>;

/// The values of the metrics that `source` counts.
auto values_of(const metrics::Counts& counts, std::string_view source) {
  auto values = metrics::metric_values(counts);
  const auto is_uncounted = [&](const auto& value) {
    return source != "emulator" && metrics::metric(value.first).source == metrics::Source::emulator;
  };
  std::erase_if(values, is_uncounted);
  return values;
}

/// The values that belong to lines alone.
LineValues lines_own(const metrics::LineCounts& line) {
  const auto pairs = metrics::line_metric_values(line.counts);
  return {pairs.begin(), pairs.end()};
}

/// The values a line answers, with those that belong to lines alone.
LineValues values_of_line(const metrics::LineCounts& line, std::string_view source) {
  const auto pairs = values_of(line.counts, source);
  LineValues values(pairs.begin(), pairs.end());
  values.merge(lines_own(line));
  return values;
}

/// The value of `metric` in `line`; 0 if it has none.
double value_in(const LineValues& line, std::string_view metric) {
  const auto found = line.find(metric);
  return found == line.end() ? 0 : found->second;
}

/// The trust in a sum: that of its least sure line, even if the line counts nothing, because its 0
/// may be wrong. Of several such lines the one with the largest value gives the reason.
const metrics::Trust& trust_in_sum(const std::vector<metrics::LineCounts>& lines,
                                   const std::vector<LineValues>& values, std::string_view metric) {
  static const metrics::Trust kExact;
  const metrics::Trust* worst = &kExact;
  double most = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const metrics::Trust& trust = metrics::trust_in(lines[i], metric);
    const double value = value_in(values[i], metric);
    if (trust.confidence < worst->confidence) continue;
    if (trust.confidence == worst->confidence && value <= most) continue;
    worst = &trust;
    most = value;
  }
  return *worst;
}

/// The counts without a line, by kernel: of code without line information, or of the kernel as a
/// whole.
using Wholes = std::map<std::string_view, const metrics::LineCounts*>;

Wholes wholes_of(const std::vector<metrics::LineCounts>& lines) {
  Wholes wholes;
  for (const metrics::LineCounts& line : lines) {
    if (line.file.empty()) wholes.emplace(line.kernel, &line);
  }
  return wholes;
}

/// The trust in a line, which is no surer than its kernel's counts without a line: these may belong
/// to any line.
const metrics::Trust& trust_in_line(const metrics::LineCounts& line, const Wholes& wholes,
                                    std::string_view metric) {
  const metrics::Trust& own = metrics::trust_in(line, metric);
  const auto whole = wholes.find(line.kernel);
  if (whole == wholes.end()) return own;
  const metrics::Trust& all = metrics::trust_in(*whole->second, metric);
  return all.confidence > own.confidence ? all : own;
}

/// The value blamed on the line, with the line's cure.
Fact in_line(Fact value, const metrics::LineCounts& line) {
  const auto cure = line.cures.find(value.metric);
  value.cure = cure == line.cures.end() ? "" : cure->second;
  return blamed_on(std::move(value), line.kernel, line.source());
}

Fact trusted(Fact fact, const metrics::Trust& trust) {
  fact.confidence = to_string(trust.confidence);
  fact.confidence_reason = trust.reason;
  return fact;
}

}  // namespace

std::vector<Fact> counted_facts(const std::vector<metrics::LineCounts>& lines, Fact counted,
                                std::string_view source) {
  counted.source = source;
  metrics::Counts total;
  LineValues worst;  // of metrics of lines alone
  std::vector<LineValues> line_values;
  for (const metrics::LineCounts& line : lines) {
    total += line.counts;
    line_values.push_back(values_of_line(line, source));
    for (const auto& [metric, value] : lines_own(line)) {
      worst[metric] = std::max(worst[metric], value);
    }
  }
  auto values = values_of(total, source);
  for (const auto& [metric, value] : worst) {
    if (value > 0) values.emplace_back(metric, value);
  }

  std::vector<Fact> facts;
  for (const auto& [metric, value] : values) {
    Fact fact =
        trusted(with_value(counted, metric, value), trust_in_sum(lines, line_values, metric));
    fact.leaves_out = metrics::copies_left_out(total, metric);
    double most = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {  // blame the line with the largest value
      if (value_in(line_values[i], metric) <= most) continue;
      most = value_in(line_values[i], metric);
      fact = in_line(std::move(fact), lines[i]);
    }
    facts.push_back(std::move(fact));
  }
  const Wholes wholes = wholes_of(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const auto& [metric, value] : line_values[i]) {
      if (value == 0 &&
          metrics::trust_in(lines[i], metric).confidence == metrics::Confidence::exact) {
        continue;
      }
      const metrics::Trust& trust = trust_in_line(lines[i], wholes, metric);
      facts.push_back(trusted(in_line(with_value(counted, metric, value), lines[i]), trust));
      facts.back().scope = metrics::Scope::line;
      if (lines[i].file.empty()) {
        facts.back().file.clear();
        facts.back().line = 0;
      }
      facts.back().leaves_out = metrics::copies_left_out(lines[i].counts, metric);
    }
  }
  return facts;
}

}  // namespace warpgauge
