// Writes the judged facts of a gate to the file that its processes share, and reads them back.
#include "harness/gate/fact_log.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "metrics/budgets/judge.h"

namespace warpgauge::gate {

using metrics::Fact;

FactLog::FactLog(std::filesystem::path file, metrics::Run run, const FamilyBudgets& budgets,
                 const Cases& cases)
    : file_(std::move(file)),
      budgets_(budgets),
      today_(metrics::today()),
      writer_(file_, std::move(run)),
      reader_(std::make_unique<metrics::FactReader>(file_)) {
  for (const Case* measured : cases) {
    for (const Case* reference : budgets.ratios_of(*measured)) {
      references_.insert(reference->id.str());
    }
  }
}

void FactLog::write(std::vector<Fact> facts) {
  const metrics::References references(facts, [this] { return std::span(so_far()); });
  for (Fact& fact : facts) metrics::judge(fact, budgets_.of(fact.id), today_, references);
  writer_.write(facts);
}

const std::vector<Fact>& FactLog::so_far() {
  static const std::vector<Fact> kNone;
  const std::vector<metrics::StoredRun>& runs = reader_->update();
  return runs.empty() ? kNone : runs.front().facts;
}

Cases FactLog::by_result(const Cases& cases,
                         const std::function<bool(const std::set<metrics::Verdict>&)>& is_wanted) {
  std::map<std::string, std::set<metrics::Verdict>> results;
  for (const Fact& fact : so_far()) {
    if (fact.metric == "result.correct") results[fact.id.str()].insert(fact.verdict);
  }
  Cases wanted;
  std::ranges::copy_if(cases, std::back_inserter(wanted), [&](const Case* measured) {
    return is_wanted(results[measured->id.str()]);
  });
  return wanted;
}

void FactLog::begin_fork() {
  writer_.reopen();
  const auto is_reference = [this](const Fact& fact) {
    return references_.contains(fact.id.str());
  };
  reader_of_parent_ =
      std::exchange(reader_, std::make_unique<metrics::FactReader>(file_, is_reference));
}

std::vector<metrics::StoredRun> FactLog::take() {
  reader_->update();
  std::vector<metrics::StoredRun> runs = std::move(*reader_).runs();
  if (runs.empty()) runs.push_back({.run = writer_.run(), .facts = {}, .end = {}, .torn = false});
  return runs;
}

}  // namespace warpgauge::gate
