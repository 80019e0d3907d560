#include "harness/gate/carried_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "harness/cases/case_inputs.h"
#include "harness/measuring/blank_facts.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::gate {
namespace {

using metrics::Fact;
using metrics::Inputs;
using Archs = std::vector<std::string>;

/// "its code and the budgets": which inputs differ.
std::string changes(const Inputs& then, const Inputs& now) {
  std::vector<std::string_view> names;
  for (const auto& [word, hash] : now) {
    const auto other = then.find(word);
    if (other == then.end() || other->second != hash) names.push_back(name_of_input(word));
  }
  return fmt::format("{} changed", fmt::join(names, " and "));
}

bool has(std::span<const Fact> facts, std::string_view metric, const std::string& arch) {
  return std::ranges::any_of(facts, [&](const Fact& fact) {
    return fact.scope == metrics::Scope::whole_case && fact.metric == metric && fact.arch == arch;
  });
}

/// Why these facts of a case do not stand for a run of it; empty if they do.
std::string why_not_whole(std::span<const Fact> facts, const Archs& static_archs,
                          const Archs& run_archs) {
  for (const Fact& fact : facts) {
    if (fact.verdict == metrics::Verdict::error) return "it ended in an error";
  }
  for (const std::string& arch : static_archs) {
    if (!has(facts, "registers", arch)) return "it has no compile-time facts for " + arch;
  }
  for (const std::string& arch : run_archs) {
    if (!has(facts, "result.correct", arch)) return "it did not run on " + arch;
  }
  return "";
}

/// Those that a gate of these architectures would have.
std::vector<Fact> wanted(std::vector<Fact> facts, const Archs& static_archs,
                         const Archs& run_archs) {
  std::erase_if(facts, [&](const Fact& fact) {
    const metrics::Metric& metric = metrics::metric(fact.metric);
    const Archs& archs = metrics::is_run_time(metric) ? run_archs : static_archs;
    return metrics::is_timed(metric) || std::ranges::find(archs, fact.arch) == archs.end();
  });
  return facts;
}

/// Gives up the facts of one of them if the other is measured. True if it did.
bool keep_together(const Case& one, const Case& other, CarriedFacts& carried) {
  const std::string id = one.id.str(), of = other.id.str();
  if (carried.facts.contains(id) == carried.facts.contains(of)) return false;
  if (carried.facts.erase(id) > 0) {
    carried.affected[id] = fmt::format("its budget is a multiple of {}, which is measured", of);
  } else {
    carried.facts.erase(of);
    carried.affected[of] =
        fmt::format("the budget of {}, which is measured, is a multiple of it", id);
  }
  return true;
}

}  // namespace

CarriedFacts read_carried(metrics::FactReader& earlier, const Carrying& carrying) {
  CarriedFacts carried;
  std::map<std::string, const Case*> cases;
  for (const Case* one : carrying.cases) {
    if (carrying.static_archs(*one).empty() && carrying.run_archs(*one).empty()) continue;
    std::string why = carrying.why_measured(*one);
    if (why.empty()) {
      cases.emplace(one->id.str(), one);
      why = "it was not measured";
    }
    carried.affected[one->id.str()] = std::move(why);
  }

  std::vector<metrics::StoredRun> runs = earlier.read([&](const Fact& fact) {
    const auto one = cases.find(fact.id.str());
    if (one == cases.end() || fact.context->kind != metrics::CaseKind::catalogue) return false;
    const Inputs& inputs = carrying.inputs_of(*one->second);
    if (fact.context->inputs == inputs) return true;
    carried.affected[one->first] = fact.context->inputs.empty()
                                       ? "the facts of it do not say what they depend on"
                                       : changes(fact.context->inputs, inputs);
    return false;
  });
  std::map<std::string, const metrics::Run*> of;
  for (metrics::StoredRun& run : runs) {
    std::map<std::string, std::vector<Fact>> by_case;
    std::vector<Fact>* of_case = nullptr;  // mostly that of the fact before
    for (Fact& fact : run.facts) {
      if (of_case == nullptr || of_case->front().id != fact.id) of_case = &by_case[fact.id.str()];
      of_case->push_back(std::move(fact));
    }
    for (auto& [id, facts] : by_case) {
      const Case& one = *cases.at(id);
      const Archs static_archs = carrying.static_archs(one), run_archs = carrying.run_archs(one);
      const std::string why = why_not_whole(facts, static_archs, run_archs);
      if (!why.empty()) {
        if (!carried.facts.contains(id)) carried.affected[id] = why;
        continue;
      }
      carried.facts[id] = wanted(std::move(facts), static_archs, run_archs);
      change_contexts(carried.facts[id], [&](metrics::CaseContext& context, const auto&) {
        if (context.carried.empty()) context.carried = run.run.id;
      });
      of[id] = &run.run;
    }
  }

  // Those whose budgets are multiples of one another are judged together.
  for (bool changed = true; std::exchange(changed, false);) {
    for (const Case* one : carrying.cases) {
      for (const Case* other : carrying.ratios_of(*one)) {
        changed = keep_together(*one, *other, carried) || changed;
      }
    }
  }
  for (const auto& [id, facts] : carried.facts) {
    carried.affected.erase(id);
    carried.runs.emplace(of.at(id)->id, *of.at(id));
  }
  return carried;
}

}  // namespace warpgauge::gate
