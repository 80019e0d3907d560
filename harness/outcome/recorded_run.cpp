// Writes the facts of a run as they come, and works out the outcome at its end.
#include "harness/outcome/recorded_run.h"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "harness/files/write_file.h"
#include "harness/outcome/results_json.h"

namespace warpgauge::outcome {

RecordedRun::RecordedRun(metrics::Run run, const std::filesystem::path& facts, Kept kept)
    : run_{.run = std::move(run), .facts = {}, .end = {}}, kept_(kept) {
  if (!facts.empty()) writer_ = std::make_unique<metrics::FactWriter>(facts, run_.run);
}

void RecordedRun::add_device(const metrics::Device& device) {
  std::vector<metrics::Device>& known = run_.run.devices;
  if (std::ranges::find(known, device.name, &metrics::Device::name) == known.end()) {
    known.push_back(device);
  }
  if (writer_) writer_->add_device(device);
}

void RecordedRun::add(std::vector<metrics::Fact> facts) {
  if (writer_) writer_->write(facts);
  if (kept_ == Kept::judged) forget_unbudgeted(facts);
  std::ranges::move(facts, std::back_inserter(run_.facts));
}

void RecordedRun::forget_unbudgeted(std::vector<metrics::Fact>& facts) {
  std::set<std::tuple<metrics::CaseId, std::string, std::string>> judged;
  for (const metrics::Fact& fact : facts) {
    if (fact.scope != metrics::Scope::whole_case) continue;
    if (fact.verdict == metrics::Verdict::unbudgeted) {
      ++unbudgeted_[fact.id.family];
    } else {
      judged.insert({fact.id, fact.arch, fact.metric});
    }
  }
  std::erase_if(facts, [&](const metrics::Fact& fact) {
    return !judged.contains({fact.id, fact.arch, fact.metric});
  });
}

std::unique_ptr<Outcome> RecordedRun::end(OutcomeOptions options,
                                          const std::filesystem::path& results, ExitCode least) {
  options.unbudgeted = std::move(unbudgeted_);
  run_.end = metrics::RunEnd{.counts = {}, .exit_code = least, .left_out = {}};
  std::vector<metrics::StoredRun> runs;
  runs.push_back(std::move(run_));
  auto outcome = std::make_unique<Outcome>(std::move(runs), std::move(options));
  if (writer_) writer_->write_end(end_of(*outcome));
  if (!results.empty()) write_results(*outcome, results);
  return outcome;
}

metrics::RunEnd end_of(const Outcome& outcome) {
  std::vector<std::string> left_out = outcome.options().left_out;
  std::ranges::copy(outcome.lost(), std::back_inserter(left_out));
  return {.counts = outcome.total().verdicts,
          .exit_code = outcome.exit_code(),
          .left_out = std::move(left_out)};
}

void write_results(const Outcome& outcome, const std::filesystem::path& path, bool every_value) {
  files::write_file(path,
                    [&](std::ostream& out) { write_results_json(out, outcome, every_value); });
}

}  // namespace warpgauge::outcome
