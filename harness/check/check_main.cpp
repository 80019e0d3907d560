// warpgauge-check: every case as a GoogleTest test (registered_tests.h).

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "harness/cases/built_architectures.h"
#include "harness/check/registered_tests.h"
#include "harness/fuzz/fuzz_options.h"
#include "harness/measure/gtest_outcome.h"
#include "harness/process/help.h"
#include "harness/process/program.h"
#include "harness/process/timeout_option.h"
#include "harness/runtime.h"

namespace warpgauge::check {
namespace {

constexpr std::string_view kFooter =
    R"(A test runs a case and judges its values; a test whose name begins with an architecture
judges the compile-time values for it, and needs no GPU; with --fuzz, a test whose name begins with
fuzz runs a case at other sizes and with other values. Options of GoogleTest
(--gtest_filter=..., --gtest_output=...) work as usual; --gtest_help shows them.

Exit codes:
  0  within budget
  1  over budget
  2  a fault: no case matches, or one takes too long
  N  with --skip-code N: no test failed, and some were skipped

Examples:
  warpgauge-check --gtest_filter='transpose.*'
  warpgauge-check --gtest_filter='sm_90/*' --facts facts.jsonl
  warpgauge-check --gtest_filter='fuzz/*' --fuzz 10
)";

int run(int argc, char** argv) {
  if (!initialize_tests(&argc, argv)) return 0;
  Options options;
  int skip_code = 0;
  CLI::App app("Run every case as a test of GoogleTest");
  process::set_help(app, kFooter, "warpgauge-check");
  app.add_option("--facts", options.facts, "Append the facts to this file")->type_name("FILE");
  app.add_option("--results", options.results, "Write the outcome (results.json) to this file")
      ->type_name("FILE");
  app.add_flag_callback(
      "--no-cupti", [&options] { options.use_cupti = false; },
      "Leave CUPTI out, so that another profiler can attach");
  app.add_flag("--require-cupti", options.require_cupti,
               "Fail instead of skip where run-time facts cannot be measured");
  app.add_flag("--large", options.large, "Run the large cases, too; they are made for GPUs");
  fuzz::add_fuzz_options(app, options.fuzz);
  process::add_timeout_option(app, options.time_limit,
                              "Time limit for each case; one that takes longer ends the program");
  if (is_emulated()) {
    app.add_option("--arch", options.arch,
                   "The architecture that kernels run as (default: sm_90, sm_90a or the newest)")
        ->type_name("ARCH");
  }
  app.add_option("--skip-code", skip_code,
                 "Exit with this code when no test failed but some were skipped (for CTest)")
      ->type_name("CODE");
  if (const auto ended = process::parse(app, argc, argv)) return *ended;
  if (!options.arch.empty()) chosen_archs({options.arch});  // throws for one that is not built
  Tests tests(options, argv[0]);
  // An id that begins with DISABLED_ is a name like any other: the gate runs its case, too.
  GTEST_FLAG_SET(also_run_disabled_tests, true);
  const TestsEnd ended = run_all_tests();
  tests.end(ended.code);
  return ended.exit_code(skip_code);
}

}  // namespace
}  // namespace warpgauge::check

WARPGAUGE_MAIN(warpgauge::check::run)
