// The entries of tables of TOML as the file has them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "metrics/base/toml.h"

namespace warpgauge::metrics {

using Entry = std::pair<const toml::key*, const toml::node*>;

/// The entries of `table` in the order of the file (toml++ sorts them by name), so that the
/// first error reported is the first one in the file.
inline std::vector<Entry> in_file_order(const toml::table& table) {
  std::vector<Entry> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return a.first->source().begin < b.first->source().begin;
  });
  return entries;
}

}  // namespace warpgauge::metrics
