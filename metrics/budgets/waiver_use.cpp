// Remembers waivers with whether a finding needed them.
#include "metrics/budgets/waiver_use.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "metrics/base/check_rules.h"

namespace warpgauge::metrics {

void WaiverUse::add(const std::vector<const Waiver*>& waivers, const Fact& fact) {
  for (const Waiver* waiver : waivers) {
    bool& is_used = used_[{waiver->origin, waiver->rule, waiver->lines}];
    is_used = is_used || (!fact.rule.empty() && waiver->names(fact));
  }
}

std::vector<std::string> WaiverUse::unused(std::string_view checks) const {
  std::vector<std::string> sentences;
  for (const auto& [waiver, is_used] : used_) {
    const auto& [origin, rule, lines] = waiver;
    if (is_used || !is_looked_for(*find_check_rule(rule), checks)) continue;
    sentences.push_back(fmt::format(
        "{}: no finding needed the waiver of '{}'{}: remove it, if the "
        "code is mended",
        origin, rule, lines.empty() ? "" : fmt::format(" at {}", fmt::join(lines, ", "))));
  }
  return sentences;
}

}  // namespace warpgauge::metrics
