// The selection of cases by --filter, --exclude and --large.
#pragma once

#include <string>
#include <vector>

namespace warpgauge {

/// Globs over ids (* and ? as in the shell).
struct Selection {
  std::vector<std::string> filter;   ///< an id matches one of these; empty: every id
  std::vector<std::string> exclude;  ///< and none of these
  bool large = false;                ///< large cases, too

  bool is_filtered_in(const std::string& id) const;
  bool is_excluded(const std::string& id) const;
  bool takes(const std::string& id) const { return is_filtered_in(id) && !is_excluded(id); }
};

}  // namespace warpgauge
