// Work on cases in processes of their own, which write the facts.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/cases/family_budgets.h"
#include "harness/cases/registry.h"
#include "harness/gate/fact_log.h"
#include "harness/process/progress.h"
#include "harness/process/worker_pool.h"

namespace warpgauge::gate {

/// The work of the processes. An item has one or more cases.
struct CaseWork {
  std::vector<Cases> items;
  /// Is called in a child, before its first item.
  std::function<void()> begin = nullptr;
  /// Is called in a child, as IsolatedWork::work. An exception ends the process, and the item too
  /// unless another process may be the cause.
  std::function<process::ItemEnd(const Cases&, bool is_again)> measure = nullptr;
  std::string arch = {};                ///< the architecture of errors
  std::chrono::seconds time_limit{60};  ///< for each case
};

/// Makes each case an item.
std::vector<Cases> one_by_one(const Cases& cases);

/// Such work, under way. A fault that kills a process, or an exception, becomes an error of the
/// item's cases. An item waits for those with cases that budgets of its own are multiples of.
class CaseJob {
 public:
  /// Starts `early` processes, which get ready: they are copies of this one as it is now. Keeps the
  /// log.
  CaseJob(CaseWork work, FactLog& log, const FamilyBudgets& budgets, std::size_t early = 0);
  CaseJob(const CaseJob&) = delete;
  CaseJob& operator=(const CaseJob&) = delete;

  /// Leaves out all other cases, in the processes that were started before, too.
  void only(const Cases& cases);
  /// Does all of it, with `processes` at most. Throws as WorkerPool::work_through().
  void finish(const std::string& title, std::size_t processes);

 private:
  process::IsolatedWork isolated(const FamilyBudgets& budgets);
  Cases cases_left(std::size_t item) const;
  void fail(const Cases& cases, const std::string& reason);
  /// Measures in a child, and throws FactError alone.
  process::ItemEnd measure(const Cases& cases, bool is_again);

  const CaseWork work_;
  FactLog& log_;
  std::vector<std::string> left_;  ///< a text an item: '1' for each case to be done, '0' for others
  std::unique_ptr<process::Progress> progress_;
  process::WorkerPool pool_;
};

}  // namespace warpgauge::gate
