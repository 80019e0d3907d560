// Which waivers the findings of a run needed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "metrics/budgets/waiver.h"
#include "metrics/facts/fact.h"

namespace warpgauge::metrics {

class WaiverUse {
 public:
  /// A fact of a case with these waivers: what a check has found, or that it ran.
  void add(const std::vector<const Waiver*>& waivers, const Fact& fact);
  /// A sentence for each waiver that named none of what was found, though one of these checks
  /// (names with commas between, or "all") looks for breaches of its rule.
  std::vector<std::string> unused(std::string_view checks) const;

 private:
  using Key = std::tuple<std::string, std::string, std::vector<std::string>>;  ///< origin first
  std::map<Key, bool> used_;
};

}  // namespace warpgauge::metrics
