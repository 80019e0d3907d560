#include "harness/diff/side.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "metrics/catalog.h"
#include "metrics/glob.h"
#include "metrics/value.h"

namespace warpgauge::diff {
namespace {

using metrics::Fact;
using metrics::StoredRun;

Key key_of(const SideValue& value) {
  const Fact& fact = *value.fact;
  return {fact.id.str(), fact.arch, fact.metric, value.gpu()};
}

/// The larger, the more a value counts.
auto age(const SideValue& value) {
  return std::tuple(value.failed() || value.is_measured(), std::string_view(value.run->time),
                    value.failed());
}

/// Up to three names, and how many more there are.
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
  std::map<std::pair<Key, std::string_view>, SideValue> known;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      const SideValue value{&fact, &run.run};
      if (fact.scope != metrics::Scope::whole_case || !value.is_measured()) continue;
      const Key key = key_of(value);
      const SideValue& first = known.try_emplace({key, run.run.time}, value).first->second;
      if (first.fact->value == fact.value) continue;
      throw std::runtime_error(fmt::format(
          "{}: {} of {} on {} is {} in run {} and {} in run {}, both of {}: remove one of them",
          path.string(), key.metric, key.id, key.arch, metrics::to_text(first.fact->value),
          first.run->id, metrics::to_text(fact.value), run.run.id, run.run.time));
    }
  }
}

}  // namespace

metrics::Device SideValue::device() const {
  const std::string& name = fact->context->device;
  const auto found = std::ranges::find(run->devices, name, &metrics::Device::name);
  return found == run->devices.end() ? metrics::Device{.name = name} : *found;
}

std::string SideValue::gpu() const {
  if (metrics::metric(fact->metric).cls != metrics::Class::bounded) return "";
  const metrics::Device device = this->device();
  return device.uuid_hash.empty() ? device.name : device.uuid_hash;
}

Side side_of(const std::vector<StoredRun>& runs) {
  Side side;
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      if (fact.scope != metrics::Scope::whole_case) continue;
      const SideValue value{&fact, &run.run};
      const auto [known, is_new] = side.values.try_emplace(key_of(value), value);
      if (!is_new && age(value) >= age(known->second)) known->second = value;
    }
  }
  for (const StoredRun& run : runs) {
    for (const Fact& fact : run.facts) {
      const SideValue value{&fact, &run.run};
      if (fact.scope != metrics::Scope::line || value.number() == nullptr) continue;
      const auto whole = side.values.find(key_of(value));
      if (whole == side.values.end() || whole->second.run != &run.run) continue;
      side.lines[whole->first][{fact.kernel, fact.file, fact.line}] += *value.number();
    }
  }
  return side;
}

std::vector<StoredRun> read_side(const std::filesystem::path& path,
                                 const metrics::Selection& selection,
                                 const std::vector<std::string>& archs) {
  std::vector<StoredRun> runs = metrics::read_facts(path);
  const auto has_facts = [&] {
    return std::ranges::any_of(runs, [](const StoredRun& run) { return !run.facts.empty(); });
  };
  if (!has_facts()) throw std::runtime_error(fmt::format("{}: no facts", path.string()));
  refuse_contradictions(runs, path);
  const auto keep = [&](const auto& wanted) {
    for (StoredRun& run : runs) {
      std::erase_if(run.facts, [&](const Fact& fact) { return !wanted(fact); });
    }
    return has_facts();
  };
  const auto fits = [&](const Fact& fact) { return selection.is_filtered_in(fact.id.str()); };
  if (!selection.filter.empty() && !keep(fits)) {
    throw std::runtime_error(fmt::format("--filter '{}' matches no case of {}",
                                         fmt::join(selection.filter, ","), path.string()));
  }
  const auto stays = [&](const Fact& fact) { return !selection.is_excluded(fact.id.str()); };
  if (!selection.exclude.empty() && !keep(stays)) {
    throw std::runtime_error(fmt::format("--exclude '{}' leaves no case of {}",
                                         fmt::join(selection.exclude, ","), path.string()));
  }
  const auto is_of_arch = [&](const Fact& fact) {
    return std::ranges::any_of(archs, [&](const std::string& glob) {
      return metrics::fits(glob, {&fact.arch, 1});
    });
  };
  if (!archs.empty() && !keep(is_of_arch)) {
    throw std::runtime_error(
        fmt::format("--arch {} matches no case of {}", fmt::join(archs, ","), path.string()));
  }
  return runs;
}

std::string origin(const std::vector<StoredRun>& runs) {
  std::set<std::string> commits, devices, toolkits, sources, times;
  for (const StoredRun& one : runs) {
    if (one.facts.empty()) continue;
    const metrics::Run& run = one.run;
    if (!run.commit.empty()) {
      commits.insert(fmt::format("commit {}{}", run.commit.substr(0, 12), run.dirty ? "+" : ""));
    }
    if (!run.toolkit.empty()) toolkits.insert("CUDA " + run.toolkit);
    times.insert(run.time);
    for (const Fact& fact : one.facts) {
      if (!fact.context->device.empty()) devices.insert(fact.context->device);
      if (!fact.source.empty()) sources.insert(fact.source);
    }
  }
  std::vector<std::string> parts;
  for (const auto* names : {&commits, &devices, &toolkits, &sources, &times}) {
    add_names(parts, *names);
  }
  if (std::ranges::any_of(runs, &StoredRun::torn)) parts.emplace_back("its last line was cut off");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace warpgauge::diff
