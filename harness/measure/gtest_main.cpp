// The main() of GoogleTest programs that measure kernels (warpgauge/gtest.h).

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/measure/gtest_outcome.h"
#include "harness/process/help.h"
#include "harness/process/program.h"
#include "warpgauge/gtest.h"  // names what is measured

namespace {

constexpr std::string_view kFooter =
    R"(Options of GoogleTest (--gtest_filter=..., --gtest_output=...) work as usual; --gtest_help
shows them.

Exit codes:
  0  all passed
  1  a test failed
  2  a fault: no test matches
  N  with --skip-code N: no test failed, and some were skipped

Examples:
  my-tests --gtest_filter='Filter.*'
  my-tests-emulated --gtest_list_tests
)";

int run(int argc, char** argv) {
  if (!warpgauge::initialize_tests(&argc, argv)) return 0;
  int skip_code = 0;
  CLI::App app("Run tests that measure kernels");
  warpgauge::process::set_help(app, kFooter, "my-tests");
  app.add_option("--skip-code", skip_code,
                 "Exit with this code when no test failed but some were skipped (for CTest)")
      ->type_name("CODE");
  if (const auto ended = warpgauge::process::parse(app, argc, argv)) return *ended;
  if (!testing::GTEST_FLAG(list_tests)) warpgauge::prepare_to_measure();
  return warpgauge::run_all_tests().exit_code(skip_code);
}

}  // namespace

WARPGAUGE_MAIN(run)
