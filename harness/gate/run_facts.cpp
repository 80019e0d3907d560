#include "harness/gate/run_facts.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "metrics/budgets/judge.h"

namespace warpgauge::gate {

using metrics::Fact;

RunFacts::RunFacts(std::filesystem::path file, metrics::Run run, const FamilyBudgets& budgets,
                   const Cases& cases)
    : file_(std::move(file)),
      budgets_(budgets),
      today_(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())),
      writer_(file_, std::move(run)),
      reader_(std::make_unique<metrics::FactReader>(file_)) {
  for (const Case* one : cases) {
    for (const Case* other : budgets.ratios_of(*one)) references_.insert(other->id.str());
  }
}

void RunFacts::write(std::vector<Fact> facts) {
  const metrics::References references(facts, [this] { return std::span(so_far()); });
  for (Fact& fact : facts) metrics::judge(fact, budgets_.of(fact.id), today_, references);
  writer_.write(facts);
}

const std::vector<Fact>& RunFacts::so_far() {
  static const std::vector<Fact> kNone;
  const std::vector<metrics::StoredRun>& runs = reader_->update();
  return runs.empty() ? kNone : runs.front().facts;
}

void RunFacts::begin_fork() {
  writer_.reopen();
  reader_of_parent_ =
      std::exchange(reader_, std::make_unique<metrics::FactReader>(file_, [this](const Fact& fact) {
                      return references_.contains(fact.id.str());
                    }));
}

std::vector<metrics::StoredRun> RunFacts::take() {
  reader_->update();
  std::vector<metrics::StoredRun> runs = std::move(*reader_).runs();
  if (runs.empty()) runs.push_back({.run = writer_.run(), .facts = {}, .end = {}, .torn = false});
  return runs;
}

}  // namespace warpgauge::gate
