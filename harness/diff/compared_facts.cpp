// Reads files of facts, keeps the newest of each value, and names where they are from.
#include "harness/diff/compared_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "metrics/base/glob.h"
#include "metrics/base/value.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::diff {
namespace {

using metrics::Fact;
using metrics::StoredRun;

Key key_of(const ComparedValue& value) {
  const Fact& fact = *value.fact;
  return {fact.id.str(), fact.arch, fact.metric, value.gpu()};
}

/// The larger, the more a value counts: of two that are as good, the newer.
auto rank(const ComparedValue& value) {
  return std::tuple(value.failed() || value.is_measured(), std::string_view(value.run->time),
                    value.failed());
}

/// Adds up to three names, and how many more there are.
void add_names(std::vector<std::string>& parts, const std::set<std::string>& names) {
  constexpr std::size_t kNamed = 3;
  if (names.empty()) return;
  const std::size_t named = std::min(kNamed, names.size());
  std::string part =
      fmt::format("{}", fmt::join(names.begin(), std::next(names.begin(), named), "/"));
  if (names.size() > named) part += fmt::format(" and {} more", names.size() - named);
  parts.push_back(part);
}

/// Two values of one thing, of the same time: neither is the newest. Throws std::runtime_error.
void refuse_contradictions(const std::vector<StoredRun>& runs, const std::filesystem::path& path) {
  std::map<std::pair<Key, std::string_view>, ComparedValue> known;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      const ComparedValue value{&fact, &run.run};
      if (fact.scope != metrics::Scope::whole_case || !value.is_measured()) continue;
      const Key key = key_of(value);
      const ComparedValue& first = known.try_emplace({key, run.run.time}, value).first->second;
      if (first.fact->value == fact.value) continue;
      throw std::runtime_error(fmt::format(
          "{}: {} of {} on {} is {} in run {} and {} in run {}, both of {}: remove one of them",
          path.string(), key.metric, key.id, key.arch, metrics::to_text(first.fact->value),
          first.run->id, metrics::to_text(fact.value), run.run.id, run.run.time));
    }
  }
}

}  // namespace

metrics::Device ComparedValue::device() const {
  const std::string& name = fact->context->device;
  const auto found = std::ranges::find(run->devices, name, &metrics::Device::name);
  return found == run->devices.end() ? metrics::Device{.name = name} : *found;
}

std::string ComparedValue::gpu() const {
  if (metrics::metric(fact->metric).cls != metrics::Class::bounded) return "";
  const metrics::Device device = this->device();
  return device.uuid_hash.empty() ? device.name : device.uuid_hash;
}

ComparedFacts newest_of(const std::vector<StoredRun>& runs) {
  ComparedFacts side;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      if (fact.scope != metrics::Scope::whole_case) continue;
      const ComparedValue value{&fact, &run.run};
      const auto [known, is_new] = side.values.try_emplace(key_of(value), value);
      if (!is_new && rank(value) >= rank(known->second)) known->second = value;
    }
  }
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      const ComparedValue value{&fact, &run.run};
      if (fact.scope != metrics::Scope::line || value.number() == nullptr) continue;
      const auto whole = side.values.find(key_of(value));
      if (whole == side.values.end() || whole->second.run != &run.run) continue;
      side.lines[whole->first][{fact.kernel, fact.file, fact.line}] += *value.number();
    }
  }
  return side;
}

CaseKey case_of(const Fact& fact) { return {fact.id.str(), fact.arch}; }

std::vector<Fact> ComparedFile::cases(const Selection& selection,
                                      const std::vector<std::string>& archs) {
  std::vector<Fact> cases;
  reader_.read([&](const Fact& described) {
    cases.push_back(described);
    return false;
  });
  if (cases.empty()) throw std::runtime_error(fmt::format("{}: no facts", path_.string()));
  const auto keep = [&](const auto& is_kept, const std::string& none_left) {
    std::erase_if(cases, [&](const Fact& fact) { return !is_kept(fact); });
    if (cases.empty()) throw std::runtime_error(none_left + path_.string());
  };
  keep([&](const Fact& fact) { return selection.is_filtered_in(fact.id.str()); },
       fmt::format("--filter '{}' matches no case of ", fmt::join(selection.filter, ",")));
  keep([&](const Fact& fact) { return !selection.is_excluded(fact.id.str()); },
       fmt::format("--exclude '{}' leaves no case of ", fmt::join(selection.exclude, ",")));
  const auto is_of_arch = [&](const Fact& fact) {
    return archs.empty() || std::ranges::any_of(archs, [&](const std::string& glob) {
             return metrics::fits(glob, {&fact.arch, 1});
           });
  };
  keep(is_of_arch, fmt::format("--arch {} matches no case of ", fmt::join(archs, ",")));
  return cases;
}

std::vector<StoredRun> ComparedFile::read(const std::function<bool(const CaseKey&)>& wanted) {
  std::vector<StoredRun> runs =
      reader_.read([&](const Fact& described) { return wanted(case_of(described)); });
  refuse_contradictions(runs, path_);
  return runs;
}

void Origin::add(const std::vector<StoredRun>& runs) {
  for (const StoredRun& stored : runs) {
    const metrics::Run& run = stored.run;
    is_torn_ |= stored.torn;
    if (std::ranges::find(runs_, run.id) == runs_.end()) runs_.push_back(run.id);
    if (stored.facts.empty()) continue;
    with_facts_.insert(run.id);
    if (!run.commit.empty()) {
      commits_.insert(run.commit.substr(0, 12) + (run.dirty ? "+" : ""));
    }
    if (!run.toolkit.empty()) toolkits_.insert("CUDA " + run.toolkit);
    times_.insert(run.time);
    for (const Fact& fact : stored.facts) {
      if (!fact.context->device.empty()) devices_.insert(fact.context->device);
      if (!fact.source.empty()) sources_.insert(fact.source);
    }
  }
}

std::vector<std::string> Origin::runs() const {
  std::vector<std::string> runs;
  std::ranges::copy_if(runs_, std::back_inserter(runs),
                       [&](const std::string& run) { return with_facts_.contains(run); });
  return runs;
}

std::string Origin::text() const {
  std::vector<std::string> parts;
  const std::set<std::string> commits = [this] {
    std::set<std::string> texts;
    for (const std::string& commit : commits_) texts.insert("commit " + commit);
    return texts;
  }();
  for (const auto* names : {&commits, &devices_, &toolkits_, &sources_, &times_}) {
    add_names(parts, *names);
  }
  if (is_torn_) parts.emplace_back("its last line was cut off");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace warpgauge::diff
