// Joins the changes of cases to those of kernels.
#include "harness/diff/kernel_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/diff/kernel_names.h"

namespace warpgauge::diff {
namespace {

std::size_t place_of(ChangeKind kind) {
  return static_cast<std::size_t>(std::ranges::find(kKindsOfKernels, kind) - kKindsOfKernels);
}

bool is_told(ChangeKind kind) { return place_of(kind) < place_of(ChangeKind::same); }

std::string name_of(const Change& change, const KernelsOfCases& names) {
  const auto compiled = names.find({change.id, change.arch});
  if (compiled != names.end()) return template_of(compiled->second.b);
  const std::string_view id = change.id;
  return std::string(id.substr(0, id.find('@')));
}

void add_fact(KernelChanges& kernel, const Change& change) {
  const std::string_view topic = topic_of(change.metric->id);
  const auto known = std::ranges::find_if(kernel.facts, [&](const FactChange& fact) {
    return fact.topic == topic && fact.gravest->kind == change.kind;
  });
  if (known == kernel.facts.end()) {
    kernel.facts.push_back({topic, &change});
    return;
  }
  ++known->values;
  if (is_graver(change, *known->gravest)) known->gravest = &change;
}

/// Tells the gravest facts of each kind. What only explains is left out beside a loss or a gain.
void choose_told(KernelChanges& kernel) {
  constexpr std::size_t kMost = 3;  // of a kind
  KindCounts told{};
  for (FactChange& fact : kernel.facts) {
    const ChangeKind kind = fact.gravest->kind;
    std::size_t& of_kind = told[static_cast<std::size_t>(kind)];
    const bool only_explains = kind == ChangeKind::changed && kernel.kind != ChangeKind::changed;
    fact.told = !only_explains && of_kind < kMost;
    if (fact.told) ++of_kind;
  }
}

void finish(KernelChanges& kernel) {
  kernel.kind = ChangeKind::gone;
  for (const CaseChanges of_case : kernel.cases) {
    for (const Change& change : of_case) {
      if (!change.is_judged()) continue;
      if (place_of(change.kind) < place_of(kernel.kind)) kernel.kind = change.kind;
      if (is_told(change.kind)) add_fact(kernel, change);
    }
  }
  std::ranges::stable_sort(kernel.facts, [](const FactChange& a, const FactChange& b) {
    const std::size_t first = place_of(a.gravest->kind), second = place_of(b.gravest->kind);
    return first != second ? first < second : is_graver(*a.gravest, *b.gravest);
  });
  choose_told(kernel);
}

std::string kind_words(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::same:
      return "the same";
    case ChangeKind::moved:
      return "moved with the same machine code and launches";
    case ChangeKind::unsure:
      return "not compared";
    default:
      return std::string(to_string(kind));
  }
}

}  // namespace

bool KernelChanges::is_one_sided() const {
  return std::ranges::all_of(cases,
                             [&](CaseChanges of_case) { return only_side(of_case) == kind; });
}

std::string_view topic_of(std::string_view metric) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"spill", "local"},        {"stack", "local"},       {"registers", "occupancy"},
      {"barriers", "occupancy"}, {"cluster", "occupancy"}, {"constant", "occupancy"},
      {"throughput", "time"},
  };
  const std::string_view word = metric.substr(0, metric.find('.'));
  const auto* const other =
      std::ranges::find(kOthers, word, &std::pair<std::string_view, std::string_view>::first);
  return other == std::end(kOthers) ? word : other->second;
}

std::vector<KernelChanges> by_kernel(std::span<const Change> changes, const KernelsOfCases& names) {
  std::vector<KernelChanges> kernels;
  std::map<std::string, std::size_t> places;
  for (const CaseChanges of_case : by_case(changes)) {
    const std::string name = name_of(of_case.front(), names);
    const auto [place, is_new] = places.try_emplace(name, kernels.size());
    if (is_new) kernels.push_back({.name = name});
    kernels[place->second].cases.push_back(of_case);
  }
  std::ranges::for_each(kernels, finish);
  std::ranges::stable_sort(kernels, {},
                           [](const KernelChanges& kernel) { return place_of(kernel.kind); });
  return kernels;
}

KindCounts count_kinds(const std::vector<KernelChanges>& kernels) {
  KindCounts counts{};
  for (const KernelChanges& kernel : kernels) ++counts[static_cast<std::size_t>(kernel.kind)];
  return counts;
}

CauseCounts count_causes(const std::vector<KernelChanges>& kernels) {
  constexpr std::array kCaused = {ChangeKind::worse, ChangeKind::moved, ChangeKind::changed,
                                  ChangeKind::better};
  CauseCounts counts;
  for (const KernelChanges& kernel : kernels) {
    if (std::ranges::find(kCaused, kernel.kind) == kCaused.end()) continue;
    ++counts[kernel.cause()][static_cast<std::size_t>(kernel.kind)];
  }
  return counts;
}

std::string headline(const std::vector<KernelChanges>& kernels) {
  const KindCounts counts = count_kinds(kernels);
  const auto count = [&](ChangeKind kind) { return counts[static_cast<std::size_t>(kind)]; };
  std::vector<std::string> parts;
  for (const ChangeKind kind : kKindsOfKernels) {
    if (count(kind) == 0) continue;
    const std::string_view noun = !parts.empty() ? "" : count(kind) == 1 ? "kernel " : "kernels ";
    parts.push_back(fmt::format("{} {}{}", count(kind), noun, kind_words(kind)));
  }
  return fmt::format("{}: {}",
                     count(ChangeKind::worse) > 0  ? "WORSE"
                     : count(ChangeKind::lost) > 0 ? "LOST"
                                                   : "NOT WORSE",
                     fmt::join(parts, ", "));
}

}  // namespace warpgauge::diff
