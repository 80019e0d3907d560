#include "harness/gate/case_job.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "harness/files/error_text.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/case_runner.h"

namespace warpgauge::gate {
namespace {

/// In a process that runs case after case: their vectors get memory that is there already, which
/// otherwise goes back to the system and comes again with a fault for each page.
void keep_freed_memory() {
  constexpr int kMostInOne = 32 << 20, kMostKept = 256 << 20;  // bytes
  mallopt(M_MMAP_THRESHOLD, kMostInOne);
  mallopt(M_TRIM_THRESHOLD, kMostKept);
}

/// For each item those that must be done before: budgets of its cases are multiples of theirs.
std::vector<std::vector<std::size_t>> items_before(const std::vector<Cases>& items,
                                                   const FamilyBudgets& budgets) {
  std::map<const Case*, std::size_t> items_of;
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const Case* one : items[i]) items_of.emplace(one, i);
  }
  std::vector<std::vector<std::size_t>> before(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const Case* one : items[i]) {
      for (const Case* other : budgets.ratios_of(*one)) {
        const auto item = items_of.find(other);
        if (item != items_of.end() && item->second != i) before[i].push_back(item->second);
      }
    }
  }
  return before;
}

}  // namespace

std::vector<Cases> one_by_one(const Cases& cases) {
  std::vector<Cases> items;
  for (const Case* one : cases) items.push_back({one});
  return items;
}

CaseJob::CaseJob(CaseWork work, RunFacts& facts, const FamilyBudgets& budgets, std::size_t early)
    : work_(std::move(work)), facts_(facts), pool_(isolated(budgets), early) {}

void CaseJob::finish(const std::string& title, std::size_t processes) {
  std::size_t left = 0;
  for (std::size_t item = 0; item < work_.items.size(); ++item) left += are_left(item) ? 1 : 0;
  progress_ = std::make_unique<process::Progress>(title, left);
  pool_.work_through(processes);
  pool_.dismiss();
}

Cases CaseJob::chosen(std::size_t item) const {
  return work_.chosen ? work_.chosen(work_.items[item]) : work_.items[item];
}

void CaseJob::fail(std::size_t item, const std::string& reason) {
  const Cases cases = chosen(item);
  const std::string among =
      cases.size() == 1 ? "" : fmt::format(" (in one of {} cases)", cases.size());
  for (const Case* one : cases) facts_.write({error_fact(*one, reason + among, work_.arch)});
}

process::IsolatedWork CaseJob::isolated(const FamilyBudgets& budgets) {
  std::size_t largest = 1;
  for (const Cases& cases : work_.items) largest = std::max(largest, cases.size());
  process::IsolatedWork isolated = {.count = work_.items.size(),
                                    .time_limit = work_.time_limit * largest};
  isolated.after = [before = items_before(work_.items, budgets)](std::size_t item) {
    return before[item];
  };
  isolated.skip = [this](std::size_t item) { return !are_left(item); };
  isolated.begin = [this] {
    keep_freed_memory();
    facts_.begin_fork();
    if (work_.begin) work_.begin();
  };
  isolated.work = [this](std::size_t item, bool is_again) {
    try {
      return work_.measure(chosen(item), is_again);
    } catch (const std::exception& error) {
      if (!is_again && is_gpu_lost()) return process::ItemEnd::again;
      fail(item, files::error_text(error));
      return process::ItemEnd::done_with_last;
    }
  };
  isolated.done = [this](std::size_t item) {
    progress_->done(work_.items[item].front()->id.str());
    facts_.so_far();  // reads them while others are at work
  };
  isolated.died = [this](const process::CrashedItem& crashed) {
    facts_.writer().reopen();
    fail(crashed.item, crashed.reason);
  };
  return isolated;
}

}  // namespace warpgauge::gate
