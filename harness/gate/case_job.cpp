// Runs work on cases in child processes, and turns their deaths into errors of the cases.
#include "harness/gate/case_job.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <exception>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "harness/files/error_text.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/error_facts.h"
#include "metrics/facts/fact.h"

namespace warpgauge::gate {
namespace {

/// Lets a process that runs case after case keep freed memory, which otherwise goes back to the
/// system and comes again with a fault for each page.
void keep_freed_memory() {
  constexpr int kMostInOne = 32 << 20, kMostKept = 256 << 20;  // bytes
  mallopt(M_MMAP_THRESHOLD, kMostInOne);
  mallopt(M_TRIM_THRESHOLD, kMostKept);
}

/// Returns for each item those that must be done before: budgets of its cases are multiples of
/// theirs.
std::vector<std::vector<std::size_t>> items_before(const std::vector<Cases>& items,
                                                   const FamilyBudgets& budgets) {
  std::map<const Case*, std::size_t> items_of;
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const Case* member : items[i]) items_of.emplace(member, i);
  }
  std::vector<std::vector<std::size_t>> before(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const Case* member : items[i]) {
      for (const Case* reference : budgets.ratios_of(*member)) {
        const auto item = items_of.find(reference);
        if (item != items_of.end() && item->second != i) before[i].push_back(item->second);
      }
    }
  }
  return before;
}

/// Returns the number of each item's family, whose kernels are in one cubin.
std::vector<std::size_t> families_of(const std::vector<Cases>& items) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> families;
  for (const Cases& item : items) {
    families.push_back(numbers.try_emplace(item.front()->id.family, numbers.size()).first->second);
  }
  return families;
}

/// The cases of an item with a '1' at their place.
Cases marked(const Cases& item, std::string_view marks) {
  Cases cases;
  for (std::size_t i = 0; i < item.size(); ++i) {
    if (marks[i] == '1') cases.push_back(item[i]);
  }
  return cases;
}

}  // namespace

std::vector<Cases> one_by_one(const Cases& cases) {
  std::vector<Cases> items;
  for (const Case* measured : cases) items.push_back({measured});
  return items;
}

CaseJob::CaseJob(CaseWork work, FactLog& log, const FamilyBudgets& budgets, std::size_t early)
    : work_(std::move(work)), log_(log), pool_(isolated(budgets), early) {
  for (const Cases& item : work_.items) left_.emplace_back(item.size(), '1');
}

void CaseJob::only(const Cases& cases) {
  const std::unordered_set<const Case*> wanted(cases.begin(), cases.end());
  for (std::size_t item = 0; item < left_.size(); ++item) {
    for (std::size_t i = 0; i < left_[item].size(); ++i) {
      if (!wanted.contains(work_.items[item][i])) left_[item][i] = '0';
    }
  }
}

void CaseJob::finish(const std::string& title, std::size_t processes) {
  const auto items_left = std::ranges::count_if(
      left_, [](const std::string& marks) { return marks.find('1') != marks.npos; });
  progress_ = std::make_unique<process::Progress>(title, static_cast<std::size_t>(items_left));
  pool_.work_through(processes);
  pool_.dismiss();
}

Cases CaseJob::cases_left(std::size_t item) const { return marked(work_.items[item], left_[item]); }

void CaseJob::fail(const Cases& cases, const std::string& reason) {
  const std::string among =
      cases.size() == 1 ? "" : fmt::format(" (in one of {} cases)", cases.size());
  for (const Case* failed : cases) log_.write({error_fact(*failed, reason + among, work_.arch)});
}

process::ItemEnd CaseJob::measure(const Cases& cases, bool is_again) try {
  return work_.measure(cases, is_again);
} catch (const metrics::FactError&) {
  throw;
} catch (const std::exception& error) {
  if (!is_again && is_gpu_lost()) return process::ItemEnd::again;
  fail(cases, files::error_text(error));
  return process::ItemEnd::done_with_last;
}

process::IsolatedWork CaseJob::isolated(const FamilyBudgets& budgets) {
  std::size_t largest = 1;
  for (const Cases& item : work_.items) largest = std::max(largest, item.size());
  process::IsolatedWork isolated = {.count = work_.items.size(),
                                    .time_limit = work_.time_limit * largest};
  isolated.after = [before = items_before(work_.items, budgets)](std::size_t item) {
    return before[item];
  };
  isolated.group = [families = families_of(work_.items)](std::size_t item) {
    return families[item];
  };
  isolated.skip = [this](std::size_t item) { return cases_left(item).empty(); };
  isolated.note = [this](std::size_t item) { return left_[item]; };
  isolated.begin = [this] {
    keep_freed_memory();
    log_.begin_fork();
    if (work_.begin) work_.begin();
  };
  isolated.work = [this](const process::WorkOrder& order) {
    const Cases cases = marked(work_.items[order.item], order.note);
    try {
      return measure(cases, order.is_again);
    } catch (const metrics::FactError&) {
      // Facts cannot be written. The parent says so when it writes those that are lost.
      return process::ItemEnd::done_with_last;
    }
  };
  isolated.done = [this](std::size_t item) {
    progress_->done(work_.items[item].front()->id.str());
    log_.so_far();  // reads while others are at work
  };
  isolated.died = [this](const process::CrashedItem& crashed) {
    log_.mend();
    fail(cases_left(crashed.item), crashed.reason);
  };
  return isolated;
}

}  // namespace warpgauge::gate
