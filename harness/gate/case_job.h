// Work on cases in processes of their own, which write the facts.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/cases/family_budgets.h"
#include "harness/cases/registry.h"
#include "harness/gate/run_facts.h"
#include "harness/process/progress.h"
#include "harness/process/worker_pool.h"

namespace warpgauge::gate {

/// What the processes do. An item is of one or more cases.
struct CaseWork {
  std::vector<Cases> items;
  std::function<void()> begin = nullptr;  ///< in a child, before its first item
  /// In a child, as IsolatedWork::work. What it throws ends the process, and the item unless
  /// another process may be the cause.
  std::function<process::ItemEnd(const Cases&, bool is_again)> measure = nullptr;
  std::function<Cases(const Cases&)> chosen =
      nullptr;                          ///< those of an item it is about, if not all
  std::string arch = {};                ///< of errors
  std::chrono::seconds time_limit{60};  ///< for each case
};

/// Each case as an item.
std::vector<Cases> one_by_one(const Cases& cases);

/// That work, under way. What kills a process, or is thrown, becomes an error of the item's cases.
/// An item waits for those with cases that budgets of its own are multiples of.
class CaseJob {
 public:
  /// With `early` processes getting ready: they are copies of this one as it is now. Keeps the
  /// facts.
  CaseJob(CaseWork work, RunFacts& facts, const FamilyBudgets& budgets, std::size_t early = 0);
  CaseJob(const CaseJob&) = delete;
  CaseJob& operator=(const CaseJob&) = delete;

  /// Only items of which this holds are to be done.
  void leave(std::function<bool(const Cases&)> are_left) { are_left_ = std::move(are_left); }
  /// All of it, with `processes` at most. Throws as WorkerPool::work_through().
  void finish(const std::string& title, std::size_t processes);

 private:
  Cases chosen(std::size_t item) const;
  bool are_left(std::size_t item) const { return !are_left_ || are_left_(work_.items[item]); }
  void fail(std::size_t item, const std::string& reason);
  process::IsolatedWork isolated(const FamilyBudgets& budgets);

  const CaseWork work_;
  RunFacts& facts_;
  std::function<bool(const Cases&)> are_left_;
  std::unique_ptr<process::Progress> progress_;
  process::WorkerPool pool_;
};

}  // namespace warpgauge::gate
