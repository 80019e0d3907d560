// Sorts the facts of a gate by groups that were written together.
#include "harness/gate/fact_order.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "metrics/architecture/arch_name.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::gate {
namespace {

using metrics::Fact;

bool is_run_time(const Fact& fact) { return metrics::is_run_time(metrics::metric(fact.metric)); }

/// Whether the facts are not of the same case, or not known in the same way.
bool differ(const Fact& a, const Fact& b) {
  return a.id != b.id || a.arch != b.arch || is_run_time(a) != is_run_time(b);
}

}  // namespace

void sort_by_case(std::vector<Fact>& facts, const Cases& cases) {
  std::map<std::string, std::size_t> places;
  for (const Case* listed : cases) places.emplace(listed->id.str(), places.size());
  const auto place = [&](const Fact& fact) {
    return std::tuple(is_run_time(fact), metrics::arch_order(fact.arch), places.at(fact.id.str()),
                      &fact - facts.data());
  };
  // Facts that belong together mostly stand together, and stay in their order.
  std::vector<std::pair<decltype(place(facts.front())), std::span<Fact>>> groups;
  for (std::span<Fact> rest(facts); !rest.empty();) {
    const auto end = std::ranges::adjacent_find(rest, differ);
    const std::size_t count =
        end == rest.end() ? rest.size() : static_cast<std::size_t>(end - rest.begin()) + 1;
    groups.emplace_back(place(rest.front()), rest.first(count));
    rest = rest.subspan(count);
  }
  std::ranges::sort(groups, {}, [](const auto& group) { return group.first; });
  std::vector<Fact> sorted;
  sorted.reserve(facts.size());
  for (const auto& [where, group] : groups) std::ranges::move(group, std::back_inserter(sorted));
  facts = std::move(sorted);
}

}  // namespace warpgauge::gate
