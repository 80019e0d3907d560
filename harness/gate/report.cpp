// Works out the outcome of a gate, and prints and writes it.
#include "harness/gate/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/files/colour.h"
#include "harness/files/shell_word.h"
#include "harness/gate/fact_order.h"
#include "harness/gate/lost_facts.h"
#include "harness/outcome/case_table.h"
#include "harness/outcome/finding_text.h"
#include "harness/outcome/outcome.h"
#include "harness/outcome/outcome_text.h"
#include "harness/outcome/recorded_run.h"
#include "harness/outcome/repeat_command.h"
#include "harness/runtime.h"
#include "metrics/budgets/waiver_use.h"

namespace warpgauge::gate {
namespace {

/// The command that gives a verdict again. A check finds an error again only where it is asked for.
std::string repeat_with_checks(const GateOptions& options, const outcome::JudgedValue& value) {
  std::string command = outcome::repeat_command(value);
  if (value.fact->verdict != metrics::Verdict::error) return command;
  if (options.checks != kUsualChecks) command += " --check " + options.checks;
  const OtherOrders& orders = options.orders;
  if (orders.schedules != 0) command += fmt::format(" --schedules {}", orders.schedules);
  if (!orders.replay.empty()) command += " --replay " + files::shell_word(orders.replay.string());
  return command;
}

/// Prints the values of the counters that --counters asks for. Most of them have no budget.
void print_counters(const Counters& counters, const outcome::Outcome& outcome) {
  for (const metrics::Metric* counter : counters) {
    fmt::print("{}\n", counter->id);
    for (const outcome::JudgedValue& value : outcome.values()) {
      if (value.fact->metric != counter->id) continue;
      const std::string text = outcome::value_text(*value.fact);
      fmt::print("  {:<48} {}\n", value.fact->id.str(), text.empty() ? "unmeasured" : text);
    }
  }
}

/// Waivers that no finding of the whole gate needed.
std::vector<std::string> unused_waivers(const Plan& plan,
                                        const std::vector<metrics::StoredRun>& runs) {
  const Selection& selection = plan.options.selection;
  if (!is_emulated() || !selection.filter.empty() || !selection.exclude.empty()) return {};
  metrics::WaiverUse use;
  for (const metrics::StoredRun& run : runs) {
    for (const metrics::Fact& fact : run.facts) {
      if (fact.metric != "result.correct") continue;
      use.add(plan.budgets.of(fact.id).waivers(fact.id, fact.arch), fact);
    }
  }
  return use.unused(plan.options.checks);
}

}  // namespace

outcome::ExitCode report(const Plan& plan, FactLog& log, const outcome::OutFolder& out,
                         const std::optional<CoverageFile>& coverage) {
  log.write(lost_facts(plan, log.so_far()));
  std::vector<metrics::StoredRun> runs = log.take();
  for (metrics::StoredRun& run : runs) sort_by_case(run.facts, plan.cases);
  outcome::OutcomeOptions how{.requirements = plan.options.requirements,
                              .left_out = plan.left_out,
                              .remarks = unused_waivers(plan, runs),
                              .whole = false};
  how.repeat = [&](const outcome::JudgedValue& value) {
    return repeat_with_checks(plan.options, value);
  };
  const outcome::Outcome outcome(std::move(runs), how);
  log.write_end(outcome::end_of(outcome));
  outcome::write_results(outcome, out.results());
  out.write_summary(outcome::markdown_text(outcome));
  if (plan.options.table) fmt::print("{}", outcome::case_table(outcome));
  print_counters(plan.options.counters, outcome);
  const std::string covered = coverage ? coverage->write() : "";
  // Last, so that nothing that fails comes behind PASS.
  fmt::print("{}{}{}", outcome::terminal_text(outcome, files::may_be_coloured(STDOUT_FILENO)),
             out.files_text(), covered);
  return outcome.exit_code();
}

}  // namespace warpgauge::gate
