// Runs each trial as an item of work of a pool, then repeats the failures one by one.
#include "harness/fuzz/fuzz.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "harness/cases/run_seed.h"
#include "harness/fuzz/shrink.h"
#include "harness/measuring/blank_facts.h"
#include "harness/measuring/error_facts.h"
#include "harness/process/isolated_text.h"
#include "harness/process/progress.h"
#include "harness/process/worker_pool.h"
#include "metrics/base/shared_with_forks.h"
#include "metrics/counting/fault_json.h"

namespace warpgauge::fuzz {
namespace {

using metrics::DeviceFault;

/// The fault of an error, as text for another process.
std::string text_of(const metrics::Fact& error) {
  return metrics::text_of(
      metrics::to_json(DeviceFault{.text = error.reason,
                                   .kernel = error.kernel,
                                   .source = {error.file, error.line, error.inlined},
                                   .rule = error.rule,
                                   .other = error.other,
                                   .cure = error.cure}));
}

/// Ends the output of a process of trials: only the smallest failure is to be shown.
void be_silent() {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0) return;
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, output);
  close(nothing);
}

std::unique_ptr<CaseRunner> begun(const Processes& processes) {
  std::unique_ptr<CaseRunner> runner = processes.runner();
  be_silent();
  return runner;
}

/// The errors of a trial, in this process.
std::vector<metrics::Fact> errors_of(CaseRunner& runner, const Case& tried, const Trial& trial,
                                     const Processes& processes) {
  const RunSeed seed(trial.seed);
  return runner.errors_of(tried.at(trial.size), processes.budgets(tried));
}

/// How a trial fails in a process of its own; nothing if it does not.
std::optional<DeviceFault> failure_of(const Case& tried, const Trial& trial,
                                      const Processes& processes) {
  try {
    const std::string text = process::isolated_text(
        [&] {
          const std::unique_ptr<CaseRunner> runner = begun(processes);
          const std::vector<metrics::Fact> errors = errors_of(*runner, tried, trial, processes);
          return errors.empty() ? "" : text_of(errors.front());
        },
        processes.time_limit);
    if (text.empty()) return std::nullopt;
    return metrics::fault_from(nlohmann::json::parse(text));
  } catch (const std::runtime_error& lost) {
    return DeviceFault{lost.what(), "", {}};
  }
}

struct Item {
  const Case* tried;
  std::size_t number;  ///< of the case
  Trial trial;
  std::string died = {};  ///< why its process did; empty if it did not
};

std::vector<Item> items_of(const Cases& cases, const Asked& asked) {
  std::vector<Item> items;
  for (std::size_t number = 0; number < cases.size(); ++number) {
    const Case& tried = *cases[number];
    std::vector<Trial> trials =
        asked.only ? std::vector{*asked.only} : trials_of(tried, asked.trials);
    for (Trial& trial : trials) items.push_back({&tried, number, std::move(trial)});
  }
  return items;
}

/// The items that fail.
std::vector<Item> failing(const std::vector<Item>& items, const Processes& processes) {
  const auto failed = metrics::array_shared_with_forks<bool>(items.size() + 1);
  process::Progress progress(processes.title, items.size());
  std::unique_ptr<CaseRunner> runner;  // is only ever made in a child
  process::IsolatedWork work = {.count = items.size(), .time_limit = processes.time_limit};
  work.group = [&](std::size_t item) { return items[item].number; };
  work.begin = [&] { runner = begun(processes); };
  work.work = [&](const process::WorkOrder& order) {
    const Item& item = items[order.item];
    try {
      const bool is_wrong = !errors_of(*runner, *item.tried, item.trial, processes).empty();
      const process::ItemEnd end = runner->end_of_item(order.is_again);
      if (end != process::ItemEnd::again) failed[order.item] = is_wrong;
      return end;
    } catch (const std::exception&) {
      if (!order.is_again && is_gpu_lost()) return process::ItemEnd::again;
      failed[order.item] = true;
      return process::ItemEnd::done_with_last;
    }
  };
  work.done = [&](std::size_t item) { progress.done(items[item].tried->id.str()); };
  std::map<std::size_t, std::string> died;
  work.died = [&](const process::CrashedItem& crashed) { died[crashed.item] = crashed.reason; };
  process::run_isolated(work, processes.most);
  std::vector<Item> found;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto why = died.find(i);
    if (!failed[i] && why == died.end()) continue;
    found.push_back(items[i]);
    if (why != died.end()) found.back().died = why->second;
  }
  return found;
}

/// Says how an item failed that does not when it runs alone.
std::string not_again(const Item& item) {
  if (item.died.empty())
    return "it failed, and did not when it was repeated: it is not always the same";
  return item.died +
         ", and it did not fail when it was repeated alone: give it more time or "
         "memory (--timeout, --jobs), if that is the cause";
}

/// The item made as small as it goes in the time of one trial, run once more to say how it fails.
Failure repeated(const Item& item, std::size_t trials_that_fail, const Asked& asked,
                 const Processes& processes) {
  process::TerminalLine line;
  Trial trial = item.trial;
  if (!asked.only) {
    // Each run of a kernel that hangs takes all of its time.
    const auto deadline = std::chrono::steady_clock::now() + processes.time_limit;
    trial = smallest(*item.tried, trial, [&](const Trial& smaller) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      line.show(fmt::format("smaller failures of {}: {}", item.tried->id.str(), smaller.str()));
      return failure_of(*item.tried, smaller, processes).has_value();
    });
  }
  std::optional<DeviceFault> how = failure_of(*item.tried, trial, processes);
  if (!how) how = {not_again(item)};
  return {item.tried, trial, *std::move(how), trials_that_fail, asked.only ? 1 : asked.trials};
}

}  // namespace

Cases cases_to_fuzz(const Cases& cases) {
  using Variant = std::pair<std::string, std::string>;
  const auto variant = [](const Case& tried) {
    return Variant(tried.id.family, tried.id.variant_type());
  };
  std::map<Variant, const Case*> largest;
  for (const Case* tried : cases) {
    if (!tried->other_sizes) continue;
    const auto [known, is_new] = largest.try_emplace(variant(*tried), tried);
    if (known->second->size.count() < tried->size.count()) known->second = tried;
  }
  Cases fuzzed;
  std::ranges::copy_if(cases, std::back_inserter(fuzzed), [&](const Case* tried) {
    return !tried->other_sizes || largest.at(variant(*tried)) == tried;
  });
  return fuzzed;
}

std::size_t count_seeds_alone(const Cases& fuzzed) {
  return static_cast<std::size_t>(
      std::ranges::count_if(fuzzed, [](const Case* tried) { return !tried->other_sizes; }));
}

std::vector<Failure> failures_of(const Cases& cases, const Asked& asked,
                                 const Processes& processes) {
  const std::vector<Item> items = items_of(cases, asked);
  if (items.empty()) return {};
  const std::vector<Item> found = failing(items, processes);
  std::vector<Failure> failures;
  for (const Case* tried : cases) {
    const auto size_and_seed = [](const Item* item) {
      return std::pair(item->trial.size.count(), item->trial.seed);
    };
    std::vector<const Item*> own;
    for (const Item& item : found) {
      if (item.tried == tried) own.push_back(&item);
    }
    if (own.empty()) continue;
    failures.push_back(
        repeated(**std::ranges::min_element(own, {}, size_and_seed), own.size(), asked, processes));
  }
  return failures;
}

metrics::Fact fact_of(const Case& tried, const std::string& arch, const Failure* failure) {
  metrics::Fact fact = failure ? error_fact(tried, failure->how, arch) : blank_fact(tried, arch);
  fact.source = "harness";
  fact = with_value(std::move(fact), kFailsAt, failure ? failure->trial.str() : "none");
  if (failure) {
    fact.reason = fmt::format("at {} with seed {}: {}", failure->trial.size.str(),
                              failure->trial.seed, fact.reason);
    if (failure->trials > 1) {
      fact.reason +=
          fmt::format("; {} of {} trials fail", failure->trials_that_fail, failure->trials);
    }
  } else {
    fact.confidence = "exact";
  }
  return fact;
}

}  // namespace warpgauge::fuzz
