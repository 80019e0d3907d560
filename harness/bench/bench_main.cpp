// warpgauge-bench: every case as a Google Benchmark benchmark.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/bench.h"
#include "harness/cases/built_architectures.h"
#include "harness/cases/filter_options.h"
#include "harness/process/help.h"
#include "harness/process/program.h"
#include "harness/runtime.h"

namespace warpgauge::bench {
namespace {

constexpr std::string_view kFooter =
    R"(Options of Google Benchmark (--benchmark_format=json, --benchmark_out=FILE and more) work as
usual.

Exit codes:
  0  within budget
  1  over budget
  2  a fault
  3  there is no GPU

Examples:
  warpgauge-bench --filter 'transpose.*' --large
  warpgauge-bench --filter 'reduce.*' --precision 0.005 --hot
  warpgauge-bench --tables out --facts out/facts.jsonl
)";

/// Passes the remaining options to Google Benchmark. Returns false if it does not know one.
bool initialize_benchmark(char* program, std::vector<std::string> rest) {
  std::vector<char*> arguments = {program};
  for (std::string& argument : rest) arguments.push_back(argument.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

void add_options(CLI::App& app, BenchOptions& options) {
  add_filter_options(app, options.selection);
  app.add_flag("--large", options.selection.large, "Time the large cases, too");
  app.add_flag_callback(
      "--hot", [&options] { options.cache = Cache::hot; },
      "Do not flush the L2 cache before each launch");
  app.add_option("--precision", options.sampling.precision,
                 "Time each case until the 95 % confidence interval of its median is this narrow, "
                 "as a fraction of the median on either side")
      ->check(CLI::Range(0.0001, 1.0))
      ->capture_default_str();
  app.add_option_function<int>(
         "--samples",
         [&options](int samples) { options.sampling.least = options.sampling.most = samples; },
         "Time each case exactly this often instead, at least 6 times: fewer have no interval of "
         "95 % confidence")
      ->check(CLI::Range(6, 1000000));
  app.add_flag_callback(
      "--no-counters", [&options] { options.counters = false; },
      "Do not count bank conflicts, sectors and spills before timing");
  app.add_option("--facts", options.facts, "Append the facts to this file")->type_name("FILE");
  app.add_option("--results", options.results, "Write the outcome (results.json) to this file")
      ->type_name("FILE");
  app.add_option("--tables", options.tables,
                 "Write tables of times, speeds and errors (Markdown) into this folder")
      ->type_name("DIR");
}

int run(int argc, char** argv) {
  BenchOptions options;
  CLI::App app("Time every case, as benchmarks of Google Benchmark");
  process::set_help(app, kFooter, "warpgauge-bench");
  add_options(app, options);
  app.allow_extras();
  if (const auto ended = process::parse(app, argc, argv)) return *ended;
  if (!initialize_benchmark(argv[0], app.remaining())) return outcome::kFault;
  if (is_emulated()) {
    emulate_arch(default_emulated_arch());
    fmt::print(stderr, "these are times of the emulation: they say nothing about a GPU\n");
  }
  return run_bench(options);
}

}  // namespace
}  // namespace warpgauge::bench

WARPGAUGE_MAIN(warpgauge::bench::run)
