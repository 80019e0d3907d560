// Finds the counts that a formula names, and evaluates it.
#include "metrics/counting/count_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "metrics/base/nearest.h"

namespace warpgauge::metrics {

CountFormula::CountFormula(const Formula& formula) : formula_(formula) {
  for (const Formula::Name& name : formula.names()) {
    const auto found = std::ranges::find_if(
        kCountMembers, [&](const auto& member) { return member.first == name.text; });
    if (found == std::end(kCountMembers)) {
      std::vector<std::string> known;
      for (const auto& [count, member] : kCountMembers) known.emplace_back(count);
      formula.refuse(name.offset, fmt::format("there is no count '{}'{}", name.text,
                                              did_you_mean(name.text, known)));
    }
    members_.push_back(found->second);
  }
}

double CountFormula::operator()(const Counts& counts) const {
  std::array<double, Formula::kMostNames> values;
  std::ranges::transform(members_, values.begin(), [&](std::uint64_t Counts::*member) {
    return static_cast<double>(counts.*member);
  });
  return formula_(std::span(values).first(members_.size()));
}

}  // namespace warpgauge::metrics
