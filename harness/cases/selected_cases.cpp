// Selects cases together with the cases that their limits are multiples of.
#include "harness/cases/selected_cases.h"

#include <unordered_set>

namespace warpgauge {

Cases selected_cases(const Registry& registry, const FamilyBudgets& budgets,
                     const Selection& selection) {
  Cases cases;
  std::unordered_set<const Case*> known;
  const auto add = [&](const Case* added) {
    if (known.insert(added).second) cases.push_back(added);
  };
  for (const Case* selected : registry.select(selection)) {
    for (const Case* reference : budgets.ratios_of(*selected)) {
      if (!selection.is_excluded(reference->id.str())) add(reference);
    }
    add(selected);
  }
  return cases;
}

}  // namespace warpgauge
