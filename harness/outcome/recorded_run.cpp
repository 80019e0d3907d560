#include "harness/outcome/recorded_run.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/files/write_file.h"
#include "harness/outcome/results_json.h"

namespace warpgauge::outcome {

RecordedRun::RecordedRun(metrics::Run run, const std::filesystem::path& facts)
    : run_{.run = std::move(run), .facts = {}, .end = {}} {
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
  std::ranges::move(facts, std::back_inserter(run_.facts));
}

std::unique_ptr<Outcome> RecordedRun::end(OutcomeOptions options,
                                          const std::filesystem::path& results, ExitCode least) {
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
  const nlohmann::ordered_json results = results_json(outcome, every_value);
  files::write_file(
      path, results.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
}

}  // namespace warpgauge::outcome
