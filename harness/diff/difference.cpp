// Finds the values that changed between two runs, says how and why, and sorts them.
#include "harness/diff/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/diff/noise.h"
#include "metrics/facts/built_in_limits.h"

namespace warpgauge::diff {
namespace {

using metrics::Class;
using metrics::Metric;

/// True for a value that a budget was held against.
bool has_budget(const ComparedValue* value) {
  if (value == nullptr || !value->is_measured()) return false;
  return value->fact->verdict != metrics::Verdict::unbudgeted;
}

bool says_anything(const ComparedValue& value) { return value.is_measured() || value.failed(); }

/// The kind of change between two values that are not the same.
ChangeKind kind_of_change(const ComparedValue& a, const ComparedValue& b, const Metric& metric,
                          double noise) {
  if (metric.cls == Class::bounded) {
    if (!a.fact->interval || !b.fact->interval) return ChangeKind::unsure;
    if (!is_beyond_noise(*a.fact, *b.fact, noise)) return ChangeKind::same;
  }
  if (a.number() == nullptr) return ChangeKind::changed;  // words
  return direction(*a.number(), *b.number(), metric);
}

/// Either side may be nullptr: its run does not have the value.
ChangeKind kind_of(const ComparedValue* a, const ComparedValue* b, const Metric& metric,
                   double noise) {
  const bool a_failed = a != nullptr && a->failed();
  if (b != nullptr && b->failed()) return a_failed ? ChangeKind::same : ChangeKind::worse;
  const bool in_a = a != nullptr && a->is_measured(), in_b = b != nullptr && b->is_measured();
  if (a_failed && in_b) return ChangeKind::better;
  if (!in_a) return ChangeKind::added;
  if (!in_b) return metric.cls == Class::info ? ChangeKind::gone : ChangeKind::lost;
  if (a->fact->value == b->fact->value) return ChangeKind::same;
  return kind_of_change(*a, *b, metric, noise);
}

std::optional<double> relative_change(const metrics::Value& a, const metrics::Value& b) {
  const double *before = std::get_if<double>(&a), *after = std::get_if<double>(&b);
  if (before == nullptr || after == nullptr || *before == 0) return std::nullopt;
  return (*after - *before) / std::abs(*before);
}

void add_cause(Change& change, const ComparedValue& a, const ComparedValue& b) {
  change.cause = cause_of(a, b);
  change.details = details_of(a, b);
  if (is_of_the_machine(*change.cause) && !a.failed() && !b.failed())
    change.kind = ChangeKind::moved;
  if (is_estimate(a, b)) change.kind = ChangeKind::changed;
  if (is_recount(*change.cause, a, b)) change.kind = ChangeKind::unsure;
}

Change change_of(const ComparedValue* a, const ComparedValue* b, const Metric& metric,
                 double noise) {
  const ComparedValue& some = b != nullptr ? *b : *a;
  Change change{.id = some.fact->id.str(), .arch = some.fact->arch, .metric = &metric};
  if (!some.gpu().empty()) {
    const metrics::Device device = some.device();
    change.gpu = device.name + (device.uuid_hash.empty() ? "" : " " + device.uuid_hash);
  }
  change.kind = kind_of(a, b, metric, noise);
  if (a != nullptr) change.a = a->fact->value;
  if (b != nullptr) change.b = b->fact->value;
  change.relative = relative_change(change.a, change.b);
  if (a != nullptr && b != nullptr) change.other_code = have_other_code(*a, *b);
  if (b != nullptr && !b->is_measured()) change.reason = b->fact->reason;
  change.has_budget = has_budget(a) || has_budget(b);
  const bool differs = change.kind == ChangeKind::worse || change.kind == ChangeKind::better ||
                       change.kind == ChangeKind::changed;
  if (differs && a != nullptr && a->is_measured() && b != nullptr && b->is_measured()) {
    add_cause(change, *a, *b);
  }
  return change;
}

/// The key in A of each value of B that is of another GPU of the same name, where each side has
/// just one such: the runners of CI are many.
std::map<Key, Key> on_like_gpus(const ComparedFacts& a, const ComparedFacts& b) {
  const auto alone = [](const ComparedFacts& mine, const ComparedFacts& other) {
    std::map<Key, std::vector<Key>> found;  // by the key with the name of the GPU
    for (const auto& [key, value] : mine.values) {
      if (other.values.contains(key)) continue;
      Key like = key;
      like.gpu = value.device().name;
      found[like].push_back(key);
    }
    return found;
  };
  const std::map<Key, std::vector<Key>> in_a = alone(a, b);
  std::map<Key, Key> names;
  for (const auto& [like, keys] : alone(b, a)) {
    const auto other = in_a.find(like);
    if (keys.size() != 1 || other == in_a.end() || other->second.size() != 1) continue;
    names.emplace(keys.front(), other->second.front());
  }
  return names;
}

/// The side to which the occupancy of a case moved, by its id and architecture.
using OccupancyMoves = std::map<std::pair<std::string_view, std::string_view>, ChangeKind>;

OccupancyMoves occupancy_moves(const std::vector<Change>& changes) {
  OccupancyMoves moves;
  for (const Change& change : changes) {
    const bool is_measured = std::holds_alternative<double>(change.b);
    if (change.metric->id == "occupancy.theoretical" && is_measured) {
      moves.emplace(std::pair(change.id, change.arch), change.kind);
    }
  }
  return moves;
}

/// True where a value that moved to either side costs and gains nothing. Where occupancy is not
/// known, what costs occupancy speaks for itself; so does what explains, under a budget of its own.
bool costs_nothing(const Change& change, const OccupancyMoves& occupancy) {
  switch (change.metric->cost) {
    case metrics::Cost::direct:
      return false;
    case metrics::Cost::occupancy: {
      const auto move = occupancy.find({change.id, change.arch});
      return move != occupancy.end() && move->second != change.kind;
    }
    case metrics::Cost::size:
      return change.relative && std::abs(*change.relative) <= metrics::kFreeGrowth;
    case metrics::Cost::explains:
      return !change.has_budget;
  }
  return false;
}

void neutralise_what_costs_nothing(std::vector<Change>& changes) {
  const OccupancyMoves occupancy = occupancy_moves(changes);
  for (Change& change : changes) {
    const bool is_directed = change.kind == ChangeKind::worse || change.kind == ChangeKind::better;
    const bool are_numbers =
        std::holds_alternative<double>(change.a) && std::holds_alternative<double>(change.b);
    if (is_directed && are_numbers && costs_nothing(change, occupancy)) {
      change.kind = ChangeKind::changed;
    }
  }
}

/// The key that sorts the worst changes first: by kind; what every kernel has a budget for; by what
/// it costs; by share. A change from zero counts as more than any share; of two of these, the
/// larger goes first.
auto rank(const Change& change) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double *before = std::get_if<double>(&change.a), *after = std::get_if<double>(&change.b);
  const bool from_nothing = before != nullptr && *before == 0 && after != nullptr && *after != 0;
  const double share = change.relative ? std::abs(*change.relative) : 0;
  const bool has_budget = metrics::built_in_limit(change.metric->id) != nullptr;
  return std::tuple(change.kind, !has_budget, change.metric->cost,
                    from_nothing ? -kInfinity : -share, from_nothing ? -*after : 0,
                    change.metric->id);
}

}  // namespace

std::vector<Change> find_changes(const ComparedFacts& a, const ComparedFacts& b, double noise) {
  const std::map<Key, Key> names = on_like_gpus(a, b);
  struct Pair {
    const ComparedValue *a = nullptr, *b = nullptr;
    const Key *key_a = nullptr, *key_b = nullptr;
  };
  std::map<Key, Pair> pairs;
  for (const auto& [key, value] : a.values) pairs[key].a = &value, pairs[key].key_a = &key;
  for (const auto& [key, value] : b.values) {
    const auto like = names.find(key);
    Pair& pair = pairs[like == names.end() ? key : like->second];
    pair.b = &value, pair.key_b = &key;
  }
  const auto lines_of = [](const ComparedFacts& side, const Key* key) {
    const auto found = key == nullptr ? side.lines.end() : side.lines.find(*key);
    return found == side.lines.end() ? LineValues{} : found->second;
  };
  std::vector<Change> changes;
  for (const auto& [key, pair] : pairs) {
    const bool in_a = pair.a != nullptr && pair.a->is_measured();
    if (!in_a && (pair.b == nullptr || !says_anything(*pair.b))) continue;
    const Metric& metric = metrics::metric(key.metric);
    Change& change = changes.emplace_back(change_of(pair.a, pair.b, metric, noise));
    if (changes.size() > 1) {  // of many cases: one text for all changes of each
      const Change& before = changes[changes.size() - 2];
      if (before.id == change.id) change.id = before.id;
      if (before.arch == change.arch) change.arch = before.arch;
    }
    change.lines = line_changes(lines_of(a, pair.key_a), lines_of(b, pair.key_b), metric);
  }
  neutralise_what_costs_nothing(changes);
  return changes;
}

void sort_worst_first(std::vector<Change>& changes) {
  using Case = std::pair<metrics::SharedString, metrics::SharedString>;  // id and architecture
  std::map<Case, decltype(rank(changes.front()))> worst;
  for (const Change& change : changes) {
    const auto [known, is_new] = worst.try_emplace({change.id, change.arch}, rank(change));
    if (!is_new) known->second = std::min(known->second, rank(change));
  }
  std::ranges::stable_sort(changes, {}, [&](const Change& change) {
    return std::tuple(worst.at({change.id, change.arch}), std::string_view(change.id),
                      std::string_view(change.arch), rank(change));
  });
}

bool is_graver(const Change& a, const Change& b) { return rank(a) < rank(b); }

KindCounts count_kinds(std::span<const Change> changes) {
  KindCounts counts{};
  for (const Change& change : changes) {
    if (change.is_judged()) ++counts[static_cast<std::size_t>(change.kind)];
  }
  return counts;
}

std::vector<CaseChanges> by_case(std::span<const Change> changes) {
  std::vector<CaseChanges> cases;
  for (std::size_t begin = 0, end = 0; begin < changes.size(); begin = end) {
    const auto same_case = [&](const Change& change) {
      return change.id == changes[begin].id && change.arch == changes[begin].arch;
    };
    while (end < changes.size() && same_case(changes[end])) ++end;
    cases.push_back(changes.subspan(begin, end - begin));
  }
  return cases;
}

std::optional<ChangeKind> only_side(CaseChanges changes) {
  std::set<ChangeKind> kinds;
  for (const Change& change : changes) {
    if (change.kind != ChangeKind::gone) kinds.insert(change.kind);
  }
  if (kinds == std::set{ChangeKind::lost} || kinds == std::set{ChangeKind::added})
    return *kinds.begin();
  return std::nullopt;
}

}  // namespace warpgauge::diff
