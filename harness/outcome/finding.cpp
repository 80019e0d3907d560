// Groups values that people have to look at by their cause, and blames source lines.
#include "harness/outcome/finding.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include "harness/build_info.h"
#include "harness/files/source_root.h"
#include "metrics/base/demangled.h"
#include "metrics/base/hash.h"

namespace warpgauge::outcome {
namespace {

using metrics::Fact;
using metrics::Verdict;

/// How far a value is from the nearest number of its limit: as a share of it, then as it is.
std::pair<double, double> distance(const Fact& fact) {
  const double* value = std::get_if<double>(&fact.value);
  if (value == nullptr || !fact.limit) return {0, 0};
  double nearest = 0, far = std::numeric_limits<double>::infinity();
  const auto take = [&](double bound) {
    if (std::abs(*value - bound) >= far) return;
    far = std::abs(*value - bound);
    nearest = bound;
  };
  const metrics::Limit limit = fact.limit->absolute();
  if (limit.max) take(*limit.max);
  if (limit.min) take(*limit.min);
  if (const double* equal = std::get_if<double>(&limit.equal)) take(*equal);
  if (std::isinf(far)) return {0, 0};
  const double share = nearest == 0 ? std::numeric_limits<double>::infinity() : far / nearest;
  return {far == 0 ? 0 : share, far};
}

bool is_beyond(const Fact& fact) {
  return fact.verdict == Verdict::fail || fact.verdict == Verdict::moved ||
         fact.would == Verdict::fail;
}

/// The parts of a key that is equal for values with one cause.
std::vector<std::string> parts_of_group(const Fact& fact) {
  std::string verdict(to_string(fact.verdict));
  if (fact.context->kind != metrics::CaseKind::inspected || fact.kernel.empty()) {
    return {verdict,        fact.metric,
            fact.id.family, fact.id.variant_type(),
            fact.file,      std::to_string(fact.line)};
  }
  // Of compiled code a kernel is the same one in all files, and with all template arguments. What
  // it spills it both stores and loads.
  const std::string metric = fact.metric.starts_with("spill.") ? "spill" : fact.metric;
  return {verdict, metric, metrics::without_arguments(metrics::demangled(fact.kernel))};
}

std::string group_of(const Fact& fact) {
  std::string cause;
  for (const std::string& part : parts_of_group(fact)) cause += part + '\0';
  return metrics::hash_text(cause + fact.rule + fact.other);
}

using PlaceOfValue = std::tuple<const metrics::Run*, metrics::CaseId, std::string, std::string>;

PlaceOfValue place_of(const JudgedValue& value) {
  return {value.run, value.fact->id, value.fact->arch, value.fact->metric};
}

/// The other line of what a check has found, if there is one.
std::optional<BlamedLine> other_line(const Fact& fact) {
  const std::optional<metrics::CallSite> other = metrics::line_called(fact.other);
  if (!other || *other == metrics::CallSite{fact.file, fact.line}) return std::nullopt;
  return BlamedLine{.file = other->file, .line = other->line, .text = {}};
}

/// The lines with most of the value, from those of the same case, architecture and metric. Of what
/// a check has found both its lines.
std::vector<BlamedLine> blame(const Fact& fact, const std::vector<const Fact*>& lines) {
  constexpr std::size_t kMost = 3;
  std::vector<BlamedLine> blamed;
  double sum = 0;
  for (const Fact* line : lines) {
    const double* value = std::get_if<double>(&line->value);
    if (value == nullptr || *value <= 0 || line->file.empty()) continue;
    sum += *value;
    const auto same = std::ranges::find_if(blamed, [&](const BlamedLine& known) {
      return known.file == line->file && known.line == line->line;
    });
    if (same == blamed.end()) {
      blamed.push_back({.file = line->file,
                        .line = line->line,
                        .text = {},
                        .value = *value,
                        .inlined = line->inlined});
    } else {
      same->value += *value;
      same->inlined = metrics::common_chain({same->file, same->line, same->inlined},
                                            {line->file, line->line, line->inlined});
    }
  }
  const double* whole = std::get_if<double>(&fact.value);
  if (whole != nullptr && sum > 0 && std::abs(sum - *whole) <= 1e-9 * sum) {
    for (BlamedLine& line : blamed) line.share = line.value / sum;
  }
  std::ranges::stable_sort(blamed, std::greater(), &BlamedLine::value);
  if (blamed.size() > kMost) blamed.resize(kMost);
  if (blamed.empty() && !fact.file.empty()) {
    blamed.push_back({.file = fact.file, .line = fact.line, .text = {}, .inlined = fact.inlined});
    if (const std::optional<BlamedLine> other = other_line(fact)) blamed.push_back(*other);
  }
  return blamed;
}

/// The texts of source lines, each of which is read once.
class SourceLines {
 public:
  /// Of facts that another machine made, the sources are those of this program.
  void fill(const metrics::Run& run, std::vector<BlamedLine>& lines) {
    const std::string& folder = folder_of(run);
    for (BlamedLine& line : lines) {
      const auto [text, is_new] = texts_.try_emplace({folder, line.file, line.line});
      if (is_new) text->second = files::source_text(folder, line.file, line.line);
      line.text = text->second;
    }
  }

 private:
  const std::string& folder_of(const metrics::Run& run) {
    const auto [folder, is_new] = folders_.try_emplace(run.source_root, run.source_root);
    std::error_code unreadable;
    if (is_new && !std::filesystem::is_directory(run.source_root, unreadable)) {
      folder->second = kBuildInfo.source_root;
    }
    return folder->second;
  }

  std::map<std::string, std::string> folders_;  ///< by that which a run names
  std::map<std::tuple<std::string, std::string, int>, std::string> texts_;
};

}  // namespace

std::vector<JudgedValue> Finding::others() const {
  std::vector<JudgedValue> others;
  for (const FoundValue& found : std::span(values).subspan(1)) others.push_back(found.judged);
  std::ranges::stable_partition(
      others, [&](const JudgedValue& other) { return other.fact->id == shown().fact->id; });
  return others;
}

int rank(Verdict verdict) {
  constexpr Verdict kWorstFirst[] = {Verdict::error,      Verdict::fail,      Verdict::moved,
                                     Verdict::waived,     Verdict::better,    Verdict::pass,
                                     Verdict::unbudgeted, Verdict::unmeasured};
  return static_cast<int>(std::ranges::find(kWorstFirst, verdict) - std::begin(kWorstFirst));
}

bool is_worse(const Fact& a, const Fact& b, const Requirements& requirements) {
  const auto key = [&](const Fact& fact) {
    const auto [share, far] = is_beyond(fact) ? distance(fact) : std::pair(0.0, 0.0);
    return std::tuple(!requirements.is_wrong(fact), rank(fact.verdict), -share, -far);
  };
  return key(a) < key(b);
}

bool is_found(const Fact& fact, const Requirements& requirements) {
  return fact.verdict == Verdict::error || fact.verdict == Verdict::fail ||
         fact.verdict == Verdict::moved || fact.would == Verdict::fail ||
         (fact.verdict == Verdict::better && requirements.is_wrong(fact));
}

std::vector<Finding> findings_of(const std::vector<JudgedValue>& values,
                                 const std::vector<JudgedValue>& lines,
                                 const Requirements& requirements) {
  std::vector<JudgedValue> found;
  std::ranges::copy_if(values, std::back_inserter(found), [&](const JudgedValue& value) {
    return is_found(*value.fact, requirements);
  });
  std::ranges::stable_sort(found, [&](const JudgedValue& a, const JudgedValue& b) {
    return is_worse(*a.fact, *b.fact, requirements);
  });
  std::map<PlaceOfValue, std::vector<const Fact*>> of_lines;
  for (const JudgedValue& value : found) of_lines[place_of(value)];
  for (const JudgedValue& line : lines) {
    const auto wanted = of_lines.find(place_of(line));
    if (wanted != of_lines.end()) wanted->second.push_back(line.fact);
  }
  std::vector<Finding> findings;
  std::map<std::string, std::size_t> places;
  SourceLines source;
  for (const JudgedValue& value : found) {
    const std::string group = group_of(*value.fact);
    const auto [place, is_new] = places.try_emplace(group, findings.size());
    if (is_new) findings.push_back({group, requirements.is_wrong(*value.fact), {}});
    FoundValue found = {value, blame(*value.fact, of_lines.at(place_of(value)))};
    source.fill(*value.run, found.blame);
    findings[place->second].values.push_back(std::move(found));
  }
  return findings;
}

std::vector<Finding> findings_of(const std::vector<Fact>& facts, const metrics::Run& run,
                                 const Requirements& requirements) {
  std::vector<JudgedValue> values, lines;
  for (const Fact& fact : facts) {
    (fact.scope == metrics::Scope::whole_case ? values : lines).push_back({&fact, &run});
  }
  return findings_of(values, lines, requirements);
}

}  // namespace warpgauge::outcome
