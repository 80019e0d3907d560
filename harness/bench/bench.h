// Benchmarks: the times of cases, and what follows from them.
#pragma once

#include <filesystem>
#include <string>

#include "harness/bench/sampling.h"
#include "harness/bench/stopwatch.h"
#include "harness/cases/selection.h"
#include "harness/outcome/exit_code.h"

namespace warpgauge::bench {

struct BenchOptions {
  Selection selection;
  Cache cache = Cache::cold;
  Sampling sampling;
  bool counters = true;           ///< count what each case does, too, in a pass of its own
  std::filesystem::path facts;    ///< appended to; empty: none
  std::filesystem::path results;  ///< gets results.json; empty: none
  std::filesystem::path tables;  ///< folder that gets times.md, speeds.md, accuracy.md; empty: none
};

/// Times the cases that are selected, and the yardsticks they are held against, as Google Benchmark
/// benchmarks (which must have been initialised); judges what has a budget. Throws for bad budgets
/// and options and where nothing is selected.
outcome::ExitCode run_bench(const BenchOptions& options);

}  // namespace warpgauge::bench
