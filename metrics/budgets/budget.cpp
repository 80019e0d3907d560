// Reads a budget file whole, and finds the limit that applies to a case.
#include "metrics/budgets/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>

#include "metrics/architecture/arch_name.h"
#include "metrics/base/glob.h"
#include "metrics/base/why_unreadable.h"
#include "metrics/facts/built_in_limits.h"
#include "metrics/facts/counter_row.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kDefault = "default";

std::string text_of(const std::filesystem::path& path) {
  const auto refuse = [&](std::string_view why) {
    throw BudgetError(fmt::format("{}: cannot be read: {}\n  Give the path of a budget file.",
                                  path.string(), why));
  };
  if (const std::string why = why_unreadable(path); !why.empty()) refuse(why);
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || file.bad()) refuse("the disk fails");
  return text;
}

/// "name/sm_90" -> "name", "/sm_90". A name, which can be a glob of names, may hold a slash itself.
std::pair<std::string, std::string> without_arch(const std::string& section) {
  const std::size_t slash = section.rfind('/');
  if (slash == section.npos || !ArchName::parse(std::string_view(section).substr(slash + 1))) {
    return {section, ""};
  }
  return {section.substr(0, slash), section.substr(slash)};
}

/// The sections at each place, the architecture's own before the general one.
std::vector<const Budgets::Section*> sections_of(
    const std::vector<std::pair<const Budgets::Sections*, std::string>>& places,
    std::string_view arch) {
  std::vector<const Budgets::Section*> found;
  for (const auto& [sections, name] : places) {
    for (const std::string& section : {fmt::format("{}/{}", name, arch), name}) {
      const auto limits = sections->find(section);
      if (limits != sections->end()) found.push_back(&limits->second);
    }
  }
  return found;
}

/// The first limit for the metric; nullptr if there is none.
const Limit* limit_in(const std::vector<const Budgets::Section*>& sections, const CaseId& id,
                      std::string_view metric) {
  for (const Budgets::Section* section : sections) {
    const auto limit = section->limits.find(metric);
    if (limit != section->limits.end() &&
        (limit->second.of.empty() || limit->second.of != id.variant_type())) {
      return &limit->second;
    }
  }
  return nullptr;
}

}  // namespace

Budgets Budgets::load(const std::filesystem::path& path, std::string_view shown_as,
                      std::span<const CaseId> cases) {
  return read(text_of(path), shown_as, &cases);
}

Budgets Budgets::load_unregistered(const std::filesystem::path& path) {
  return read(text_of(path), path.string(), nullptr);
}

Budgets Budgets::parse(std::string_view text, std::string_view path,
                       std::span<const CaseId> cases) {
  return read(text, path, &cases);
}

Budgets Budgets::load_project(const std::filesystem::path& path, std::string_view shown_as) {
  return read(text_of(path), shown_as, nullptr, true);
}

void Budgets::rest_on(const Budgets& project) {
  project_ = project.sections_;
  if (!gate_on_) gate_on_ = project.gate_on_;
}

void Budgets::rest_on_file(const Budgets& file) {
  for (const auto& [name, section] : file.sections_) {
    Section& own = sections_[name];
    own.limits.insert(section.limits.begin(), section.limits.end());
    own.waivers.insert(own.waivers.end(), section.waivers.begin(), section.waivers.end());
  }
  if (!gate_on_) gate_on_ = file.gate_on_;
}

Budgets Budgets::of_kernel(const CaseId& id, std::span<const std::string> names) const {
  std::vector<std::pair<std::string, std::string>> fitting;  // glob, "/sm_90" or nothing
  Budgets budgets;
  budgets.gate_on_ = gate_on_;
  budgets.project_ = project_;
  for (const auto& [section, lines] : sections_) {
    auto [name, arch] = without_arch(section);
    if (name == kDefault) {
      budgets.sections_[section] = lines;
    } else if (fits(name, names)) {
      fitting.emplace_back(std::move(name), std::move(arch));
    }
  }
  // Sections sort by rank: named as the id, then longer globs, then tables for an architecture.
  std::ranges::stable_sort(fitting, std::ranges::greater(), [&](const auto& section) {
    return std::tuple(section.first == id.variant_type(), section.first.size(),
                      !section.second.empty());
  });
  const std::string own = id.variant_type() + "@" + id.size;
  Section& general = budgets.sections_[own];
  for (const auto& [name, arch] : fitting) {
    Section& section = budgets.sections_[own + arch];
    const Section& found = sections_.at(name + arch);
    for (const auto& [metric, limit] : found.limits) {
      // A line for an architecture must not go before a general line of a longer glob.
      if (arch.empty() || !general.limits.contains(metric)) section.limits.emplace(metric, limit);
    }
    section.waivers.insert(section.waivers.end(), found.waivers.begin(), found.waivers.end());
  }
  return budgets;
}

std::set<std::string> Budgets::section_names() const {
  std::set<std::string> names;
  for (const auto& [section, lines] : sections_) names.insert(without_arch(section).first);
  names.erase(std::string(kDefault));
  return names;
}

const Limit* Budgets::find(const CaseId& id, std::string_view arch, std::string_view metric) const {
  return limit_in(sections_of(places(id), arch), id, metric);
}

std::vector<const Waiver*> Budgets::waivers(const CaseId& id, std::string_view arch) const {
  std::vector<const Waiver*> found;
  for (const Section* section : sections_of(places(id), arch)) {
    for (const Waiver& waiver : section->waivers) found.push_back(&waiver);
  }
  return found;
}

std::vector<const Metric*> Budgets::metrics(const CaseId& id, std::string_view arch) const {
  const std::vector<const Section*> sections_of_case = sections_of(places(id), arch);
  std::vector<const Metric*> limited;
  const auto add_limited = [&](const Metric& row) {
    if (limit_in(sections_of_case, id, row.id) != nullptr) limited.push_back(&row);
  };
  std::ranges::for_each(catalog(), add_limited);
  std::set<std::string_view> counters;
  for (const auto& [sections, name] : places(id)) {
    for (const auto& [section, lines] : *sections) {
      if (without_arch(section).first != name) continue;
      for (const auto& [metric, limit] : lines.limits) {
        if (metric.starts_with(kCounterPrefix)) counters.insert(metric);
      }
    }
  }
  for (const std::string_view counter : counters) add_limited(metrics::metric(counter));
  return limited;
}

std::vector<Budgets::Place> Budgets::places(const CaseId& id) const {
  static const Sections kBuiltIn = {{std::string(kDefault), {built_in_limits(), {}}}};
  const std::string type = id.variant_type(), whole(kDefault);
  return {{&sections_, type + "@" + id.size},
          {&sections_, type},
          {&sections_, id.variant},
          {&sections_, whole},
          {&project_, id.family},
          {&project_, whole},
          {&kBuiltIn, whole}};
}

std::set<CaseId> Budgets::ratios_of(const CaseId& id) const {
  std::set<CaseId> cases;
  for (const auto& [place, name] : places(id)) {
    for (const auto& [section, lines] : *place) {
      if (without_arch(section).first != name) continue;
      for (const auto& [metric, limit] : lines.limits) {
        if (limit.of.empty() || limit.of == kIdeal || limit.of == id.variant_type()) continue;
        cases.insert(id.other(limit.of));
      }
    }
  }
  return cases;
}

}  // namespace warpgauge::metrics
