// The options of a gate.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/cases/selection.h"
#include "harness/fuzz/fuzz.h"
#include "harness/measuring/missing_facts.h"
#include "harness/outcome/requirements.h"
#include "harness/runtime.h"

namespace warpgauge::gate {

struct GateOptions {
  Selection selection;
  std::string device = "auto";  ///< where kernels were to run: auto, gpu or emulated
  /// Architectures of the build. Compile-time facts are of these (empty: of all), and the emulator
  /// runs kernels as each of these (empty: as default_emulated_arch()).
  std::vector<std::string> archs;
  std::filesystem::path project;        ///< its budgets; empty: the file that the build names
  std::filesystem::path out = "out";    ///< gets facts.jsonl, results.json and summary.md
  std::filesystem::path coverage;       ///< gets the coverage of device code; empty: none
  std::string checks = kUsualChecks;    ///< the emulator's: see check_accesses()
  OtherOrders orders;                   ///< the same
  fuzz::Asked fuzz;                     ///< runs at other sizes and with other seeds
  std::chrono::seconds time_limit{60};  ///< for each case
  std::size_t jobs = 0;  ///< processes at once; 0: as many as this machine is good for
  bool table = false;    ///< print the key metrics of every case
  bool use_cupti = true;
  bool bounded = true;  ///< measure times and hardware counters, too
  Counters counters;    ///< hardware counters to measure of every case, judged or not
  outcome::Requirements requirements;
};

}  // namespace warpgauge::gate
